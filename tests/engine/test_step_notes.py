"""What a decode step was really fed, and the threshold that its stop logit was compared with."""
# ruff: noqa: ANN401 -- what the model is called with is passed through

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from kvstudio.engine.faults.moment import Moment
from kvstudio.engine.session import Session
from kvstudio.engine.wrapping import wrapped
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.engine.editing import At, nothing, run_edited
from tests.engine.running import session_with

SPEC = RunSpec(text="Yes.", temperature=0.7, eos_threshold=-1e9, frames_after_eos=1)
CHANGED = 4  # decode step


@pytest.fixture(scope="module")
def session() -> Session:
    return session_with(ModelSource(), "low")


@pytest.fixture(scope="module")
def tts(session: Session) -> Any:
    return session.tts


def fed(recording: Recording) -> list[str]:
    """By decode step."""
    return list(recording.evidence.fed().values())


def feeding(tts: Any, change: Callable[[torch.Tensor], torch.Tensor], at: int) -> Any:
    """While entered, the input of one FlowLM pass is changed; pass 0 is the text."""
    passes = iter(range(1000))

    def sample(
        original: Callable[..., Any], sequence: torch.Tensor, *args: Any, **kwargs: Any
    ) -> Any:
        given = change(sequence) if next(passes) == at + 1 else sequence
        return original(given, *args, **kwargs)

    return wrapped(tts.flow_lm, "_sample_next_latent", sample)


@pytest.mark.parametrize(
    "spec",
    [SPEC, RunSpec(text="The cat sat down. The dog ran off.", max_tokens=20, temperature=0.7)],
    ids=["one chunk", "two chunks"],
)
def test_the_marker_and_then_latents(session: Session, tmp_path: Path, spec: RunSpec) -> None:
    with run_edited(session, spec, tmp_path / "run.kvrec") as recording:
        steps = [frame.step for frame in recording.frames if frame.phase == "decode"]
        assert fed(recording) == ["latent" if step else "marker" for step in steps]


@pytest.mark.parametrize(
    ("change", "at", "what"),
    [
        (torch.zeros_like, 0, "zero"),
        (lambda latent: torch.full_like(latent, 0.1), 0, "other"),
        (lambda latent: latent + 1e-6, CHANGED, "other"),
        (torch.zeros_like, CHANGED, "zero"),
        (lambda latent: latent * float("nan"), CHANGED, "marker"),
    ],
    ids=["no marker", "another marker", "a changed latent", "no latent", "a poisoned latent"],
)
def test_what_else_may_be_fed(
    session: Session,
    tts: Any,
    tmp_path: Path,
    change: Callable[[torch.Tensor], torch.Tensor],
    at: int,
    what: str,
) -> None:
    with feeding(tts, change, at), run_edited(session, SPEC, tmp_path / "run.kvrec") as recording:
        expected = ["marker", *["latent"] * (len(fed(recording)) - 1)]
        expected[at] = what
        assert fed(recording) == expected


def test_nan_that_the_model_lets_through(session: Session, tts: Any, tmp_path: Path) -> None:
    hooks: list[Any] = []

    def nan(module: object, inputs: tuple[torch.Tensor]) -> torch.Tensor:
        hooks.pop().remove()
        return inputs[0] * float("nan")

    def poison(moment: Moment) -> None:
        linear = tts.flow_lm.input_linear
        hooks.append(linear.register_forward_pre_hook(nan, prepend=True))

    with run_edited(session, SPEC, tmp_path / "run.kvrec", At(CHANGED + 2, poison)) as recording:
        assert fed(recording)[CHANGED] == "nan"


def test_the_threshold_of_the_comparison(session: Session, tts: Any, tmp_path: Path) -> None:
    """Somebody lowers it on its way; the model itself still has the old one."""

    def lower(original: Callable[..., Any], *args: Any, eos_threshold: float, **kwargs: Any) -> Any:
        return original(*args, eos_threshold=eos_threshold - 2.0, **kwargs)

    edits = At(0, nothing)
    with (
        wrapped(tts.flow_lm, "forward", lower),
        run_edited(session, SPEC, tmp_path / "run.kvrec", edits) as recording,
    ):
        found = {f.stop_threshold for f in recording.frames if f.phase == "decode"}
        assert found == {SPEC.eos_threshold - 2.0}  # type: ignore[operator]


def test_without_trace(session: Session, tmp_path: Path) -> None:
    spec = RunSpec(text="Yes.", eos_threshold=-1e9, frames_after_eos=1, trace="off")
    with run_edited(session, spec, tmp_path / "run.kvrec") as recording:
        assert fed(recording) == []
        assert {f.stop_threshold for f in recording.frames if f.phase == "decode"} == {-1e9}
