"""Tensors that do not fit the layers they serve."""

from pathlib import Path

import pytest

from kvstudio.analysis.checks.tensors import TensorsCheck
from tests.analysis.checks.running import findings_of
from tests.fakes import FakeRun
from tests.recording.reading import tamper


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "run.kvrec"
    FakeRun(path).run(3)
    return path


def test_a_healthy_run(path: Path) -> None:
    assert findings_of(TensorsCheck, path) == []


def test_a_cache_of_another_dtype_from_some_frame_on(path: Path) -> None:
    tamper(path, "UPDATE tensor_state SET dtype = 'bfloat16' WHERE tensor = 2 AND frame >= 2")
    (found,) = findings_of(TensorsCheck, path)
    assert (found.kind, found.severity, found.frame) == ("dtype-mismatch", "error", 2)
    assert (found.layer, found.slots) == (1, None)
    assert found.message.startswith(
        "Transformer.layers.1.self_attn.cache is bfloat16, but its layer computes in float32, "
        "seen after frame 2 (decode step 0)."
    )


def test_an_offset_on_another_device(path: Path) -> None:
    tamper(path, "UPDATE tensor_state SET device = 'cuda:0' WHERE tensor = 1")
    (found,) = findings_of(TensorsCheck, path)
    assert (found.kind, found.frame) == ("device-mismatch", 0)
    assert (found.layer, found.cache, found.caches) == (0, 0, (0,))


def test_what_all_layers_have_in_common_is_one_finding(path: Path) -> None:
    tamper(path, "UPDATE tensor_state SET dtype = 'float16' WHERE tensor IN (0, 2) AND frame >= 2")
    (found,) = findings_of(TensorsCheck, path)
    assert (found.layer, found.caches, found.count) == (0, (0, 1), 2)
    assert "seen after frame 2 (decode step 0) (1 more like it). " in found.message
