"""What all observers of one recording made from a script have in common."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from kvstudio.engine import pocket
from kvstudio.engine.frames import Numbering
from kvstudio.engine.gate import Gate
from kvstudio.engine.spoken import SpokenVoices
from kvstudio.engine.tracer import OpKnowledge
from kvstudio.engine.tracing import Tracing
from kvstudio.recording.spec import TraceLevel
from kvstudio.recording.writer import RecordingWriter


@dataclass
class Shared:
    """One recording, and who writes into it.

    Attributes:
        closing: set when the block ends: nobody waits any more.
        closed: whether anything is written any more.
        newest_written: the newest chunk of which a frame was written.
    """

    tts: pocket.TTS
    writer: RecordingWriter
    trace: TraceLevel
    on_frame: Callable[[int], None] | None = None
    gate: Gate = field(default_factory=Gate)
    numbering: Numbering = field(default_factory=Numbering)
    knowledge: OpKnowledge = field(default_factory=OpKnowledge)
    began_ns: int = field(default_factory=time.perf_counter_ns)
    lock: threading.RLock = field(default_factory=threading.RLock)
    closing: threading.Event = field(default_factory=threading.Event)
    closed: bool = False
    newest_written: int = 0
    voices: SpokenVoices = field(default_factory=SpokenVoices)

    def tracing(self) -> Tracing:
        return Tracing(self.knowledge, self.trace, self.began_ns)
