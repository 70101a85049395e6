"""What the engine holds: a model, a voice, and at most one run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from kvstudio.engine import cards, pocket
from kvstudio.engine.failures import explain
from kvstudio.engine.gate import Gate, RunStopped
from kvstudio.engine.observer import Observer
from kvstudio.engine.progress import ProgressReporter, reported_downloads
from kvstudio.engine.voices import Voice, make_voice
from kvstudio.recording.errors import KVStudioError, SpecError
from kvstudio.recording.rows import LogLine
from kvstudio.recording.spec import ModelSource, RunSpec
from kvstudio.recording.writer import RecordingWriter


@dataclass(frozen=True)
class Outcome:
    """How a run ended: finished, stopped or failed, and why in words."""

    status: str
    reason: str
    detail: str = ""


class Session:
    """Loads, makes voices and runs specs, one thing at a time, on the thread that calls.

    Args:
        reporter: told of the progress of loading; cancelling goes through it.
        drain: waits until what the model has printed so far has been given to `log`.
    """

    def __init__(
        self, reporter: ProgressReporter, drain: Callable[[], None] = lambda: None
    ) -> None:
        self.reporter = reporter
        self._drain = drain
        self.tts: pocket.TTS | None = None
        self.source: ModelSource | None = None
        self.voice: Voice | None = None
        self._settings: pocket.Settings | None = None
        self._writer: RecordingWriter | None = None
        self._voice_used = False

    # ---- model and voice ----------------------------------------------------------------------

    def load(self, source: ModelSource) -> dict[str, Any]:
        """Loads a model, unless it is the one loaded; the model's card."""
        _require_device(source.device)
        self.reporter.step(f"loading {source.title}")
        with reported_downloads(self.reporter):
            tts = pocket.load_model(source)
        self.reporter.check()
        self.tts, self.source, self.voice = tts, source, None
        self._settings = pocket.Settings(tts)
        return cards.model_card(tts, source)

    def make_voice(self, source: str) -> dict[str, Any]:
        """Makes the voice state for the loaded model; the voice's card."""
        self.reporter.step(f"making voice {source}")
        demo = self.source is not None and self.source.kind == "demo"
        with reported_downloads(self.reporter):
            voice = make_voice(self._loaded(), source, demo)
        self.reporter.check()
        self.voice, self._voice_used = voice, False
        return voice.card

    def budget(self, text: str, max_tokens: int | None) -> list[dict[str, Any]]:
        """The length budget of a text, a chunk each; see `protocol.Budgeted`."""
        slots = self.voice.card["slots"] if self.voice else 0
        return cards.budget(self._loaded(), text, max_tokens, slots)

    def is_loaded(self, spec: RunSpec) -> bool:
        return self.tts is not None and self.source == spec.model

    def has_voice(self, spec: RunSpec) -> bool:
        """Whether the voice state is the spec's, and untouched by an in-place run."""
        fresh = self.voice is not None and not self._voice_used
        return fresh and self.voice is not None and self.voice.card["source"] == spec.voice

    # ---- runs ---------------------------------------------------------------------------------

    def open_recording(self, spec: RunSpec, path: Path) -> RecordingWriter:
        """A new recording of `spec`, with what is known before the run."""
        tts = self._loaded()
        if spec.edits:
            raise SpecError(f"unknown recipe {spec.edits[0].recipe!r}: there are no recipes yet")
        assert self.voice is not None
        assert self.source is not None
        return RecordingWriter(
            path,
            spec,
            cards.versions(),
            sample_rate=int(tts.sample_rate),
            frame_rate=float(tts.mimi.frame_rate),
            model=cards.model_card(tts, self.source),
            voice=self.voice.card,
        )

    def run(
        self,
        spec: RunSpec,
        writer: RecordingWriter,
        gate: Gate,
        on_frame: Callable[[int], None] | None = None,
    ) -> Outcome:
        """Runs the spec into the recording, held at the gate, and closes it; never raises."""
        self._writer = writer
        try:
            outcome = self._run(spec, writer, gate, on_frame)
        except Exception as error:  # noqa: BLE001 -- a model or a disk where nothing could begin
            outcome = Outcome("failed", *explain(error, "beginning the run"))
        self._drain()
        self._writer = None
        writer.finish(outcome.status, outcome.reason)
        return outcome

    def log(self, line: LogLine) -> None:
        """Keeps what the model printed in the recording of the run, if there is one."""
        writer = self._writer
        if writer is not None:
            try:
                writer.add_log([line])
            except KVStudioError:
                return  # the run itself reports what is wrong with the file

    # ---- private ------------------------------------------------------------------------------

    def _loaded(self) -> pocket.TTS:
        if self.tts is None:
            raise SpecError("no model is loaded")
        return self.tts

    def _run(
        self,
        spec: RunSpec,
        writer: RecordingWriter,
        gate: Gate,
        on_frame: Callable[[int], None] | None,
    ) -> Outcome:
        tts = self._loaded()
        assert self.voice is not None
        assert self._settings is not None
        observer = Observer(tts, writer, gate, spec.trace, on_frame, self.voice.trace)
        self._settings.apply(tts, spec)
        self._voice_used = not spec.copy_state
        try:
            return self._observe(spec, observer, gate)
        finally:
            self._settings.restore(tts)

    def _observe(self, spec: RunSpec, observer: Observer, gate: Gate) -> Outcome:
        assert self.tts is not None
        assert self.voice is not None
        arguments = pocket.stream_arguments(self.tts, spec, gate.end)
        try:
            with observer.observing():
                torch.manual_seed(spec.seed)
                stream = self.tts.generate_audio_stream(self.voice.state, spec.text, **arguments)
                for _ in stream:
                    pass
                observer.finish()
        except KeyboardInterrupt:
            gate.stop()
        except BaseException as error:  # noqa: BLE001 -- the model's code may raise anything
            if not (gate.stopped or isinstance(error, RunStopped)):
                observer.problem = observer.problem or error
        if observer.problem is not None:
            return self._failed(observer, observer.problem)
        if gate.stopped:
            return Outcome("stopped", f"stopped before frame {observer.next_frame}")
        return Outcome("finished", observer.why_ended())

    def _failed(self, observer: Observer, error: BaseException) -> Outcome:
        message, detail = explain(error, f"frame {observer.next_frame}")
        try:
            observer.finish(problem=message)
        except KVStudioError as unwritable:
            message = str(unwritable)
        return Outcome("failed", message, detail)


def _require_device(device: str) -> None:
    known = cards.devices()
    if device.partition(":")[0] not in {each.partition(":")[0] for each in known}:
        raise SpecError(f"there is no device {device!r} here; there is {', '.join(known)}")
