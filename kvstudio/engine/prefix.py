"""What a chunk begins with, held against what the model's own weights make of a prefix."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kvstudio.engine import pocket
from kvstudio.engine.contents import slot_values
from kvstudio.engine.marker import marker_of
from kvstudio.engine.projections import Projections
from kvstudio.engine.state import ModelState, offset_of
from kvstudio.recording.evidence import Prefix
from kvstudio.recording.rows import Floats

# Relative error of the marker: int8 against float32 is at 0.02, the nearest other slot at 0.95.
LIKE_MARKER = 0.3
# Share of K and V that sticks out: a float32 state for an int8 model is at 0.016, a foreign one
# at 0.7.
FOREIGN = 0.1
ASKED = 4  # slots of a layer that are looked at closely


def prefix_of(
    tts: pocket.TTS, chunk: int, state: ModelState, projections: Projections
) -> Prefix | None:
    """The prefix of a chunk that is about to be fed its text; None if there are no values.

    Args:
        tts: the model that will speak with it.
        chunk: id of the chunk.
        state: FlowLM's, before the text.
        projections: of the model's layers.
    """
    contents = _contents(tts, state)
    if contents is None:
        return None
    first = next(iter(contents.values()))
    marker = marker_of(tts)
    return Prefix(
        chunk=chunk,
        marker_wanted=marker.wanted,
        marker_slot=_marker_slot(first, marker.kv),
        foreign_slots=_foreign_slots(contents, projections),
        voice_slots=first.shape[2],
    )


def _contents(tts: pocket.TTS, state: ModelState) -> Mapping[str, Floats] | None:
    """The slots in use of every layer, `[2, B, S, H, D]`, by state key."""
    contents = {}
    for name in pocket.attention_modules(tts.flow_lm):
        entry = state.get(name, {})
        if "cache" not in entry:
            return None
        used = min(offset_of(entry) or 0, entry["cache"].shape[2])
        values = slot_values(entry["cache"], 0, used)
        if values is None:
            return None
        contents[name] = values
    return contents or None


def _marker_slot(content: Floats, marker: Floats | None) -> int | None:
    """The last slot that holds the marker; K is turned with the slot, so but for slot 0 V tells."""
    slots = np.moveaxis(content[:, 0], 0, 1)  # [S, 2, H, D]
    if marker is None or slots.shape[2:] != marker.shape[1:] or not len(slots):
        return None
    like = _error(slots[:, 1], marker[1]) < LIKE_MARKER
    like[0] &= _error(slots[:1], marker)[0] < LIKE_MARKER
    found = np.flatnonzero(like)
    return int(found[-1]) if len(found) else None


def _error(found: Floats, expected: Floats) -> NDArray[np.float32]:
    """Relative, of each along the first axis."""
    differences = (found - expected).reshape(len(found), -1)
    error: NDArray[np.float32] = np.linalg.norm(differences, axis=1) / np.linalg.norm(expected)
    return error


def _foreign_slots(contents: Mapping[str, Floats], projections: Projections) -> int | None:
    """Slots that the weights of some layer cannot have made, None if no layer can tell."""
    foreign: NDArray[np.bool_] | None = None
    for name, content in contents.items():
        layer = projections.layer(name)
        keys, values = content[0, 0], content[1, 0]
        if layer is None or keys.shape[1:] != (layer.heads, layer.dim):
            continue
        wrong = ~layer.fits(keys, values, np.arange(len(keys)), FOREIGN)
        slots = np.flatnonzero(wrong)
        asked = slots[:: max(1, len(slots) // ASKED)][:ASKED]
        # They may also be the layer's own in another place, which is another matter.
        looks = [layer.what(keys[slot], values[slot], int(slot)) for slot in asked]
        if 2 * looks.count("foreign") < len(looks):
            wrong[:] = False
        foreign = wrong if foreign is None or foreign.shape != wrong.shape else foreign | wrong
    return None if foreign is None else int(foreign.sum())
