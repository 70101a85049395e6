"""Traces the voice prefill, which runs before any recording exists."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kvstudio.engine import pocket
from kvstudio.engine.module_path import following_modules
from kvstudio.engine.state import StateWatch
from kvstudio.engine.tracer import OpKnowledge
from kvstudio.engine.tracing import Tracing
from kvstudio.engine.wrapping import wrapped

VOICE_PART = 0


@contextmanager
def traced_voice(tts: pocket.TTS) -> Iterator[Tracing]:
    """While entered, the ops of FlowLM passes are kept; give the result to an `Observer`."""
    tracing = Tracing(OpKnowledge(), "full", time.perf_counter_ns())
    rows = {row.name: row for row in pocket.cache_rows(tts) if row.model == "flow_lm"}
    watch = StateWatch("flow_lm", rows, look=False)

    def flow_lm(original: Any, *args: Any, **kwargs: Any) -> Any:
        state = kwargs["model_state"] if "model_state" in kwargs else args[0]
        with tracing.part(VOICE_PART, watch.watched(state)):
            return original(*args, **kwargs)

    with following_modules(tts), wrapped(tts, "_run_flow_lm_and_increment_step", flow_lm):
        yield tracing
