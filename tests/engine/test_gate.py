"""Holding, stepping and stopping, with a plain thread in the place of the model."""

import threading
from collections.abc import Callable, Iterator

import pytest

from kvstudio.engine.gate import FIRST_FRAME, Gate, RunStopped
from kvstudio.recording.errors import KVStudioError

PATIENCE_S = 20


class Runner:
    """Goes from frame to frame as the model does, waiting at the gate before each."""

    def __init__(self, frames: int | None = None) -> None:
        self.events: list[tuple[str, int]] = []
        self.before_frame: Callable[[int], None] = lambda frame: None
        self.stopped = False
        self._frames = frames
        self._news = threading.Condition()
        self.gate = Gate(lambda frame: self._tell("held", frame), self._on_released)
        self.thread = threading.Thread(target=self._run)

    @property
    def frames(self) -> list[int]:
        return [frame for what, frame in self.events if what == "frame"]

    def await_event(self, what: str, frame: int) -> None:
        with self._news:
            assert self._news.wait_for(lambda: (what, frame) in self.events, PATIENCE_S)

    def await_held(self, frame: int) -> None:
        """Waits until the last thing that happened is that it is held there."""
        with self._news:
            assert self._news.wait_for(lambda: self.events[-1:] == [("held", frame)], PATIENCE_S)

    def _run(self) -> None:
        frame = FIRST_FRAME
        while self._frames is None or frame < FIRST_FRAME + self._frames:
            try:
                self.gate.wait_before(frame)
            except RunStopped:
                self.stopped = True
                return
            self.before_frame(frame)
            self._tell("frame", frame)
            frame += 1

    def _on_released(self, frame: int) -> None:
        self._tell("released", frame)

    def _tell(self, what: str, frame: int) -> None:
        with self._news:
            self.events.append((what, frame))
            self._news.notify_all()


@pytest.fixture
def runner() -> Iterator[Runner]:
    runner = Runner()
    yield runner
    runner.gate.close()
    if runner.thread.ident is not None:
        runner.thread.join(PATIENCE_S)
        assert not runner.thread.is_alive()


def test_holds_before_the_first_frame(runner: Runner) -> None:
    runner.thread.start()
    runner.await_held(1)
    assert runner.frames == []
    assert runner.gate.held == 1


def test_a_step_is_one_frame(runner: Runner) -> None:
    runner.thread.start()
    for frame in (1, 2, 3):
        runner.await_held(frame)
        runner.gate.step()
        runner.await_event("frame", frame)
    runner.await_held(4)
    assert runner.frames == [1, 2, 3]


def test_steps_may_come_faster_than_frames(runner: Runner) -> None:
    for _ in range(5):
        runner.gate.step()
    runner.thread.start()
    runner.gate.step(3)
    runner.await_held(9)
    assert runner.frames == list(range(1, 9))


def test_ten_steps_at_once_hold_only_at_their_end(runner: Runner) -> None:
    runner.thread.start()
    runner.await_held(1)
    runner.gate.step(10)
    runner.await_held(11)
    assert [event for event in runner.events if event[0] != "frame"] == [
        ("held", 1),
        ("released", 1),
        ("held", 11),
    ]


@pytest.mark.parametrize("count", [0, -1])
def test_no_step_is_refused(runner: Runner, count: int) -> None:
    with pytest.raises(KVStudioError, match="step 1 or more"):
        runner.gate.step(count)


def test_runs_to_the_end() -> None:
    runner = Runner(frames=50)
    runner.gate.run()
    runner.thread.start()
    runner.thread.join(PATIENCE_S)
    assert runner.frames == list(range(1, 51))
    assert runner.events == [("frame", frame) for frame in runner.frames]


def test_runs_until_a_frame_and_holds(runner: Runner) -> None:
    runner.thread.start()
    runner.gate.run(until=6)
    runner.await_held(7)
    assert runner.frames[-1] == 6
    runner.gate.run(until=7)
    runner.await_held(8)


def test_until_a_frame_that_has_happened_is_refused(runner: Runner) -> None:
    runner.gate.run(until=6)
    runner.thread.start()
    runner.await_held(7)
    with pytest.raises(KVStudioError, match="frame 6 has happened already; the next one is 7"):
        runner.gate.run(until=6)
    assert runner.gate.held == 7


def test_pause_lets_the_frame_in_progress_happen_and_no_other(runner: Runner) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def before_frame(frame: int) -> None:
        if frame == 4:
            inside.set()
            assert go_on.wait(PATIENCE_S)

    runner.before_frame = before_frame
    runner.gate.run()
    runner.thread.start()
    assert inside.wait(PATIENCE_S)
    runner.gate.pause()
    go_on.set()
    runner.await_held(5)
    assert runner.frames == [1, 2, 3, 4]


