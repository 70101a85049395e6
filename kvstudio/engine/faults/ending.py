"""The run ends too early, too late, or not at all."""

from typing import Any

import torch

from kvstudio.engine.faults.live import Live
from kvstudio.engine.faults.registry import patch

NEVER = 1e9
GUARD = 6  # frames at the beginning in which EOS does not count


@patch("never-ends")
def never_ends(live: Live) -> None:
    live.setting(live.tts, "eos_threshold", NEVER)
    live.note(after=())


@patch("ends-early")
def ends_early(live: Live) -> None:
    threshold = live.arguments["threshold"]
    assert isinstance(threshold, (int, float))
    live.setting(live.tts, "eos_threshold", float(threshold))
    live.note(after=tuple(range(GUARD + 1)))


@patch("forced-eos")
def forced_eos(live: Live) -> None:
    def sample(original: Any, *args: Any, **kwargs: Any) -> Any:
        latent, eos = original(*args, **kwargs)
        live.note(after=tuple(range(GUARD + 1)))
        return latent, torch.ones_like(eos)

    live.patch(live.tts.flow_lm, "_sample_next_latent", sample)


@patch("short-budget")
def short_budget(live: Live) -> None:
    rate = live.arguments["rate"]
    assert isinstance(rate, (int, float))
    live.setting(live.tts, "_TOKENS_PER_SECOND_ESTIMATE", float(rate))
    live.setting(live.tts, "_GEN_SECONDS_PADDING", 0.0)
    live.note(after=())
