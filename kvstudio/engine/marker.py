"""The learned marker that a voice prompt begins with, as layer 0 of FlowLM keeps it."""

from typing import NamedTuple

import torch

from kvstudio.engine import pocket
from kvstudio.recording.rows import Floats


class Marker(NamedTuple):
    """What should be before every voice.

    Attributes:
        wanted: whether the model has learned a vector for it, and is built like those we know.
        kv: K and V of the vector in slot 0, `[2, H, D]`; None if there is no telling it apart.
    """

    wanted: bool
    kv: Floats | None


def marker_of(tts: pocket.TTS) -> Marker:
    """What layer 0 makes of the marker.

    There a slot holds nothing but its own input, normalised and projected, and slot 0 is not
    rotated. The classes' own `forward` is called: what hangs on the modules is to see no step.
    """
    try:
        marker, layer = tts.flow_lm.bos_before_voice, tts.flow_lm.transformer.layers[0]
        norm, project = layer.norm1, layer.self_attn.in_proj
        heads, dim = pocket.kv_heads(layer.self_attn), pocket.head_dim(layer.self_attn)
        with torch.no_grad():
            projected = type(project).forward(project, type(norm).forward(norm, marker))
            kept = projected.reshape(-1)[-2 * heads * dim :].reshape(2, heads, dim)
    except (AttributeError, IndexError, TypeError, RuntimeError):
        return Marker(wanted=False, kv=None)
    learned = bool(marker.any())  # nobody learns zeros
    return Marker(wanted=True, kv=kept.to("cpu", torch.float32).numpy() if learned else None)