def test_a_step_after_a_pause_is_a_frame_more(runner: Runner) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def before_frame(frame: int) -> None:
        if frame == 4:
            inside.set()
            assert go_on.wait(PATIENCE_S)

    runner.before_frame = before_frame
    runner.gate.run()
    runner.thread.start()
    assert inside.wait(PATIENCE_S)
    runner.gate.pause()
    runner.gate.step()
    go_on.set()
    runner.await_held(6)


def test_a_pause_amid_steps_forgets_the_rest(runner: Runner) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def before_frame(frame: int) -> None:
        if frame == 2:
            inside.set()
            assert go_on.wait(PATIENCE_S)

    runner.before_frame = before_frame
    runner.gate.step(10)
    runner.thread.start()
    assert inside.wait(PATIENCE_S)
    runner.gate.pause()
    go_on.set()
    runner.await_held(3)


class Interrupted(threading.Condition):
    """Lets something happen at the one moment when a thread at the gate lets go of its lock."""

    def __init__(self, happening: Callable[[], None]) -> None:
        super().__init__()
        self._happening: Callable[[], None] | None = happening

    def __exit__(self, *error: object) -> None:
        super().__exit__(None, None, None)
        happening, self._happening = self._happening, None
        if happening is not None:
            happening()


def test_nobody_waits_without_saying_so(runner: Runner) -> None:
    """A pause between looking whether to wait and waiting must not hold a thread unseen."""
    runner.gate.run()
    runner.gate._changed = Interrupted(runner.gate.pause)
    runner.thread.start()
    runner.await_held(2)


def test_stop_while_held(runner: Runner) -> None:
    runner.thread.start()
    runner.await_held(1)
    runner.gate.stop()
    runner.thread.join(PATIENCE_S)
    assert runner.stopped
    assert runner.gate.stopped
    assert runner.gate.held is None
    assert ("released", 1) not in runner.events


def test_stop_while_running_ends_at_the_next_frame(runner: Runner) -> None:
    runner.gate.run()
    runner.thread.start()
    runner.await_event("frame", 10)
    runner.gate.stop()
    runner.thread.join(PATIENCE_S)
    assert runner.stopped
    assert runner.frames == list(range(1, len(runner.frames) + 1))


def test_stop_before_anything_began(runner: Runner) -> None:
    runner.gate.stop()
    runner.gate.run()
    runner.thread.start()
    runner.thread.join(PATIENCE_S)
    assert runner.stopped
    assert runner.events == []


def test_closing_releases_threads_but_is_no_stop(runner: Runner) -> None:
    runner.thread.start()
    runner.await_held(1)
    runner.gate.close()
    runner.thread.join(PATIENCE_S)
    assert runner.stopped
    assert runner.gate.over
    assert not runner.gate.stopped


def test_every_waiting_thread_is_stopped() -> None:
    gate, stopped = Gate(), []

    def wait(frame: int) -> None:
        try:
            gate.wait_before(frame)
        except RunStopped:
            stopped.append(frame)

    threads = [threading.Thread(target=wait, args=(frame,)) for frame in (1, 2, 3)]
    for thread in threads:
        thread.start()
    gate.stop()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert sorted(stopped) == [1, 2, 3]


def finding(runner: Runner, at: int, findings: set[str], seen: set[str]) -> None:
    """From now on the checks find this in frame `at`."""

    def found(frame: int) -> None:
        if frame == at:
            runner.gate.found(findings, seen)

    runner.before_frame = found


def test_it_holds_at_a_finding_that_is_waited_for(runner: Runner) -> None:
    finding(runner, 3, {"hole"}, {"hole"})
    runner.gate.run(to_finding=True)
    runner.thread.start()
    runner.await_held(4)
    finding(runner, 5, {"hole"}, {"hole"})
    runner.gate.run(6)  # not to the next finding
    runner.await_held(7)


def test_it_holds_at_a_consequence_only_if_its_kind_is_broken_at(runner: Runner) -> None:
    finding(runner, 2, set(), {"nan-produced"})
    runner.gate.run(4, to_finding=True)
    runner.thread.start()
    runner.await_held(5)
    runner.gate.break_at({"nan-produced"})
    finding(runner, 6, set(), {"nan-produced"})
    runner.gate.run()
    runner.await_held(7)
    assert runner.gate.found({"hole"}, {"hole", "nan-produced"}) == {"nan-produced"}
    assert runner.gate.found({"hole"}, {"hole"}) == set()


def test_a_step_ends_the_waiting_for_a_finding(runner: Runner) -> None:
    runner.gate.run(2, to_finding=True)
    runner.thread.start()
    runner.await_held(3)
    runner.gate.step()
    runner.await_held(4)
    assert runner.gate.found({"hole"}, {"hole"}) == set()
