"""Arguments that many recipes have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvstudio.recording.recipes.recipe import Argument

if TYPE_CHECKING:
    # Not at run time: rows need numpy, and the command line comes up without.
    from kvstudio.recording.rows import Phase

RUNNING: tuple[Phase, ...] = ("decode", "text")
EVER: tuple[Phase, ...] = ("decode", "text", "voice")

LAYER = Argument("layer", "layer", "all", "the layer of FlowLM that is hit")
ONE_LAYER = Argument("layer", "layer", "1", "the layer of FlowLM that is hit")
CODEC_LAYER = Argument("layer", "layer", "0", "the layer of Mimi's decoder that is hit")
SLOT = Argument("slot", "slot", "-1", "the slot; -1 is the one written last")
COUNT = Argument("count", "count", "1", "how many slots from there on")
KV = Argument("kv", "choice", "both", "keys, values or both", ("both", "K", "V"))
HEAD = Argument("head", "head", "all", "the head of K and V")
FRAMES = Argument("frames", "frames", "on", "for how many frames")
ONE_FRAME = Argument("frames", "frames", "1", "for how many frames")
SEED = Argument("seed", "count", "7", "what its random numbers begin with")
WHOSE = Argument("model", "choice", "mimi", "which transformer is hit", ("mimi", "flow_lm"))

NUMBERS = (
    "nan-produced",
    "nan-laundered",
    "audio-nan",
    "audio-silence",
    "no-eos",
    "unwritten-read",
)
"""What a NaN that attention reads leads to."""
SPEECH = ("no-eos", "early-eos", "length-cut", "audio-click", "audio-silence", "audio-clipped")
"""What wrong but finite numbers may lead to."""


def amount(name: str, default: str, says: str) -> Argument:
    return Argument(name, "count", default, says)
