"""Makes the two runs of a case, the healthy one first and unseen, then the faulty one in view.

1. `begin` asks for the healthy run, unless it was made before; the window keeps what it shows.
2. When that is finished, it asks for the faulty run, which the window opens.
3. Once both are finished they can be heard one after the other.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from kvstudio.recording import protocol as p

if TYPE_CHECKING:
    from kvstudio.app.cases.case import Case
    from kvstudio.recording.spec import RunSpec

    Wanted = tuple[RunSpec, bool]

IDLE = ("empty", "loaded", "ready")


class CaseRuns(QObject):
    """Follows the engine through the runs it asks for.

    Signals:
        run_requested: (spec, shown) a run to the end; `shown`: in the window.
        changed: something else goes on, or a run is complete.
    """

    run_requested = Signal(object, bool)
    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.words = ""
        self._finished: dict[str, Path] = {}  # by spec, as JSON
        self._wanted: deque[Wanted] = deque()
        self._asked: Wanted | None = None  # not begun yet
        self._making: tuple[RunSpec, Path] | None = None
        self._is_over = False

    def begin(self, case: Case) -> None:
        """Makes what is not there yet of a case, the faulty run in any case."""
        self._wanted = deque([(case.spec, True)])
        if self.recording_of(case.healthy) is None:
            self._wanted.appendleft((case.healthy, False))
        self._go_on()

    def recording_of(self, spec: RunSpec) -> Path | None:
        """The finished recording of a run, if there is one."""
        path = self._finished.get(spec.to_json())
        return path if path is not None and path.is_file() else None

    @property
    def busy(self) -> bool:
        return self._asked is not None or self._making is not None

    def take_event(self, event: object) -> None:
        if isinstance(event, p.Started):
            self._on_run_started(Path(event.path))
        elif isinstance(event, p.Finished) and self._making is not None:
            if Path(event.path) == self._making[1]:
                self._on_run_finished(event)
        elif isinstance(event, p.FrameAdded) and self._making is not None:
            self._say(f"{self._which(self._making[0])}: frame {event.frame} …")
        elif isinstance(event, p.Failed) and event.command in ("start", "load", "voice"):
            self._give_up("The run could not be made; the message above says why.")

    def take_state(self, state: str, words: str) -> None:
        if state == "dead" and self.busy:
            self._give_up("The engine is gone; restart it, then run the case again.")
        elif state in IDLE and self._is_over:
            self._go_on()

    # ---- private ------------------------------------------------------------------------------

    def _go_on(self) -> None:
        self._making, self._is_over = None, False
        if not self._wanted:
            self._asked = None
            self._say("")
            return
        self._asked = spec, shown = self._wanted.popleft()
        self._say(f"{self._which(spec)}: loading …")
        self.run_requested.emit(spec, shown)

    def _on_run_started(self, path: Path) -> None:
        if self._asked is not None:
            self._making, self._asked = (self._asked[0], path), None
        elif self._making is not None:
            self._give_up("Another run was begun.")

    def _on_run_finished(self, event: p.Finished) -> None:
        assert self._making is not None
        spec, path = self._making
        # A faulty run may end in an error of the model's own; it is complete all the same.
        if event.status == "stopped":
            self._give_up("Stopped. Run it again to hear both.")
            return
        self._finished[spec.to_json()] = path
        self._is_over = True  # the engine takes the next one when it has settled

    def _give_up(self, words: str) -> None:
        self._wanted.clear()
        self._asked = self._making = None
        self._is_over = False
        self._say(words)

    def _which(self, spec: RunSpec) -> str:
        return "Recording the faulty run" if spec.edits else "First the healthy run, unseen"

    def _say(self, words: str) -> None:
        self.words = words
        self.changed.emit()
