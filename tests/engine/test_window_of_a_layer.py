"""A layer that looks back less far than its transformer was built for."""

from pathlib import Path

from kvstudio.analysis.checker import check
from kvstudio.engine import pocket
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.engine.running import observed, session_with

WINDOW = 20


def test_a_sliding_window_in_one_layer_is_no_window_of_the_model(tmp_path: Path) -> None:
    session = session_with(ModelSource(), "low")
    assert session.tts is not None
    layers = pocket.attention_modules(session.tts.flow_lm)
    layers["transformer.layers.2.self_attn"].context = WINDOW
    observed(session, RunSpec(text="Hello."), tmp_path / "run.kvrec")
    with Recording.open(tmp_path / "run.kvrec") as recording:
        (finding,) = check(recording).findings
    assert (finding.kind, finding.frame, finding.layer) == ("window-mismatch", 1, 2)
