"""One frame after the other: which one is in the making, and writing it when it is done."""

from collections.abc import Callable
from dataclasses import dataclass

from kvstudio.engine.pending import PendingFrame
from kvstudio.engine.tracing import Tracing
from kvstudio.recording.rows import Phase
from kvstudio.recording.writer import RecordingWriter


@dataclass
class Numbering:
    """The ids that the next frame and the next chunk of a recording get."""

    frame: int = 0
    chunk: int = 0


class Frames:
    """Numbers the frames of a run and writes each in one transaction.

    Args:
        began_ns: when the run began.
        on_frame: called with each frame's id once it is in the file.
        numbering: shared by all who write into the same recording.

    Attributes:
        pending: the frame in the making.
    """

    def __init__(
        self,
        writer: RecordingWriter,
        tracing: Tracing,
        began_ns: int,
        on_frame: Callable[[int], None] | None = None,
        numbering: Numbering | None = None,
    ) -> None:
        self._writer, self._tracing, self._began_ns = writer, tracing, began_ns
        self._on_frame = on_frame
        self.numbering = numbering or Numbering()
        self.pending: PendingFrame | None = None

    @property
    def next(self) -> int:
        """The id of the frame in the making, or of the next one if there is none."""
        return self.numbering.frame

    def open(self, chunk: int, phase: Phase, step: int = -1) -> PendingFrame:
        self.pending = PendingFrame(self.next, chunk, phase, step, self._began_ns)
        return self.pending

    def close(self, problem: str | None = None) -> None:
        """Writes the frame in the making, with all that was traced since the one before.

        Raises:
            UnwritableRecording: the frame is lost.
        """
        pending, self.pending = self.pending, None
        assert pending is not None
        self._writer.add_frame(pending.record(self._tracing.take(self._writer), problem))
        self.numbering.frame += 1
        if self._on_frame is not None:
            self._on_frame(pending.id)
