"""Surprises about KV caches: what somebody changed between two steps."""

from kvstudio.analysis.finding import Slots
from kvstudio.analysis.frame_view import FrameView
from kvstudio.recording.evidence import Found
from kvstudio.recording.rows import Cache


def changed_slots(
    view: FrameView, model: str, what: Found = "changed"
) -> list[tuple[Cache, Slots]]:
    """Caches of which slots changed between the step before and this one, or were else found so."""
    caches = _caches(view, model)
    found: dict[int, Slots] = {}
    for each in view.surprises:
        cache = caches.get(each.entry)
        if (each.model, each.key, each.found) != (model, "cache", what) or cache is None:
            continue
        if each.first is not None and each.last is not None:
            found.setdefault(cache.id, (each.first, each.last))
    return [(view.recording.caches[number], slots) for number, slots in sorted(found.items())]


def stepped_by_others(view: FrameView, model: str) -> list[tuple[Cache, Slots]]:
    """Caches of which the offset moved and slots changed: somebody else took steps on the state."""
    caches = _caches(view, model)
    moved = {
        caches[each.entry].id
        for each in view.surprises
        if (each.model, each.key, each.found) == (model, "offset", "changed")
        and each.entry in caches
    }
    return [(cache, slots) for cache, slots in changed_slots(view, model) if cache.id in moved]


def _caches(view: FrameView, model: str) -> dict[str, Cache]:
    return {cache.name: cache for cache in view.recording.caches if cache.model == model}
