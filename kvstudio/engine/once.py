"""Calls what is observed exactly once, so that whatever we do around it the caller gets its own."""

from collections.abc import Callable
from typing import Any

import torch


class Once:
    """A method of the model, as its observer is to call it.

    The observer runs without gradients, the method itself as its caller wants it.

    Attributes:
        raised: what it raised, None if it has not, or has not been called.
    """

    def __init__(self, original: Callable[..., Any]) -> None:
        self._original = original
        self._grad = torch.is_grad_enabled()
        self._called = False
        self._result: Any = None
        self.raised: BaseException | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._called = True
        try:
            with torch.set_grad_enabled(self._grad):
                self._result = self._original(*args, **kwargs)
        except BaseException as error:
            self.raised = error
            raise
        return self._result

    def outcome(self, *args: Any, **kwargs: Any) -> Any:
        """What the caller is to get, whether or not the observer came to call it."""
        if self.raised is not None:
            error, self.raised = self.raised, None  # which holds frames that hold us
            raise error
        return self._result if self._called else self(*args, **kwargs)


def call_observed(
    observe: Callable[..., Any],
    original: Callable[..., Any],
    args: Any,
    kwargs: Any,
    on_trouble: Callable[[Exception], None],
) -> Any:
    """What `original` returns or raises, observed by `observe(original, *args, **kwargs)`.

    What the observer itself raises never reaches the caller; `on_trouble` is told of it.
    """
    once = Once(original)
    try:
        with torch.no_grad():
            observe(once, *args, **kwargs)
    except Exception as error:  # noqa: BLE001 -- ours or the model's; only the latter goes on
        if once.raised is None:
            on_trouble(error)
    except BaseException:
        if once.raised is None:  # such as Ctrl-C in the midst of our work
            raise
    return once.outcome(*args, **kwargs)
