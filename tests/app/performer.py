"""Performs a script with a real `Player`, for tests that listen from outside.

Reads a JSON list of steps from standard input, writes one JSON object a line for every signal:
`{"said": name, "with": argument, "position": ..., "playing": ..., "paused": ..., "step": n}`.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer, SignalInstance

from kvstudio.app import sound_stream
from kvstudio.app.player import Player


class Performer:
    """One method for each kind of step."""

    def __init__(self) -> None:
        self.player = Player()
        self.step = 0
        for name in ("started", "position_moved", "finished", "failed"):
            signal: SignalInstance = getattr(self.player, name)
            signal.connect(lambda *words, name=name: self.say(name, *words))

    def say(self, name: str, *words: object) -> None:
        event = {
            "said": name,
            "with": words[0] if words else None,
            "position": self.player.position,
            "playing": self.player.playing,
            "paused": self.player.paused,
            "step": self.step,
        }
        sys.stdout.write(json.dumps(event) + "\n")

    def load(self, path: str, sample_rate: int) -> None:
        self.player.load(np.load(path), sample_rate)

    def append(self, path: str) -> None:
        self.player.append(np.load(path))

    def follow(self) -> None:
        self.player.set_following(True)

    def volume(self, volume: float) -> None:
        self.player.set_volume(volume)

    def play(self, first: int = 0, last: int | None = None, loop: bool = False) -> None:
        self.player.play(first, last, loop=loop)

    def play_until_position(self, position: int) -> None:
        """Go on until this sample, or a later one, is heard."""
        if self.player.position < position:
            self._until(self.player.position_moved, lambda: self.player.position >= position)

    def play_to_the_end(self) -> None:
        if self.player.playing:
            self._until(self.player.finished, lambda: True)

    def wait_for_failure(self) -> None:
        if self.player.playing:
            self._until(self.player.failed, lambda: True)

    def pause(self) -> None:
        self.player.pause()

    def resume(self) -> None:
        self.player.resume()

    def stop(self) -> None:
        self.player.stop()

    def ask(self) -> None:
        self.say("asked", self.player.why_silent)

    def patience(self, milliseconds: int) -> None:
        sound_stream.STALL_MS = milliseconds

    def without_library(self) -> None:
        """As if QtMultimedia, or a system library it needs, were not installed."""
        sys.modules["PySide6.QtMultimedia"] = None  # type: ignore[assignment]

    def delete_player(self) -> None:
        self.player.deleteLater()
        self.wait(50)

    def wait(self, milliseconds: int) -> None:
        loop = QEventLoop()
        QTimer.singleShot(milliseconds, loop.quit)
        loop.exec()

    def cue(self, path: str) -> None:
        """Tell the test, by a file, that its turn has come; go on when the file is gone."""
        Path(path).touch()
        while Path(path).exists():
            self.wait(20)

    def _until(self, signal: SignalInstance, condition: Callable[[], bool]) -> None:
        loop = QEventLoop()
        connection = signal.connect(lambda *_: loop.quit() if condition() else None)
        QTimer.singleShot(30_000, loop, loop.quit)
        loop.exec()
        signal.disconnect(connection)


def main() -> None:
    application = QCoreApplication([])
    performer = Performer()
    for performer.step, (name, *arguments) in enumerate(json.load(sys.stdin)):
        getattr(performer, name)(*arguments)
    del application


if __name__ == "__main__":
    main()
