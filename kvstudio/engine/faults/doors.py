"""Doors below the observer: places at which a fault can get into the model in the middle of a run.

The observer wraps some methods before the run begins, with what they were then below. A fault that
replaced one of them later would lie above the observer and be bypassed by it, where a user's fork
would lie below. So a door is put there before the observer comes, and faults go through it.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from kvstudio.engine import pocket
from kvstudio.engine.wrapping import wrapped

Wrapper = Callable[..., Any]  # called with the original and its arguments
DOORS = ("expand", "step", "decode")


class Doors:
    """The doors of one run; open while `placed` is entered."""

    def __init__(self) -> None:
        self._wrappers: dict[str, list[Wrapper]] = {name: [] for name in DOORS}
        self.latent_shape: tuple[int, ...] = ()
        """Of what Mimi was given last; releases differ in how they turn it."""

    @contextmanager
    def placed(self, tts: pocket.TTS) -> Iterator[None]:
        with ExitStack() as stack:
            for name, (owner, method) in {
                "expand": (tts, "_expand_kv_cache"),
                "step": (tts, "_run_flow_lm_and_increment_step"),
                "decode": (tts.mimi, "decode_from_latent"),
            }.items():
                stack.enter_context(wrapped(owner, method, partial(self._pass, name)))
            yield

    @contextmanager
    def through(self, name: str, wrapper: Wrapper) -> Iterator[None]:
        """While entered, `wrapper(original, ...)` is called; the last one is the innermost."""
        self._wrappers[name].append(wrapper)
        try:
            yield
        finally:
            self._wrappers[name].remove(wrapper)

    def _pass(self, name: str, original: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "decode" and args:
            self.latent_shape = tuple(args[0].shape)
        call = original
        for wrapper in reversed(self._wrappers[name]):
            call = partial(wrapper, call)
        return call(*args, **kwargs)
