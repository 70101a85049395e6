"""The checks beside a growing recording: findings in the file, told once, and never in the way."""

import logging
from pathlib import Path

import pytest

from kvstudio.analysis.checker import Checker
from kvstudio.analysis.finding import stored_findings
from kvstudio.engine.live_checks import LiveChecks, News
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Cache, SlotDelta
from tests.fakes import FakeRun


class Watched:
    """A fake run with the checks beside it, and what they told."""

    def __init__(self, path: Path, *, room: int = 12, checking: bool = True) -> None:
        self.run = FakeRun(path, room=room, text=1)
        self.frames: list[int] = []
        self.news: list[tuple[int, list[str], list[str]]] = []
        self.checks = LiveChecks(
            self.run.writer,
            checking=checking,
            on_frame=self._on_frame,
            on_news=self._on_news,
        )
        self.run.begin_chunk()
        self.checks.frame_added(0)
        self.run.prefill()
        self.checks.frame_added(1)

    def decode(self, **how: bool) -> None:
        self.run.decode(**how)
        self.checks.frame_added(self.run.frame)

    def skip_slot(self) -> None:
        """The next decode step writes no slot in layer 0."""
        delta = self.run._delta

        def skipping(cache: Cache, first: int, slots: int, *, nan: bool = False) -> SlotDelta:
            if cache.id == 0:
                return SlotDelta(cache.id, first, first, None)
            return delta(cache, first, slots, nan=nan)

        self.run._delta = skipping  # type: ignore[method-assign]
        self.decode()
        self.run._delta = delta  # type: ignore[method-assign]

    def stored(self) -> list[tuple[str, int | None]]:
        with Recording.open(self.run.path) as recording:
            return [(each.kind, each.frame) for each in stored_findings(recording)]

    def _on_frame(self, frame: int) -> None:
        self.frames.append(frame)

    def _on_news(self, news: News) -> None:
        told = [each.kind for each in news.findings], [each.kind for each in news.seen]
        self.news.append((self.frames[-1], *told))


def test_a_healthy_run_has_no_news(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "run.kvrec")
    watched.decode()
    watched.decode(eos=True)
    watched.checks.finish("finished")
    assert (watched.frames, watched.news, watched.stored()) == ([0, 1, 2, 3], [], [])


def test_a_finding_is_in_the_file_with_its_frame_and_told_once(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "run.kvrec")
    watched.skip_slot()
    assert watched.stored() == [("hole", 2)]
    watched.decode()
    watched.checks.finish("stopped")
    assert watched.news == [(2, ["hole"], ["hole"])]


def test_a_consequence_is_seen_but_is_no_finding(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "run.kvrec")
    watched.skip_slot()
    watched.decode(nan=True)
    assert watched.news[1:] == [(3, [], ["audio-nan"])]
    assert watched.stored() == [("hole", 2)]
    with Recording.open(watched.run.path) as recording:
        (hole,) = stored_findings(recording)
    assert hole.chain[-1].text.startswith("audio-nan: the audio is NaN from second")
    assert hole.chain[-1].second == pytest.approx(0.08)


def test_how_a_run_ended_is_judged_when_it_has_ended(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "run.kvrec", room=4)
    for _ in range(4):
        watched.decode()
    assert watched.news == []
    watched.checks.finish("finished")
    assert watched.news == [(5, ["length-cut"], ["length-cut"])]
    assert watched.stored() == [("length-cut", 5)]


def test_a_check_that_fails_is_logged_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(checker: Checker) -> bool:
        raise ZeroDivisionError("in a check")

    watched = Watched(tmp_path / "run.kvrec")
    monkeypatch.setattr(Checker, "advance", fail)
    with caplog.at_level(logging.ERROR):
        watched.decode()
        watched.decode()
    watched.checks.finish("finished")
    assert watched.frames == [0, 1, 2, 3]
    assert [record.message for record in caplog.records] == [
        "the checks failed and are over; the run goes on"
    ]
    assert "in a check" in caplog.text


def test_without_checks_frames_are_told_all_the_same(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "run.kvrec", checking=False)
    watched.skip_slot()
    watched.checks.finish("finished")
    assert (watched.frames, watched.news, watched.stored()) == ([0, 1, 2], [], [])
