"""Says in the banner what went wrong: in the engine, in a file, or in the window itself."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from kvstudio.app.banner import Banner, Message, Tone
from kvstudio.app.engine_client import Engine
from kvstudio.app.words import as_sentence
from kvstudio.app.workspace import Workspace
from kvstudio.recording import protocol as p

# Answers to these can only mean that the run ended at the very moment of the key press; and the
# budget says what is wrong with it in its own place.
UNSAID = {p.Pause.name, p.Stop.name, p.Budget.name}


class Announcer(QObject):
    """Turns failures into messages.

    Args:
        restart: what the button of the engine's death notice does.
    """

    def __init__(
        self,
        banner: Banner,
        engine: Engine,
        workspace: Workspace,
        restart: Callable[[], object],
    ) -> None:
        super().__init__(banner)
        self._banner, self._engine, self._workspace = banner, engine, workspace
        self._restart = restart
        self._death: Message | None = None
        engine.event_received.connect(self._on_engine_event_received)
        engine.state_changed.connect(self._on_engine_state_changed)
        engine.died.connect(self._on_engine_died)
        workspace.trouble_met.connect(self.say)

    def say(self, words: str) -> None:
        self._banner.show_message(as_sentence(words))

    # ---- private ------------------------------------------------------------------------------

    def _on_engine_event_received(self, event: object) -> None:
        if not isinstance(event, p.Failed) or event.command in UNSAID:
            return
        tone: Tone = "note" if event.message.endswith("cancelled") else "error"
        self._banner.show_message(
            as_sentence(event.message), tone=tone, detail=event.detail.strip()
        )

    def _on_engine_state_changed(self, state: str, words: str) -> None:
        if self._death is not None and state != "dead":
            self._banner.dismiss(self._death)
            self._death = None

    def _on_engine_died(self, words: str) -> None:
        recording = self._workspace.recording
        kept = ""
        if recording is not None and recording.frames:
            self._workspace.refresh()
            kept = f" The recording up to frame {len(recording.frames) - 1} is kept and open."
        self._death = self._banner.show_message(
            words + kept,
            detail=self._engine.last_printed,
            action=("Restart engine", self._restart),
        )
