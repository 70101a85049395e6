"""Strands: an observer for each state that a script drives, all writing into one recording.

A script may keep several states, drive them from several threads, and never call `generate_audio`.
A strand is the observer of one state and of those who drive it together: one thread of the script,
or the threads that `generate_audio` starts. Two strands on one state are two owners of it, which is
a fault; they stay apart, so that each finds what the other did.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from kvstudio.engine import pocket
from kvstudio.engine.codec import Codec, decode_arguments
from kvstudio.engine.frames import Frames
from kvstudio.engine.links import Link, StrandThreads
from kvstudio.engine.observer import Observer
from kvstudio.engine.pending import PendingFrame
from kvstudio.engine.script_book import ScriptBook
from kvstudio.engine.script_shared import Shared
from kvstudio.engine.state import ModelState, offset_of
from kvstudio.engine.tracing import Tracing
from kvstudio.recording.rows import Base, Phase

STEP_S = 1.0  # for a step in another thread to end, before its latent is decoded after all


@dataclass(eq=False)
class Driven:
    """A state that is driven; its strands share its chunks.

    Attributes:
        used: when it was asked for last, as the number of that call.
    """

    state: ModelState
    book: ScriptBook
    strands: "list[Strand]" = field(default_factory=list)
    used: int = 0

    @property
    def alive(self) -> bool:
        return any(each.alive for each in self.strands)


class StrandFrames(Frames):
    """Numbers a frame when it is written, as another strand may have written meanwhile."""

    def __init__(self, shared: Shared, tracing: Tracing, strand: "Strand") -> None:
        super().__init__(
            shared.writer, tracing, shared.began_ns, shared.on_frame, numbering=shared.numbering
        )
        self._shared, self._strand = shared, strand

    def open(self, chunk: int, phase: Phase, step: int = -1) -> PendingFrame:
        with self._shared.lock:
            self._tracing.frame = self.next
            self._strand.note_bases()
            chunk = self._strand.writable_chunk(chunk)
            return super().open(chunk, phase, step)

    def close(self, problem: str | None = None) -> None:
        with self._shared.lock:
            if self.pending is None or self._shared.closed:
                self.pending = None
                return
            self.pending.chunk = self._strand.writable_chunk(self.pending.chunk)
            self.pending.id, self._shared.newest_written = self.next, self.pending.chunk
            super().close(problem)


class Strand(Observer):
    """Observes one state as one owner drives it; its methods are called for the model's."""

    def __init__(self, shared: Shared, driven: Driven, link: Link | None) -> None:
        super().__init__(shared.tts, shared.writer, shared.gate, shared.trace)
        self.shared, self.driven = shared, driven
        self._tracing = shared.tracing()
        self._book: ScriptBook = driven.book
        self._frames = StrandFrames(shared, self._tracing, self)
        self._strand_threads = StrandThreads(shared.gate, shared.closing)
        self._threads = self._strand_threads
        look = shared.trace != "off"
        self._codec = Codec(self._rows["mimi"], self._threads, look=look, fresh=self._fresh)
        self._bases: list[Base] = []  # where all caches stood when the frame was opened
        self._steps_before = 0  # of the chunk that was interrupted
        self._changed = threading.Condition()
        self._undecoded = 0  # latents that nobody has decoded so far
        self._latent: torch.Tensor | None = None  # the last one
        self._decodes = 0
        self.stepping = False
        self.take_over(link)
        driven.strands.append(self)

    def take_over(self, link: Link | None) -> None:
        """This thread drives it from now on, for a `_generate` call if there is a link."""
        self.owner = threading.current_thread()
        self.link = self._strand_threads.link = link
        # Two codecs cannot both be the codec of one chunk.
        self._codec_is_another = any(each.alive for each in self.driven.strands if each != self)
        if link is not None:
            link.strand = self

    @property
    def alive(self) -> bool:
        """Whether `generate_audio` goes on with it."""
        return self.link is not None and not self.link.over

    @property
    def codec_state(self) -> ModelState | None:
        return self._codec.state

    @property
    def awaits_decode(self) -> bool:
        """Whether the frame in the making has a latent that nobody has decoded."""
        pending = self._frames.pending
        waits = pending is not None and pending.phase == "decode" and pending.audio is None
        return waits and self._undecoded > 0 and not self.stepping

    def made(self, latent: torch.Tensor) -> bool:
        """Whether what Mimi is given is the latent of the frame in the making."""
        last = self._latent
        return self.awaits_decode and last is not None and pocket.is_latent(self.tts, latent, last)

    def flush(self) -> None:
        """Writes the frame in the making, unless it is being made just now."""
        if not self.stepping:
            self.finish()

    def observe_expansion(self, call: Any, *args: Any, **kwargs: Any) -> None:
        try:
            self._expand(call, *args, **kwargs)
        except BaseException as error:
            if self._frames.pending is not None:
                self._frames.pending.failed(error)
            raise

    def observe_step(self, call: Any, *args: Any, **kwargs: Any) -> None:
        self._flow_lm(call, *args, **kwargs)

    def observe_decode(self, call: Any, latent: torch.Tensor, *args: Any, **kwargs: Any) -> None:
        """One call of `decode_from_latent`, as part of the frame that made the latent."""
        with self._changed:
            self._changed.wait_for(lambda: not self.stepping, STEP_S)
            threads, alone = self._strand_threads, self._undecoded == 1
            own = self.stepping or (self.awaits_decode and alone) or self.made(latent)
            threads.decoder, threads.decoding_now = threading.current_thread(), True
        try:
            if not own:
                self._begin_codec_frame()
            self._decode(call, latent, *args, **kwargs)
        finally:
            with self._changed:
                threads.decoding_now = False
                left = self._undecoded - pocket.latents_in(self.tts, latent)
                self._undecoded = 0 if own else max(0, left)
                self._changed.notify_all()

    def note_stop_logit(self, output: torch.Tensor) -> None:
        self._notes.stop_logit(output.detach())

    def note_fed(self, vectors: torch.Tensor) -> None:
        self._notes.feed(vectors.detach())

    def note_increment(self) -> None:
        self._codec.incremented.set()

    def writable_chunk(self, chunk: int) -> int:
        """The chunk for a frame of this strand: `chunk`, unless frames of a later one were written.

        Frames of a chunk lie together.
        """
        newest = self._book.current.id
        if chunk >= self.shared.newest_written:
            return chunk
        if newest < self.shared.newest_written:
            self._book.resume(self.driven.state, self._bases, self._step - self._steps_before)
            self._steps_before = self._step
        return self._book.current.id

    def note_bases(self) -> None:
        """Where all caches stand, in case that the chunk is interrupted here."""
        rows, codec = self._rows, self._codec.state
        self._bases = self._book.bases_without_values(self.driven.state, rows["flow_lm"])
        if codec is not None:
            self._bases += self._book.bases_without_values(codec, rows["mimi"])

    # ---- what is different from a run of the engine's own --------------------------------------

    @property
    def problem(self) -> BaseException | None:
        """None: whatever goes wrong goes to the caller, and keeps nobody from going on."""
        return None

    @problem.setter
    def problem(self, error: BaseException | None) -> None:
        """It is in the frame."""

    def _wants_voice_frame(self, state: ModelState) -> bool:
        if self._book.current.continues is not None:
            return False
        use = self.shared.voices.use(state)
        self._voice = use.prefill
        self._voice_changes = use.changes if self._trace != "off" else []
        return use.first

    def _begin_chunk(self, state: ModelState, length: int | None) -> Any:
        self._undecoded = self._steps_before = 0
        chunk = super()._begin_chunk(state, length)
        if self._frames.pending is not None:
            self._frames.pending.add_entry({}, self._book.spoken)
        return chunk

    def _decode_step(self, original: Any, args: Any, kwargs: Any, state: ModelState) -> Any:
        if not self._book.has_begun:
            self._begin_bare_chunk(state)
            self._step = 0 if _is_start_marker(args, kwargs) else 1
        with self._under_way():
            result = super()._decode_step(original, args, kwargs, state)
            self._latent = result[0].detach()
            self._undecoded += 1
        return result

    def _run(self, original: Any, args: Any, kwargs: Any, state: ModelState) -> Any:
        with self._under_way():
            return super()._run(original, args, kwargs, state)

    @contextmanager
    def _under_way(self) -> Iterator[None]:
        """While entered, a frame is being made, which nobody else is to end."""
        before = self.stepping
        with self._changed:
            if not before:
                self._strand_threads.wait_until(self._changed, self._is_decoded)
            self.stepping = True
        try:
            yield
        finally:
            with self._changed:
                self.stepping = before
                self._changed.notify_all()

    def _is_decoded(self) -> bool:
        return self._undecoded == 0 and not self._strand_threads.decoding_now

    def _decode(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        pending = self._frames.pending
        if not self._codec_is_another or pending is None:
            if self._codec.state is None and self.link is None:
                self._begin_codec(decode_arguments(args, kwargs)[1])
            return super()._decode(original, *args, **kwargs)
        began = time.perf_counter_ns()
        audio = original(*args, **kwargs)
        pending.add_audio(audio, time.perf_counter_ns() - began)
        return audio

    def _begin_bare_chunk(self, state: ModelState) -> None:
        """Decode steps on a state whose text was fed before we looked, or never."""
        self._book.begin(state, None)
        self._flow.begin(state)
        self._codec.begin_chunk(from_start=False)
        self._notes.begin_chunk(from_start=False)
        if self._wants_voice_frame(state):
            self._add_voice_frame(state)

    def _begin_codec(self, state: ModelState) -> None:
        """A script may go on with the codec's state where an earlier chunk has left it."""
        new = is_beginning(state)
        self._codec.begin_chunk(from_start=new)
        if not new:
            bases = self._book.bases_without_values(state, self._rows["mimi"])
            self.writer.begin_chunk(self._book.current, bases)

    def _begin_codec_frame(self) -> None:
        """A frame for latents that are decoded apart from the steps that made them."""
        if not self._book.has_begun:
            self._book.begin(self.driven.state, 0)
        self.finish()
        self._frames.open(self._book.current.id, "decode", self._decodes)
        self._decodes += 1


def is_beginning(codec: ModelState) -> bool:
    """Whether Mimi's state is at its beginning, perhaps again."""
    return all(not offset_of(entry) for entry in codec.values() if "offset" in entry)


def _is_start_marker(args: Any, kwargs: Any) -> bool:
    """Whether the latents that a step is given are the NaN with which a chunk begins."""
    given = kwargs["backbone_input_latents"] if "backbone_input_latents" in kwargs else args[2]
    return bool(torch.isnan(given).all())
