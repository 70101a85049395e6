"""KVStudio: a step debugger for the KV cache of pocket-tts."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from kvstudio.analysis.report import Report
    from kvstudio.recording.spec import TraceLevel

__version__ = "0.2.0"


def record(
    model: Any,  # noqa: ANN401 -- a TTSModel of any release or fork
    path: "str | Path",
    *,
    trace: "TraceLevel" = "full",
    overwrite: bool = False,
) -> "AbstractContextManager[Path]":
    """Records whatever is done with a pocket-tts model while entered, without changing results.

    with kvstudio.record(model, "run.kvrec"):
        model.generate_audio(state, "Hello world.")

    Args:
        model: a `TTSModel`; when the block ends it is as it was, however the block ends.
        path: of the recording, which grows as the model runs and can be watched meanwhile.
        trace: `full` records every aten op, `cache` only slots and state, `off` only frames.
        overwrite: whether a recording of that name may be replaced.

    Raises:
        KVStudioError: on entering, before the model is touched: the model cannot be recorded or is
            being recorded already, the file exists or cannot be written, or an unknown trace level.
    """
    from kvstudio.engine.attach import record

    return record(model, path, trace=trace, overwrite=overwrite)


def check(path: "str | Path") -> "Report":
    """The report of a recording: its verdict and its findings.

    Raises:
        kvstudio.recording.errors.RecordingError: the file cannot be read, see its kinds.
    """
    # Imported here so that `import kvstudio` costs nothing.
    from kvstudio.analysis.checker import check
    from kvstudio.recording.reader import Recording

    with Recording.open(path) as recording:
        return check(recording)
