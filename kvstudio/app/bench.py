"""Measures what the user feels of the window.

    python -m kvstudio.app.bench     one JSON object: {"rows": [{"name", "value", "unit", ...}]}

Each kind of figure comes from a process of its own, told what to do by its argument:

    start     from the command to the first picture on the screen
    run       how long the window is deaf while the engine runs the demo
    repaint   processor time of the window's thread for moving the cursor by one frame
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QPaintEvent

from kvstudio.app import running
from kvstudio.app.bench_recording import write_bench_recording
from kvstudio.app.main_window import MainWindow
from kvstudio.app.setup.form import SetupForm

BEGAN = "KVSTUDIO_BENCH_BEGAN"
STARTS, FRAMES = 3, 40
BEAT_MS, MOVE_MS = 2, 120
LONGEST_S = 180
TEXT = "hello world, this is a tiny voice. it says a few things while the window looks on."
Row = dict[str, Any]


def measure() -> list[Row]:
    """The rows of design section 8 that concern the window."""
    with tempfile.TemporaryDirectory(prefix="kvstudio-bench-") as home:
        starts = [_figures("start", home)["visible_s"] for _ in range(STARTS + 1)]
        stalls = _figures("run", home)
        repaint = _figures("repaint", home)
    where = "" if _has_screen() else ", no screen"
    return [
        _row(f"window visible, warm{where}", statistics.median(starts[1:]), "s", 1.0),
        _row("event loop deaf during a run, p99", stalls["p99_ms"], "ms", 16.0),
        _row("event loop deaf during a run, worst", stalls["worst_ms"], "ms", 50.0),
        _row("repaint of all views for a frame, 24 x 1,000", repaint["repaint_ms"], "ms", 8.0),
    ]


def _figures(what: str, home: str) -> dict[str, float]:
    """What a process of its own measures, as a user without settings."""
    environment = {**os.environ, "HOME": home, BEGAN: repr(time.time())}
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        environment.pop(variable, None)
    if not _has_screen():
        environment["QT_QPA_PLATFORM"] = "offscreen"
    done = subprocess.run(
        [sys.executable, "-m", "kvstudio.app.bench", what],
        env=environment,
        stdout=subprocess.PIPE,
        timeout=LONGEST_S,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _has_screen() -> bool:
    known = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in known)


def _row(name: str, value: float, unit: str, budget: float) -> Row:
    return {
        "name": name, "value": round(value, 3), "unit": unit, "budget": budget,
        "ok": value <= budget,
    }  # fmt: skip


# ---- in a process of its own -------------------------------------------------------------------


class StartBench(MainWindow):
    """Closes itself once it has been painted."""

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 -- as MainWindow
        super().__init__(*arguments)
        self._painted = False

    def finish(self) -> None:
        _say(visible_s=time.time() - float(os.environ[BEGAN]))
        self.close()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.finish)  # when the children are painted too


class RunBench(MainWindow):
    """Runs the demo and notes how late a beat of its event loop comes."""

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 -- as MainWindow
        super().__init__(*arguments)
        self._late: list[float] = []
        self._last = 0.0
        self._beat = QTimer(self, interval=BEAT_MS, timerType=Qt.TimerType.PreciseTimer)
        self._beat.timeout.connect(self._on_beat)
        self.setup.show_form(SetupForm(text=TEXT))
        self.engine.state_changed.connect(self._on_engine_state)

    def _on_engine_state(self, state: str, words: str) -> None:
        if state == "empty":
            self.control.run()
        elif state == "running" and not self._beat.isActive():
            self._last = time.perf_counter()
            self._beat.start()
        elif state in ("ready", "dead") and self._beat.isActive():
            self._beat.stop()
            cuts = statistics.quantiles(self._late, n=100)
            _say(p99_ms=cuts[98], worst_ms=max(self._late))
            QTimer.singleShot(0, self, self.close)
        elif state == "dead":  # nothing was measured, and the parent says so
            QTimer.singleShot(0, self, self.close)

    def _on_beat(self) -> None:
        now = time.perf_counter()
        self._late.append(max(0.0, (now - self._last) * 1000 - BEAT_MS))
        self._last = now


class RepaintBench(MainWindow):
    """Opens a large recording and moves the cursor through it, one frame at a time."""

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 -- as MainWindow
        super().__init__(*arguments)
        self._folder = tempfile.TemporaryDirectory(prefix="kvstudio-bench-")
        path = Path(self._folder.name) / "bench.kvrec"
        write_bench_recording(path, FRAMES)
        self.open_recording(path)
        self._idle: list[float] = []
        self._moved: list[float] = []
        self._next = 2
        QTimer.singleShot(1000, self, self._measure_idle)

    def _measure_idle(self) -> None:
        _spend(self, self._idle, self._on_idle_measured)

    def _on_idle_measured(self) -> None:
        if len(self._idle) < FRAMES // 4:
            self._measure_idle()
        else:
            self._measure_move()

    def _measure_move(self) -> None:
        _spend(self, self._moved, self._on_move_measured)
        self.workspace.move(frame=self._next)
        self._next += 1

    def _on_move_measured(self) -> None:
        if self._next < FRAMES:
            self._measure_move()
            return
        _say(repaint_ms=statistics.median(self._moved) - statistics.median(self._idle))
        self.close()
        self._folder.cleanup()


def _spend(parent: QObject, into: list[float], then: Callable[[], None]) -> None:
    """Notes what the thread spends until some ticks and paints from now, in milliseconds."""
    began = time.thread_time()

    def note() -> None:
        into.append((time.thread_time() - began) * 1000)
        then()

    QTimer.singleShot(MOVE_MS, parent, note)


def _say(**figures: float) -> None:
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()


BENCHES: dict[str, type[MainWindow]] = {
    "start": StartBench,
    "run": RunBench,
    "repaint": RepaintBench,
}


def main(arguments: list[str]) -> int:
    if not arguments:
        sys.stdout.write(json.dumps({"rows": measure()}) + "\n")
        return 0
    vars(running)["MainWindow"] = BENCHES[arguments[0]]
    return running.run_window(None, False, None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
