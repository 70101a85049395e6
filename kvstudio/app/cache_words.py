"""Caches, slots and touches in the window's words: `L2`, `K 0-52`, `writes V 52 of L2`."""

from collections.abc import Mapping, Sequence

from kvstudio.recording.rows import Cache, Touch

KV_WORDS = ("K", "V", "K+V")


def cache_label(cache: Cache) -> str:
    """`L2` for a FlowLM layer, `D0` and `E0` for layers of Mimi's decoder and encoder."""
    if cache.model == "flow_lm":
        return f"L{cache.layer}"
    return f"{'E' if cache.name.startswith('encoder') else 'D'}{cache.layer}"


def cache_title(cache: Cache) -> str:
    """Such as `FlowLM layer 2`."""
    if cache.model == "flow_lm":
        return f"FlowLM layer {cache.layer}"
    part = "encoder" if cache.name.startswith("encoder") else "decoder"
    return f"Mimi {part} layer {cache.layer}"


def cache_labels(caches: Sequence[Cache]) -> dict[int, str]:
    return {cache.id: cache_label(cache) for cache in caches}


def slots_words(first: int, last: int) -> str:
    """The half-open range as a reader counts it: `52`, `0-52`, `none at 210`."""
    if last <= first:
        return f"none at {first}"
    return f"{first}" if last == first + 1 else f"{first}-{last - 1}"


def touches_words(touches: Sequence[Touch], labels: Mapping[int, str]) -> str:
    """Such as `writes V 52 of L2, reads K+V 0-52 of L2`; writes first."""
    ranges: dict[tuple[bool, int, int, int], list[int]] = {}
    for touch in sorted(touches, key=lambda each: not each.write):
        key = (touch.write, touch.cache, touch.first, touch.last)
        ranges.setdefault(key, []).append(touch.kv)
    words = []
    for (write, cache, first, last), kvs in ranges.items():
        verb = "writes" if write else "reads"
        label = labels.get(cache, f"cache {cache}")
        words.append(f"{verb} {_kv_word(kvs)} {slots_words(first, last)} of {label}")
    return ", ".join(words)


def _kv_word(kvs: Sequence[int]) -> str:
    both = 2 in kvs or {0, 1} <= set(kvs)
    return KV_WORDS[2] if both else KV_WORDS[kvs[0]] if kvs[0] in (0, 1) else f"part {kvs[0]}"
