"""Holds and observes pocket-tts's own generation loop, frame by frame.

What happens to one decode step, in the model's own threads:

    1. The model calls `_run_flow_lm_and_increment_step` for step k + 1. Before it runs, we wait
       until latent k has been decoded by the Mimi thread, so that every frame owns its samples.
    2. Frame k is written to the recording in one transaction.
    3. The thread waits at the gate until the user steps.
    4. The model's own method runs under a tracer. Its latent goes through the model's queue to the
       Mimi thread, where `decode_from_latent` runs under another tracer.

The wait is at the *entry* of the next step: at the exit it would hang, since after EOS the loop
drops its last latent without queueing it. What the last step of a chunk left is written when the
next chunk begins or the stream ends.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, Literal

import torch

from kvstudio.engine import pocket
from kvstudio.engine.chunks import ChunkBook, register_caches
from kvstudio.engine.codec import Codec, decode_arguments
from kvstudio.engine.expansion import caches_of, damaged_slots, measure
from kvstudio.engine.faults.moment import Edits, Moment
from kvstudio.engine.frames import Frames
from kvstudio.engine.fresh import fresh_codec
from kvstudio.engine.gate import Gate, RunStopped
from kvstudio.engine.model_threads import ModelThreads
from kvstudio.engine.module_path import following_modules
from kvstudio.engine.pending import PendingFrame
from kvstudio.engine.prefix import prefix_of
from kvstudio.engine.projections import projections_of
from kvstudio.engine.state import ModelState, StateWatch
from kvstudio.engine.step_notes import StepNotes
from kvstudio.engine.tracer import OpKnowledge
from kvstudio.engine.tracing import Tracing
from kvstudio.engine.wrapping import wrapped
from kvstudio.recording.errors import UnwritableRecording
from kvstudio.recording.evidence import Surprise
from kvstudio.recording.rows import Chunk
from kvstudio.recording.spec import TraceLevel
from kvstudio.recording.writer import RecordingWriter

VOICE, EXPAND, FLOW_LM, MIMI = range(4)


class Observer:
    """Records one run of a loaded model into `writer`, frame by frame, held at `gate`.

    Args:
        tts: a `TTSModel`; its methods are wrapped while `observing` is entered, and only then.
        on_frame: called with each frame's id once it is in the file.
        voice: what was seen when the voice state was made, to become part of frame 0.
        edits: told of the moment before each frame, outside of all tracing and watching.
    """

    def __init__(
        self,
        tts: pocket.TTS,
        writer: RecordingWriter,
        gate: Gate,
        trace: TraceLevel = "full",
        on_frame: Any = None,
        voice: Tracing | None = None,
        edits: Edits | None = None,
    ) -> None:
        self.tts, self.writer, self.gate = tts, writer, gate
        self._trace = trace
        self._voice, self._edits = voice, edits
        self._voice_changes = list[Surprise]()  # since it was made
        self._rows = register_caches(tts, writer)
        began_ns = time.perf_counter_ns()
        self._tracing = Tracing(OpKnowledge(), trace, began_ns)
        self._frames = Frames(writer, self._tracing, began_ns, on_frame)
        look = trace != "off"
        self._book = ChunkBook(tts, writer, self._rows["flow_lm"], keep_values=look)
        self._flow = StateWatch("flow_lm", self._rows["flow_lm"], look=look)
        self._projections = projections_of(tts) if trace == "full" else None
        self._threads = ModelThreads(gate)
        self._fresh = fresh_codec(tts) if look else None
        self._codec = Codec(self._rows["mimi"], self._threads, look=look, fresh=self._fresh)
        self._step = 0  # the next decode step's number within the chunk
        self._notes = StepNotes(tts, look=look)
        self._dropped_latent = False  # by the last decode step: it was past EOS
        self.problem: BaseException | None = None
        """What the model or the recording raised, even if the model swallowed it."""

    @contextmanager
    def observing(self) -> Iterator[None]:
        """Wraps the model; on leaving, the model is as it was, also after an exception."""
        tts = self.tts
        with (
            following_modules(tts) if self._trace == "full" else nullcontext(),
            self._notes.listening(),
            wrapped(tts, "_expand_kv_cache", self._expand),
            wrapped(tts, "_run_flow_lm_and_increment_step", self._flow_lm),
            wrapped(tts.mimi, "decode_from_latent", self._decode),
            wrapped(tts.flow_lm.conditioner, "prepare", self._prepare),
            self._codec.noting_increments(tts),
            wrapped(tts, "_decode_audio_worker", self._threads.decoding),
        ):
            try:
                yield
            finally:
                self._threads.end()

    def finish(self, problem: str | None = None) -> None:
        """Writes what the last step left. Call when the stream has ended, however it ended."""
        self._finish_frame(wait=False, problem=problem)

    @property
    def next_frame(self) -> int:
        return self._frames.next

    def why_ended(self) -> str:
        """Why the last chunk came to its end, in words."""
        if self._dropped_latent:
            return "ended by EOS"
        return f"reached the maximum length without EOS ({self._step} frames)"

    # ---- wrappers, in the order in which the model calls them ----------------------------------

    def _prepare(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        prepared = original(*args, **kwargs)
        if not self._threads.in_caller:  # somebody asks for the budget of another text meanwhile
            return prepared
        text = args[0] if args else next(iter(kwargs.values()), "")
        self._book.next_text(str(text), pocket.token_count(prepared))
        return prepared

    def _expand(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        named = dict(zip(("model_state", "sequence_length"), args, strict=False), **kwargs)
        state, length = named["model_state"], int(named["sequence_length"])
        chunk = self._begin_chunk(state, length)
        before = caches_of(state)
        try:
            with self._tracing.part(EXPAND, self._flow.watched(state)):
                result = original(*args, **kwargs)
        finally:
            assert self._frames.pending is not None
            damaged = damaged_slots(before, caches_of(state), self._rows["flow_lm"])
            self._frames.pending.add_state(*self._flow.after(state, damaged))
        expansions = measure(chunk.id, before, caches_of(state), self._rows["flow_lm"])
        self._book.expanded(state, expansions)
        return result

    def _flow_lm(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        names = ("model_state", "text_tokens", "backbone_input_latents", "audio_conditioning")
        named = dict(zip(names, args, strict=False), **kwargs)
        latents = named.get("backbone_input_latents")
        if latents is not None and latents.shape[1] > 0:
            return self._decode_step(original, args, kwargs, named["model_state"])
        if named.get("text_tokens") is not None:
            return self._text_prefill(original, args, kwargs, named)
        return original(*args, **kwargs)

    def _decode(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        self._threads.note()
        latent, state = decode_arguments(args, kwargs)
        pending, entry = self._frames.pending, self._codec.begin_decode(state, latent)
        if pending is not None:
            pending.add_entry(*entry)
        began = time.perf_counter_ns()
        try:
            with self._tracing.part(MIMI, self._codec.watch.watched(state)):
                audio = original(*args, **kwargs)
        except BaseException as error:
            self._failed(pending, error)
            raise
        if pending is not None:
            pending.add_audio(audio, time.perf_counter_ns() - began)
        return audio

    # ---- steps ---------------------------------------------------------------------------------

    def _begin_chunk(self, state: ModelState, length: int | None) -> Chunk:
        """Closes the chunk before, opens this one, and holds before its first op."""
        self._finish_frame(wait=False)
        chunk = self._book.begin(state, length)
        self._flow.begin(state)
        self._codec.begin_chunk()
        self._notes.begin_chunk()
        self._step = 0
        if self._wants_voice_frame(state):
            self._add_voice_frame(state)
        self._begin_frame("text", state)
        if self._trace != "off" and chunk.continues is None:
            prefix = prefix_of(self.tts, chunk.id, state, projections_of(self.tts))
            if prefix is not None:
                self.writer.add_prefix(prefix)
        return chunk

    def _wants_voice_frame(self, state: ModelState) -> bool:
        """Whether the chunk that begins on `state` is the first to speak with its voice."""
        return self._frames.next == 0

    def _add_voice_frame(self, state: ModelState) -> None:
        pending = self._frames.open(self._book.current.id, "voice")
        pending.add_state(*self._flow.after(state))
        pending.add_entry({}, self._voice_changes)
        if self._voice is not None:
            self._tracing.adopt(self._voice)
        self._finish_frame(wait=False)

    def _begin_frame(
        self, phase: Literal["text", "decode"], state: ModelState, step: int = -1
    ) -> PendingFrame:
        """Holds until the frame may happen, and lets the edits act."""
        self.gate.wait_before(self._frames.next)
        pending = self._frames.open(self._book.current.id, phase, step)
        if self._edits is not None:
            try:
                self._edits.before(Moment(pending.id, phase, state, self._codec.state))
            except BaseException as error:
                self._failed(pending, error)
                raise
        pending.add_entry(*self._flow.entry(state))
        return pending

    def _text_prefill(self, original: Any, args: Any, kwargs: Any, named: Mapping[str, Any]) -> Any:
        state, tokens = named["model_state"], named["text_tokens"]
        if self._frames.pending is None or self._frames.pending.phase != "text":
            self._begin_chunk(state, None)  # a fork that does not expand its caches
        else:
            self._frames.pending.add_entry(*self._flow.entry(state))
        self._book.tokens(tokens)
        result = self._run(original, args, kwargs, state)
        self._finish_frame(wait=False)
        return result

    def _decode_step(self, original: Any, args: Any, kwargs: Any, state: ModelState) -> Any:
        self._threads.note()
        self._finish_frame(wait=True)
        if self.problem is not None:
            raise RunStopped("a latent could not be decoded")
        pending = self._begin_frame("decode", state, self._step)
        self._notes.begin()
        result = self._run(original, args, kwargs, state)
        self._step += 1
        pending.add_latent(result[0], *self._notes.stop)
        pending.fed = self._notes.fed
        self._notes.end(result[0])
        return result

    def _run(self, original: Any, args: Any, kwargs: Any, state: ModelState) -> Any:
        """One FlowLM pass under the tracer, and what it did to the state."""
        pending = self._frames.pending
        assert pending is not None
        watched = self._flow.watched(state)
        pending.rng = torch.get_rng_state().numpy().tobytes()
        began = time.perf_counter_ns()
        try:
            with self._tracing.part(FLOW_LM, watched):
                result = original(*args, **kwargs)
        except BaseException as error:
            self._failed(pending, error)
            raise
        finally:
            # After an exception too: it shows how far the step had come.
            pending.flow_lm_ns = time.perf_counter_ns() - began
            changes = self._flow.after(state, self._tracing.written(FLOW_LM))
            pending.add_state(*changes)
            if self._projections is not None:
                strangers = self._projections.surprises(changes[1], self._rows["flow_lm"])
                pending.add_entry({}, strangers)
        return result

    def _failed(self, pending: PendingFrame | None, error: BaseException) -> None:
        self.problem = error
        if pending is not None:
            pending.failed(error)
        if not isinstance(error, Exception):
            # The model's threads catch nothing else, and those who wait for them would for ever.
            raise RuntimeError(f"the model's code raised {type(error).__name__}") from error

    def _finish_frame(self, *, wait: bool, problem: str | None = None) -> None:
        """Writes the pending frame; `wait` for its latent to be decoded first."""
        pending = self._frames.pending
        if pending is None:
            return
        if wait:
            self._threads.wait(pending.decoded, pending.chunk)
        if pending.audio is not None:
            self._codec.settle(pending.chunk)
        if wait and self._threads.nobody_decodes(pending.chunk):
            raise RunStopped("the decoding thread has ended")  # its error comes by the caller
        self._dropped_latent = pending.phase == "decode" and pending.audio is None
        if self._codec.state is not None:
            written = self._tracing.written(MIMI)
            pending.add_state(*self._codec.watch.after(self._codec.state, written))
            pending.add_entry({}, self._codec.lost(self._tracing.calls(MIMI)))
        try:
            self._frames.close(problem)
        except UnwritableRecording as error:
            self.problem = error
            raise
