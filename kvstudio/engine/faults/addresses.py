"""A tensor on the wrong device, or another one than the model means."""

from typing import Any

from kvstudio.engine.faults.live import Live
from kvstudio.engine.faults.registry import patch, spoiler
from kvstudio.recording.errors import SpecError


@spoiler("wrong-device")
def wrong_device(live: Live) -> None:
    name = str(live.arguments["tensor"])
    for _, entry in live.entries():
        entry[name] = entry[name].to("meta")
    live.note(live.layers())


@patch("stale-address")
def stale_address(live: Live) -> None:
    kept = {}
    for layer, entry in live.entries():
        kept[layer] = entry["cache"]
        entry["cache"] = entry["cache"].clone()

    def write(original: Any, layer: int, cache: Any, offset: Any, k: Any, v: Any) -> Any:
        begin, end = int(offset), int(offset) + k.shape[1]
        original(kept[layer], offset, k, v)
        live.note(live.layers(), (begin, end))
        return cache[0, :, :end], cache[1, :, :end]

    live.around_append(write)


@patch("frozen-slot")
def frozen_slot(live: Live) -> None:
    frozen: dict[int, Any] = {}

    def write(original: Any, layer: int, cache: Any, offset: Any, k: Any, v: Any) -> Any:
        begin, end = int(offset), int(offset) + k.shape[1]
        original(cache, frozen.setdefault(layer, offset.clone()), k, v)
        if int(frozen[layer]) != begin:
            live.note(live.layers(), (begin, end))
        return cache[0, :, :end], cache[1, :, :end]

    live.around_append(write)


@spoiler("shared-cache")
def shared_cache(live: Live) -> None:
    state: Any = live.state
    names = [name for name, _ in live.attentions()]
    layer = live.number("layer")
    if layer >= len(names):
        raise SpecError(f"{live.edit.recipe}: there is no layer {layer}")
    state[names[layer]]["cache"] = state[names[0]]["cache"]
    live.note((0, layer), (0, live.offset() + 1))
