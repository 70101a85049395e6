"""What the engine holds: a model, a voice, and at most one run."""

import gc
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from kvstudio.engine import cards, pocket
from kvstudio.engine.failures import explain
from kvstudio.engine.faults.plan import FaultPlan
from kvstudio.engine.gate import Gate, RunStopped
from kvstudio.engine.live_checks import LiveChecks, News
from kvstudio.engine.observer import Observer
from kvstudio.engine.progress import ProgressReporter, reported_downloads
from kvstudio.engine.projections import projections_of
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
        self.plan: FaultPlan | None = None
        """What the edits do to the run for which a recording was opened last."""
        self._speaker: Voice | None = None  # the voice of that run

    # ---- model and voice ----------------------------------------------------------------------

    def load(self, source: ModelSource) -> dict[str, Any]:
        """Loads a model, unless it is the one loaded; the model's card."""
        _require_device(source.device)
        self.reporter.step(f"loading {source.title}")
        with reported_downloads(self.reporter):
            tts = pocket.load_model(source)
        self.reporter.check()
        projections_of(tts)  # takes a second with a large model, and a run is not to wait for it
        self.adopt(tts, source)
        return cards.model_card(tts, source)

    def adopt(self, tts: pocket.TTS, source: ModelSource) -> None:
        """Takes a model that has been loaded; `source` says what it is."""
        self.tts, self.source, self.voice = tts, source, None
        self._settings = pocket.Settings(tts)
        _set_aside()

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
        """A new recording of `spec`, with what is known before the run.

        Raises:
            SpecError: an edit that cannot be applied to this run.
            UnwritableRecording: the file cannot be made.
        """
        tts = self._loaded()
        assert self.source is not None
        self.plan = FaultPlan(tts, spec.edits, demo=self.source.kind == "demo")
        self._speaker = self._voice_for(spec, self.plan)
        return RecordingWriter(
            path,
            spec,
            cards.versions(),
            sample_rate=int(tts.sample_rate),
            frame_rate=float(tts.mimi.frame_rate),
            model=cards.model_card(tts, self.source),
            voice=self._speaker.card,
        )

    def run(
        self,
        spec: RunSpec,
        writer: RecordingWriter,
        gate: Gate,
        on_frame: Callable[[int], None] | None = None,
        on_news: Callable[[News], None] | None = None,
    ) -> Outcome:
        """Runs the spec into the recording, held at the gate, and closes it; never raises.

        Args:
            spec: what to run.
            writer: of the recording.
            gate: where the run is held.
            on_frame: told of each frame once it is in the recording, with its findings.
            on_news: told what the checks found, unless nothing is traced.
        """
        self._writer = writer
        checks = LiveChecks(
            writer, checking=spec.trace != "off", on_frame=on_frame, on_news=on_news
        )
        try:
            outcome = self._run(spec, writer, gate, checks.frame_added)
        except Exception as error:  # noqa: BLE001 -- a model or a disk where nothing could begin
            outcome = Outcome("failed", *explain(error, "beginning the run"))
        checks.finish(outcome.status)
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
        on_frame: Callable[[int], None],
    ) -> Outcome:
        tts, plan, voice = self._loaded(), self.plan, self._speaker
        assert plan is not None
        assert voice is not None
        assert self._settings is not None
        observer = Observer(tts, writer, gate, spec.trace, on_frame, voice.trace, plan)
        self._settings.apply(tts, spec)
        if voice is self.voice:
            self._voice_used = not spec.copy_state
        try:
            outcome = self._observe(spec, observer, gate, plan, voice)
        finally:
            self._settings.restore(tts)
        missed = "".join(f"; {edit} never took place" for edit in plan.unused)
        return replace(outcome, reason=outcome.reason + missed)

    def _voice_for(self, spec: RunSpec, plan: FaultPlan) -> Voice:
        """The voice of a run; made afresh, and for this run alone, if an edit changes it."""
        assert self.voice is not None
        if spec.edits:
            plan.require_reachable(self.budget(spec.text, spec.max_tokens))
        if not plan.spoils_voice:
            return self.voice
        self.reporter.step(f"making voice {spec.voice} with edits")
        demo = self.source is not None and self.source.kind == "demo"
        with plan.making():
            voice = make_voice(self._loaded(), spec.voice, demo)
        plan.spoil(voice.state)
        return voice

    def _observe(
        self, spec: RunSpec, observer: Observer, gate: Gate, plan: FaultPlan, voice: Voice
    ) -> Outcome:
        tts = self._loaded()
        arguments = pocket.stream_arguments(tts, spec, gate.end)
        try:
            with plan.doors(), observer.observing(), plan.applied():
                torch.manual_seed(spec.seed)
                stream = tts.generate_audio_stream(voice.state, spec.text, **arguments)
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


def _set_aside() -> None:
    """Spares the garbage collector the model and its libraries, half a million objects.

    The ops of a frame are so many that it would walk through them every few frames.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _require_device(device: str) -> None:
    known = cards.devices()
    if device.partition(":")[0] not in {each.partition(":")[0] for each in known}:
        raise SpecError(f"there is no device {device!r} here; there is {', '.join(known)}")
