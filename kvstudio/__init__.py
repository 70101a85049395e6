"""KVStudio: a step debugger for the KV cache of pocket-tts."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from kvstudio.analysis.report import Report

__version__ = "0.1.0"


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
