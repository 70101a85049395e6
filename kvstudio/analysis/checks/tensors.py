"""dtype-mismatch and device-mismatch: tensors that do not fit the layers they serve."""

from collections.abc import Sequence

from kvstudio.analysis.finding import Finding, Link, frame_words, layer_of, sentence
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.tensors import Mismatch, mismatches
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame, TensorState

FOLLOWS = {
    "dtype": "The values lose precision at every step, or the layer raises",
    "device": "The layer raises as soon as it uses the tensor",
}


class TensorsCheck:
    """What is wrong in the same way from the same frame on is one finding."""

    def __init__(self) -> None:
        self._tensors: dict[tuple[str, str, str], TensorState] = {}
        self._known: set[tuple[str, str, str, str]] = set()
        self._found: list[Finding] = []

    def look(self, view: FrameView) -> None:
        others = False
        for tensor in view.changed_tensors:
            key = (tensor.model, tensor.entry, tensor.key)
            known = self._tensors.get(key)
            kept = known and (known.dtype, known.device) == (tensor.dtype, tensor.device)
            others = others or not kept
            self._tensors[key] = tensor
        if others:
            self._look_at_all(view)

    def findings(self, recording: Recording) -> list[Finding]:
        return list(self._found)

    def _look_at_all(self, view: FrameView) -> None:
        groups: dict[tuple[str, str, str, str], list[Mismatch]] = {}
        for found in mismatches(view.recording.caches, list(self._tensors.values())):
            name = (found.model, found.entry, found.key, found.what)
            if name not in self._known:
                self._known.add(name)
                alike = (found.model, found.what, found.found, found.expected)
                groups.setdefault(alike, []).append(found)
        self._found += [_finding(view.recording, view.frame, group) for group in groups.values()]


def _finding(recording: Recording, frame: Frame, group: Sequence[Mismatch]) -> Finding:
    first = group[0]
    more = f" ({len(group) - 1} more like it)" if len(group) > 1 else ""
    message = (
        f"{first.words}, seen after {frame_words(frame)}{more}. {FOLLOWS[first.what]}. Was the "
        "model moved or converted after the voice state was made? Make the state again, or move "
        "it too."
    )
    caches = {(cache.model, cache.name): cache for cache in recording.caches}
    cache = caches.get((first.model, first.entry))
    named = [caches.get((found.model, found.entry)) for found in group]
    return Finding(
        kind=f"{first.what}-mismatch",
        severity="error",
        message=sentence(message),
        frame=frame.id,
        phase=frame.phase,
        layer=first.entry if cache is None else layer_of(cache),
        chain=(Link(first.words, frame=frame.id, cache=None if cache is None else cache.id),),
        count=len(group),
        cache=None if cache is None else cache.id,
        caches=tuple(sorted({each.id for each in named if each is not None})),
    )
