"""Recipes for what conditions the model: voice, marker, start."""

from kvstudio.recording.recipes.arguments import LAYER, NUMBERS, ONE_FRAME, SEED, SPEECH
from kvstudio.recording.recipes.recipe import Argument, Recipe

NOISE_OR_ZERO = Argument("fed", "choice", "zero", "what is fed instead", ("zero", "noise"))

PREFIX = (
    Recipe(
        "no-marker",
        "marker-missing",
        "K5",
        "The learned marker that belongs before the voice frames is left out.",
        ("voice",),
        follows=("prefix-order", "foreign-state", *SPEECH),
        needs=("marker", "audio-voice"),
    ),
    Recipe(
        "zero-marker",
        "marker-missing",
        "K5",
        "Zeros are fed where the learned marker belongs before the voice.",
        ("voice",),
        follows=("prefix-order", "foreign-state", *SPEECH),
        needs=("marker", "audio-voice"),
        alike=("hole",),
    ),
    Recipe(
        "marker-misplaced",
        "prefix-order",
        "K5",
        "The marker is fed after the voice frames instead of before them.",
        ("voice",),
        (Argument("place", "choice", "end", "where it is put", ("end", "middle")),),
        follows=("marker-missing", "foreign-state", *SPEECH),
        needs=("marker", "audio-voice"),
        variants=("place=middle",),
    ),
    Recipe(
        "marker-twice",
        "prefix-order",
        "K5",
        "The marker is fed twice before the voice.",
        ("voice",),
        follows=("marker-missing", "foreign-state", *SPEECH),
        needs=("marker", "audio-voice"),
    ),
    Recipe(
        "foreign-voice",
        "foreign-state",
        "K5",
        "The voice state was made by another model of the same shape.",
        ("voice",),
        (LAYER, SEED),
        follows=("overwrite", "shared-state", "marker-missing", *SPEECH),
        variants=("layer=1",),
    ),
    Recipe(
        "start-not-marked",
        "marker-missing",
        "K6",
        "The NaN that marks the start is taken for a fault and replaced before the model sees it.",
        ("decode",),
        (NOISE_OR_ZERO,),
        follows=SPEECH,
        variants=("fed=noise",),
        at=2,
    ),
    Recipe(
        "marker-not-replaced",
        "nan-produced",
        "K6",
        "The test for the start marker is optimised away, so its NaN goes into the model.",
        ("decode",),
        follows=("marker-missing", *NUMBERS),
        at=2,
    ),
    Recipe(
        "nan-latent",
        "nan-produced",
        "K6",
        "One latent is NaN: FlowLM takes it for a start marker, and the codec is poisoned.",
        ("decode",),
        (ONE_FRAME,),
        follows=("nan-laundered", "marker-missing", *NUMBERS, *SPEECH),
    ),
)
