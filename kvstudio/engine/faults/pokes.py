"""Changes the content of chosen slots, once."""

from collections.abc import Mapping

import torch

from kvstudio.engine.faults.live import Live
from kvstudio.engine.faults.registry import spoiler
from kvstudio.engine.faults.speaking import listened_state
from kvstudio.engine.state import offset_of
from kvstudio.recording.errors import SpecError

HALF = {"K": slice(0, 1), "V": slice(1, 2), "both": slice(0, 2)}
SHOWS = (0, 1)  # frames until it is seen: what is poked into a voice, at its frame or the next


@spoiler("poke-nan")
def poke_nan(live: Live) -> None:
    for _, entry in live.entries():
        target(live, entry["cache"], slots_of(live, entry)).fill_(float("nan"))


@spoiler("poke-zero")
def poke_zero(live: Live) -> None:
    for _, entry in live.entries():
        target(live, entry["cache"], slots_of(live, entry)).zero_()


@spoiler("poke-copy")
def poke_copy(live: Live) -> None:
    for _, entry in live.entries():
        source = slot_in(live, entry, "source")
        copied = target(live, entry["cache"], (source, source + 1)).clone()
        target(live, entry["cache"], slots_of(live, entry)).copy_(copied)


@spoiler("poke-voice")
def poke_voice(live: Live) -> None:
    other = _other_voice(live)
    names = [name for name, _ in live.attentions()]
    for layer, entry in live.entries():
        theirs = other[names[layer]]
        first, last = slots_of(live, entry)
        if last > (offset_of(theirs) or 0):
            raise SpecError(
                f"{live.edit.recipe}: the other voice has slots 0 to {(offset_of(theirs) or 0) - 1}"
                f", so slot {last - 1} cannot come from it"
            )
        copied = target(live, theirs["cache"], (first, last))
        target(live, entry["cache"], (first, last)).copy_(copied)


def target(live: Live, cache: torch.Tensor, slots: tuple[int, int]) -> torch.Tensor:
    """The part of a cache `[2, B, T, H, D]` that the arguments mean, as a view."""
    heads, head = cache.shape[3], live.arguments["head"]
    if head is not None and int(head) >= heads:
        raise SpecError(
            f"{live.edit.recipe}: there is no head {head}; K and V have heads 0 to {heads - 1}"
        )
    chosen = slice(None) if head is None else slice(int(head), int(head) + 1)
    return cache[HALF[str(live.arguments["kv"])], :, slots[0] : slots[1], chosen]


def slots_of(live: Live, entry: Mapping[str, torch.Tensor]) -> tuple[int, int]:
    """The slots `[first, last)` that the arguments `slot` and `count` mean, noted as the truth."""
    first = slot_in(live, entry, "slot")
    last = first + live.number("count")
    slot_in_range(live, entry, last - 1)
    live.note(live.layers(), (first, last), after=SHOWS)
    return first, last


def slot_in(live: Live, entry: Mapping[str, torch.Tensor], name: str) -> int:
    """The slot that an argument means; negative ones count back from the offset."""
    asked = live.number(name)
    slot = asked if asked >= 0 else (offset_of(entry) or 0) + asked
    return slot_in_range(live, entry, slot)


def slot_in_range(live: Live, entry: Mapping[str, torch.Tensor], slot: int) -> int:
    capacity = entry["cache"].shape[2]
    if not 0 <= slot < capacity:
        raise SpecError(
            f"{live.edit.recipe}: there is no slot {slot} before frame {live.clock.frame}; the "
            f"cache has slots 0 to {capacity - 1}"
        )
    return slot


def _other_voice(live: Live) -> Mapping[str, Mapping[str, torch.Tensor]]:
    from kvstudio.engine.voices import make_voice

    name = str(live.arguments["voice"])
    if name == "noise":
        slots = live.number("count") + max(0, live.number("slot"))
        noise: Mapping[str, Mapping[str, torch.Tensor]]
        noise = listened_state(live.tts, slots, live.seed())
        return noise
    return make_voice(live.tts, name, live.demo).state
