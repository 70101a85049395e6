"""Two owners of one state."""

from pathlib import Path

import pytest

from kvstudio.analysis.checks.sharing import SharedStateCheck
from tests.analysis.checks.evidence import begun, changed, ended, moved, name_of
from tests.analysis.checks.running import findings_of
from tests.fakes import FakeRun


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    return begun(FakeRun(tmp_path / "run.kvrec", layers=3))


def stepped_by(run: FakeRun, *threads: str) -> None:
    """Decode steps whose ops ran in these threads."""
    make = run._ops
    for thread in threads:
        run._ops = lambda *args, thread=thread, **kwargs: [  # type: ignore[method-assign]
            op._replace(thread=thread) for op in make(*args, **kwargs)
        ]
        run.decode()


def test_a_healthy_run_has_none(run: FakeRun) -> None:
    run.evidence = {"surprises": [changed(0, (2, 3))]}  # that is an overwrite
    ended(run)
    assert findings_of(SharedStateCheck, run.path) == []


def test_steps_that_somebody_else_took(run: FakeRun) -> None:
    rows = [surprise for n in range(3) for surprise in (changed(n, (13, 15)), moved(n))]
    run.evidence = {"surprises": rows}
    ended(run)
    (found,) = findings_of(SharedStateCheck, run.path)
    assert (found.kind, found.frame, found.slots) == ("shared-state", 4, (13, 15))
    assert found.caches == (0, 1, 2)
    assert "somebody else moved the offset and wrote slots 13 to 14" in found.message


def test_steps_that_somebody_else_took_with_the_codec(run: FakeRun) -> None:
    run.evidence = {"surprises": [changed(0, (8, 12), model="mimi"), moved(0, model="mimi")]}
    ended(run)
    (found,) = findings_of(SharedStateCheck, run.path)
    assert (found.layer, found.slots) == (name_of(0, "mimi"), (8, 12))


def test_two_threads_that_take_turns(run: FakeRun) -> None:
    stepped_by(run, "Thread-1", "Thread-2", "Thread-1", "Thread-2")
    run.writer.finish("finished")
    (found,) = findings_of(SharedStateCheck, run.path)
    assert (found.kind, found.frame, found.count) == ("shared-state", 6, 2)
    assert found.message.startswith(
        "Threads Thread-2 and Thread-1 take turns in stepping FlowLM, again in frame 6 (decode"
    )


def test_one_thread_after_another_is_how_chunks_are_made(run: FakeRun) -> None:
    stepped_by(run, "Thread-1", "Thread-1", "Thread-2", "Thread-2", "Thread-3")
    run.writer.finish("finished")
    assert findings_of(SharedStateCheck, run.path) == []


def test_threads_of_a_pool_take_turns_at_somebody_s_bidding(run: FakeRun) -> None:
    stepped_by(run, "asyncio_0", "asyncio_1", "asyncio_0", "ThreadPoolExecutor-0_0", "asyncio_1")
    run.writer.finish("finished")
    assert findings_of(SharedStateCheck, run.path) == []
