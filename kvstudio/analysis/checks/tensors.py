"""dtype-mismatch and device-mismatch: tensors that do not fit the layers they serve."""

from kvstudio.analysis.finding import Finding, Link, frame_words, layer_of
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.tensors import Mismatch, mismatches
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame, TensorState

FOLLOWS = {
    "dtype": "The values lose precision at every step, or the layer raises",
    "device": "The layer raises as soon as it uses the tensor",
}


class TensorsCheck:
    """One finding per tensor and property, at the first frame that shows it."""

    def __init__(self) -> None:
        self._tensors: dict[tuple[str, str, str], TensorState] = {}
        self._found: dict[tuple[str, str, str, str], Finding] = {}

    def look(self, view: FrameView) -> None:
        others = False
        for tensor in view.changed_tensors:
            key = (tensor.model, tensor.entry, tensor.key)
            known = self._tensors.get(key)
            kept = known and (known.dtype, known.device) == (tensor.dtype, tensor.device)
            others = others or not kept
            self._tensors[key] = tensor
        if others:
            caches = view.recording.caches
            for found in mismatches(caches, list(self._tensors.values())):
                name = (found.model, found.entry, found.key, found.what)
                if name not in self._found:
                    self._found[name] = _finding(view.recording, view.frame, found)

    def findings(self, recording: Recording) -> list[Finding]:
        return list(self._found.values())


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
        chain=(Link(found.words, frame=frame.id, cache=found.cache),),
        cache=found.cache,
        caches=() if found.cache is None else (found.cache,),
    )
