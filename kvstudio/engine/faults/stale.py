"""What an earlier use of a state left is still there."""

import copy
from typing import Any

import torch

from kvstudio.engine import pocket
from kvstudio.engine.faults.live import Live
from kvstudio.engine.faults.reads import read_past_end
from kvstudio.engine.faults.registry import patch, spoiler
from kvstudio.engine.faults.speaking import speak

TOKENS = 12  # of the run before


@spoiler("voice-zeroed")
def voice_zeroed(live: Live) -> None:
    for _, entry in live.entries():
        entry["cache"].zero_()
    live.note(live.layers(), (0, live.offset()), after=(0, 1))


@spoiler("voice-reused")
def voice_reused(live: Live) -> None:
    begin = live.offset()
    speak(live.tts, live.state, TOKENS, live.number("steps"), live.seed())
    live.note(live.layers(), (begin, live.offset()), after=(0, 1))


@spoiler("stale-tail")
def stale_tail(live: Live) -> None:
    earlier = copy.deepcopy(live.state)
    tokens = pocket.default_max_tokens(live.tts)
    speak(live.tts, earlier, tokens, live.number("steps"), live.seed())
    names = [name for name, _ in live.attentions()]
    for layer, entry in live.entries():
        entry["cache"] = earlier[names[layer]]["cache"]


@patch("stale-tail")
def tail_read(live: Live) -> None:
    def read(original: Any, layer: int, cache: Any, offset: Any, k: Any, v: Any) -> Any:
        result = original(cache, offset, k, v)
        if live.clock.phase == "voice":
            return result
        return read_past_end(live, cache, int(offset) + k.shape[1], live.number("count"))

    def build(original: Any, layer: int, pos_q: Any, pos_k: Any, context: Any) -> Any:
        mask = original(pos_q, pos_k, context)
        return mask if live.clock.phase == "voice" else torch.ones_like(mask)

    live.around_mask(list(enumerate(module for _, module in live.attentions())), build)
    live.around_append(read)
