"""NaN that was computed: in the cache, on its way, and in the audio."""

from pathlib import Path

import numpy as np
import pytest

from kvstudio.analysis.checks.numbers import (
    AudioNanCheck,
    LatentNanCheck,
    NanCheck,
    UnfinishedNanCheck,
)
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import RunSpec
from tests.analysis.checks.running import findings_of, texts
from tests.fakes import FILE, FRAME_SAMPLES, FakeRun
from tests.recording.reading import tamper


def poisoned(path: Path, *, layers: int = 3, trace: str = "full", frames: int = 3) -> FakeRun:
    """Two healthy frames, then NaN in the cache of every layer but the first, and in the audio."""
    run = FakeRun(path, layers=layers, spec=RunSpec(trace=trace))  # type: ignore[arg-type]
    nan = 0
    healthy = run._flow_states
    run._flow_states = lambda: [  # type: ignore[method-assign]
        type(s)(s.cache, s.offset, s.capacity, s.nan_slots + (nan if s.cache else 0))
        for s in healthy()
    ]
    run.begin_chunk()
    run.prefill()
    run.decode()
    run.decode()
    for _ in range(frames):
        nan += 1
        run.decode(nan=True)
    run.writer.finish("finished")
    return run


def test_nan_in_written_slots(tmp_path: Path) -> None:
    run = poisoned(tmp_path / "run.kvrec")
    tamper(
        run.path,
        "UPDATE op SET nan_in = 0 WHERE id = (SELECT min(id) + 5 FROM op WHERE frame = 4)",
        "UPDATE latent SET \"values\" = x'0000c07f0000c07f' WHERE frame >= 5",
        "UPDATE frame SET stop_logit = 'nan' WHERE id >= 5",
    )
    (found,) = findings_of(NanCheck, run.path)
    assert (found.kind, found.frame, found.layer, found.kv) == ("nan-produced", 4, 1, None)
    assert (found.slots, found.count) == ((13, 14), 6)
    assert (found.op, found.site) == ("aten.matmul.default", f"{FILE}:15")
    assert found.message.startswith(
        "Layers 1 and 2: NaN was computed and written to K and V, first in frame 4 (decode step 2)"
        ", slot 13. "
    )
    assert found.message.endswith(
        "aten.matmul.default is the first op of that frame that takes no NaN and gives one."
    )
    assert texts(found) == [
        f"aten.matmul.default at {FILE}:15 in forward takes no NaN and gives one",
        "frame 4 (decode step 2): NaN in slot 13, layers 1 and 2",
    ]
    assert found.chain[0].op == 46
    assert (found.chain[1].frame, found.chain[1].cache, found.chain[1].slot) == (4, 1, 13)


@pytest.mark.parametrize(("half", "kv"), [(0, "K"), (1, "V")])
def test_which_of_k_and_v_is_said(tmp_path: Path, half: int, kv: str) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.base[0][half, 0, 3, 0, 0] = np.nan
    run.run(3)
    tamper(run.path, "UPDATE cache_state SET nan_slots = nan_slots + 1 WHERE cache = 0")
    (found,) = findings_of(NanCheck, run.path)
    assert (found.kv, found.frame, found.slots, found.count) == (kv, 1, (3, 4), 1)


def test_a_hole_of_the_voice_is_not_computed(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.base[0][:, :, 3] = np.nan
    run.run(3)
    tamper(run.path, "UPDATE cache_state SET nan_slots = nan_slots + 1 WHERE cache = 0")
    assert findings_of(NanCheck, run.path) == []


def test_without_an_op_that_gives_nan_none_is_named(tmp_path: Path) -> None:
    run = poisoned(tmp_path / "run.kvrec")
    tamper(run.path, "UPDATE op SET part = 1")  # an expansion makes NaN on purpose
    tamper(run.path, "UPDATE op SET nan_in = 0")
    (found,) = findings_of(NanCheck, run.path)
    assert (found.op, found.site) == (None, None)


def test_values_that_were_not_recorded_prove_nothing(tmp_path: Path) -> None:
    run = poisoned(tmp_path / "run.kvrec", trace="off")
    assert findings_of(NanCheck, run.path) == []


def test_a_healthy_run_has_none(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.run(5)
    assert findings_of(NanCheck, run.path) == []
    assert findings_of(AudioNanCheck, run.path) == []


def test_nan_in_the_audio(tmp_path: Path) -> None:
    run = poisoned(tmp_path / "run.kvrec", frames=2)
    (found,) = findings_of(AudioNanCheck, run.path)
    assert (found.kind, found.frame, found.phase, found.layer) == ("audio-nan", 4, "decode", None)
    assert found.count == 2 * FRAME_SAMPLES
    assert "3,840 samples of the audio are NaN, from second 0.16" in found.message


def test_a_latent_that_is_nan_though_the_cache_is_not(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.run(5)
    tamper(
        run.path,
        "UPDATE latent SET \"values\" = x'0000c07f0000c07f' WHERE frame IN (3, 4)",
        "UPDATE op SET nan_out = 1 WHERE id = (SELECT min(id) + 3 FROM op WHERE frame = 3)",
        "UPDATE op SET part = 2",
    )
    (found,) = findings_of(LatentNanCheck, run.path)
    assert (found.kind, found.frame, found.layer, found.count) == ("nan-produced", 3, None, 2)
    assert found.message.startswith("The latent of frame 3 (decode step 1) is NaN. ")
    assert found.op == "aten.matmul.default"
    assert [link.op for link in found.chain] == [found_op(run.path, 3) + 3, None]


def found_op(path: Path, frame: int) -> int:
    """The first op of a frame."""
    with Recording.open(path) as recording:
        return int(recording.ops.of_frame(frame)[0])


PRODUCED = "UPDATE op SET nan_out = 1 WHERE id = (SELECT min(id) + 3 FROM op WHERE frame = 5)"


def test_nan_that_made_the_model_raise(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.run(4)
    tamper(run.path, PRODUCED, "UPDATE frame SET problem = 'RuntimeError: min > max' WHERE id = 5")
    (found,) = findings_of(UnfinishedNanCheck, run.path)
    assert (found.kind, found.frame, found.op) == ("nan-produced", 5, "aten.matmul.default")
    assert "took no NaN and gave one in frame 5" in found.message
    assert "and then the model raised: RuntimeError: min > max." in found.message


@pytest.mark.parametrize("change", [PRODUCED, "UPDATE frame SET problem = 'OOM' WHERE id = 5"])
def test_nan_alone_and_an_error_alone_are_not_that(tmp_path: Path, change: str) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.run(4)
    tamper(run.path, change)
    assert findings_of(UnfinishedNanCheck, run.path) == []
