"""Every kind of finding, in the groups in which a user looks for it, and what it means."""

GROUPS: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "Slots",
        {
            "unwritten-read": "an op used a slot that nobody had written",
            "stale-read": "an op used what an earlier run or chunk had left in a slot",
            "overwrite": "a slot that was in use was written again",
            "hole": "a slot below the offset was never written",
            "dropped-write": "a write went past the last slot and vanished",
            "capacity-exceeded": "more slots were counted than the cache has",
            "expansion-corrupt": "the expansion did not keep or fill the slots as it should",
        },
    ),
    (
        "Positions and masks",
        {
            "offset-skew": "layers count differently",
            "offset-jump": "an offset moved by more or less than was written",
            "position-mismatch": "the slot written and the position encoded differ",
            "mask-future": "attention looked at slots that are still to come",
            "window-mismatch": "attention looked further back, or less far, than it should",
        },
    ),
    (
        "Numbers",
        {
            "nan-produced": "finite numbers went into an op, NaN came out",
            "nan-laundered": "NaN went into an op, finite numbers came out",
            "dtype-mismatch": "a cache and its layer have different dtypes",
            "device-mismatch": "a cache and its layer are on different devices",
        },
    ),
    (
        "Voice and state",
        {
            "prefix-order": "the parts of the prefix are in another order",
            "marker-missing": "the marker before the voice is not where it belongs",
            "foreign-state": "the voice state was made by another model",
            "shared-state": "something else changed the state between two steps",
            "codec-state-reset": "the codec began again in the middle of a chunk",
            "codec-state-stale": "the codec began with what an earlier chunk had left",
            "codec-step-mismatch": "the codec moved by another number of steps than a frame has",
        },
    ),
    (
        "The end",
        {
            "no-eos": "the speech came to its greatest length without an end",
            "early-eos": "the speech ended before it could have begun",
            "length-cut": "the speech was cut by a limit that is too small",
        },
    ),
    (
        "Sound",
        {
            "audio-nan": "samples are NaN; a 16-bit file is silent there",
            "audio-clipped": "samples are louder than full scale",
            "audio-click": "the sound jumps where two frames meet",
            "audio-silence": "nothing is heard where speech should be",
        },
    ),
)
KIND_WORDS: dict[str, str] = {kind: words for _, group in GROUPS for kind, words in group.items()}
