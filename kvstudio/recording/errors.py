"""What can go wrong with a recording or a run spec, in words a user can act on.

KVStudioError
├── SpecError              a run spec that cannot be run
├── ProtocolError          a message that is not of the protocol
└── RecordingError         a file that cannot be read or written
    ├── NotARecording
    ├── TruncatedRecording
    ├── NewerRecording
    ├── OlderRecording
    ├── DamagedRecording
    └── UnwritableRecording
"""

from pathlib import Path


class KVStudioError(Exception):
    """Base of every error that KVStudio raises on purpose; its text is shown to the user."""


class SpecError(KVStudioError):
    pass


class ProtocolError(KVStudioError):
    pass


class RecordingError(KVStudioError):
    """A recording that cannot be read or written; `path` says which."""

    def __init__(self, path: str | Path, what: str) -> None:
        super().__init__(f"{path}: {what}")
        self.path = Path(path)
        self.what = what


class NotARecording(RecordingError):
    pass


class TruncatedRecording(RecordingError):
    pass


class NewerRecording(RecordingError):
    pass


class OlderRecording(RecordingError):
    pass


class DamagedRecording(RecordingError):
    pass


class UnwritableRecording(RecordingError):
    pass
