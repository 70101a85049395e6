"""What the Audio panel says beside its buttons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvstudio.app.sound.words import (
    frame_words,
    no_sound_words,
    position_words,
    selection_words,
    trouble_words,
)

if TYPE_CHECKING:
    from kvstudio.app.sound.playback import Playback
    from kvstudio.app.sound.sound_bar import SoundBar
    from kvstudio.recording.rows import Frame


@dataclass
class Notes:
    """What is to be said besides where we are.

    Attributes:
        message: said in place of the position, until the next move.
        failure: what went wrong, from the fullest words to the shortest.
        why_silent: why nothing can be heard.
    """

    message: str = ""
    failure: tuple[str, ...] = ()
    why_silent: str = ""

    def forget(self) -> None:
        """Drop what is only of the moment."""
        self.message, self.failure = "", ()

    def show(
        self,
        bar: SoundBar,
        playback: Playback,
        frame: Frame | None,
        selection: tuple[int, int] | None,
    ) -> None:
        bar.say(
            (self.message,) if self.message else _place_words(playback, frame, selection),
            no_sound_words(self.why_silent) if self.why_silent else "",
            self.failure or trouble_words(playback.track),
        )


def _place_words(
    playback: Playback, frame: Frame | None, selection: tuple[int, int] | None
) -> tuple[str, ...]:
    track = playback.track
    if not len(track):
        return ()
    if playback.active:
        return (position_words(track, playback.player.position),)
    if selection is not None:
        return selection_words(track, *selection)
    return frame_words(track, frame) if frame is not None else ()
