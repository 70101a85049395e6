"""`kvstudio.record`: a recording of whatever a script does with a model that it has loaded itself.

    with kvstudio.record(tts, "run.kvrec"):
        tts.generate_audio(state, "Hello world.")

The script may call what it likes, from any thread. It gets what it would get without us.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from kvstudio.engine import cards, pocket
from kvstudio.engine.failures import explain
from kvstudio.engine.live_checks import LiveChecks
from kvstudio.engine.overlay import is_overlaid
from kvstudio.engine.script_shared import Shared
from kvstudio.engine.script_watch import ScriptWatch
from kvstudio.recording.errors import (
    KVStudioError,
    NotARecording,
    RecordingError,
    UnwritableRecording,
)
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import LogLine
from kvstudio.recording.spec import ModelSource, RunSpec, TraceLevel
from kvstudio.recording.writer import RecordingWriter

NEEDED = (
    "_run_flow_lm_and_increment_step",
    "flow_lm.conditioner.prepare",
    "flow_lm.out_eos.forward",
    "mimi.decode_from_latent",
)


class AttachError(KVStudioError):
    """A model that cannot be recorded, with the reason."""


@contextmanager
def record(
    tts: pocket.TTS, path: str | Path, *, trace: TraceLevel = "full", overwrite: bool = False
) -> Iterator[Path]:
    """While entered, records what is done with `tts`; see `kvstudio.record`."""
    _require_model(tts)
    path = Path(path)
    spec = _spec(tts, trace)
    if overwrite:
        _remove(path)
    writer = _writer(tts, path, spec)
    checks = LiveChecks(writer, checking=trace != "off")
    shared = Shared(tts, writer, trace, checks.frame_added)
    shared.gate.run()  # nothing is held
    watch = ScriptWatch(shared)
    try:
        with watch.watching():
            yield path
    except BaseException as error:
        status, reason = _how_it_ended(error, writer)
        with suppress(Exception):  # the script is to get its own
            _finish(watch, checks, writer, status, reason)
        raise
    _finish(watch, checks, writer, "finished", "the script came to the end of its block")


def _finish(
    watch: ScriptWatch, checks: LiveChecks, writer: RecordingWriter, status: str, reason: str
) -> None:
    try:
        watch.close()
        if watch.problem is not None:
            status, reason = "failed", watch.problem
        checks.finish(status)
    finally:
        writer.finish(status, reason)


def _how_it_ended(error: BaseException, writer: RecordingWriter) -> tuple[str, str]:
    """(status, reason) after an exception of the script's, which is kept in the log."""
    if isinstance(error, Exception):
        reason, detail = explain(error, "the recorded script")
        with suppress(KVStudioError):
            writer.add_log([LogLine(time.time(), "stderr", detail)])
        return "failed", reason
    words = {KeyboardInterrupt: "interrupted by the user", SystemExit: "the script exited"}
    return "stopped", words.get(type(error), f"ended by {type(error).__name__}")


# ---- before anything is touched ----------------------------------------------------------------


def _require_model(tts: Any) -> None:
    """Raises AttachError if this is not a model that can be recorded, or one that is."""
    kind = type(tts).__name__
    if not isinstance(tts, torch.nn.Module):
        raise AttachError(f"record() needs a pocket-tts TTSModel, not {kind}")
    missing = [name for name in NEEDED if _look_up(tts, name) is None]
    if missing:
        raise AttachError(
            f"record() needs a pocket-tts TTSModel: this {kind} has no {', '.join(missing)}"
        )
    if is_overlaid(tts):
        raise AttachError(
            "this model is being recorded already: leave the other `with record(...)` block first"
        )


def _look_up(tts: Any, name: str) -> Any:
    found = tts
    for each in name.split("."):
        found = getattr(found, each, None)
    return found


def _spec(tts: Any, trace: TraceLevel) -> RunSpec:
    """What is known of the run. Its seed, text and voice are the script's business."""
    settings = pocket.Settings(tts).defaults
    source = ModelSource(
        "script",
        pocket.origin(tts) or type(tts).__name__,
        quantize=bool(cards.quantization(tts)),
        device=str(tts.device),
    )
    temperature, threshold = settings.get("temp"), settings.get("eos_threshold")
    return RunSpec(
        model=source,
        voice="of a script",
        text="",
        seed=0,
        temperature=None if temperature is None else float(temperature),
        eos_threshold=None if threshold is None else float(threshold),
        trace=trace,
    )


def _writer(tts: Any, path: Path, spec: RunSpec) -> RecordingWriter:
    return RecordingWriter(
        path,
        spec,
        cards.versions(),
        sample_rate=int(tts.sample_rate),
        frame_rate=float(tts.mimi.frame_rate),
        model=cards.model_card(tts, spec.model),
        voice={"source": spec.voice},
    )


def _remove(path: Path) -> None:
    """Makes room for a recording; nothing but a recording that is over is ever overwritten."""
    if not os.path.lexists(path):
        return
    live = False
    try:
        with Recording.open(path) as before:
            live = before.live
    except NotARecording as error:
        raise UnwritableRecording(path, "is not a recording, so it is not overwritten") from error
    except RecordingError:
        live = False  # damaged, or of another version
    if live:
        raise UnwritableRecording(path, "is being written at the moment; choose another name")
    try:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
    except OSError as error:
        raise UnwritableRecording(path, f"cannot be overwritten: {error.strerror}") from error
