"""dtype-mismatch and device-mismatch: tensors that do not fit the layers they serve."""

from kvstudio.analysis.finding import Finding, frame_words, layer_of
from kvstudio.analysis.tensors import Mismatch, mismatches
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame

FOLLOWS = {
    "dtype": "The values lose precision at every step, or the layer raises",
    "device": "The layer raises as soon as it uses the tensor",
}


def check_tensors(recording: Recording) -> list[Finding]:
    """One finding per tensor and property, at the first frame that shows it."""
    first: dict[tuple[str, str, str, str], tuple[Frame, Mismatch]] = {}
    for frame in recording.frames_with_other_tensors():
        for found in mismatches(recording.caches, recording.tensors(frame)):
            key = (found.model, found.entry, found.key, found.what)
            first.setdefault(key, (recording.frames[frame], found))
    return [_finding(recording, frame, found) for frame, found in first.values()]


def _finding(recording: Recording, frame: Frame, found: Mismatch) -> Finding:
    message = (
        f"{found.words}, seen after {frame_words(frame)}. {FOLLOWS[found.what]}. Was the model "
        "moved or converted after the voice state was made? Make the state again, or move it too."
    )
    cache = None if found.cache is None else recording.caches[found.cache]
    return Finding(
        kind=f"{found.what}-mismatch",
        severity="error",
        message=message[0].upper() + message[1:],
        frame=frame.id,
        phase=frame.phase,
        layer=found.entry if cache is None else layer_of(cache),
    )
