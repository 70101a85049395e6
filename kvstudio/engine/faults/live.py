"""What a fault works with: the live model, its own arguments, and patches that come undone."""

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch

from kvstudio.engine import pocket
from kvstudio.engine.faults.doors import Doors, Wrapper
from kvstudio.engine.faults.truth import Truth
from kvstudio.engine.state import ModelState, offset_of
from kvstudio.engine.wrapping import wrapped
from kvstudio.recording.errors import SpecError
from kvstudio.recording.recipes import Recipe, Value
from kvstudio.recording.rows import Phase
from kvstudio.recording.spec import Edit

Entry = dict[str, torch.Tensor]


@dataclass
class Clock:
    """Where the run is; every fault of a run looks at the same one."""

    frame: int = 0
    phase: Phase = "voice"


@dataclass(eq=False)
class Live:
    """One edit at work.

    Attributes:
        arguments: by name, checked; None for `all`, `on` and `here`.
        state: FlowLM's state dict as it is now.
        mimi_state: Mimi's, or None before the chunk's first frame is decoded.
        stack: what has to be undone when the run ends.
        spoilers: called before every frame for which the fault lasts, after its first.
        truth: where it first did what it is there for.
        demo: the model is the embedded one, so its voices are known by name.
    """

    tts: pocket.TTS
    edit: Edit
    recipe: Recipe
    arguments: Mapping[str, Value]
    clock: Clock
    doors: Doors
    demo: bool = False
    state: ModelState = field(default_factory=dict)
    mimi_state: ModelState | None = None
    stack: ExitStack = field(default_factory=ExitStack)
    spoilers: list[Callable[[], None]] = field(default_factory=list)
    truth: Truth | None = None

    # ---- when and where -----------------------------------------------------------------------

    @property
    def on(self) -> bool:
        """Whether the fault lasts still."""
        frames = self.arguments.get("frames")
        began = self.clock.frame >= self.edit.frame
        return began and (frames is None or self.clock.frame < self.edit.frame + int(frames))

    def number(self, name: str) -> int:
        value = self.arguments[name]
        assert isinstance(value, int)
        return value

    def seed(self) -> torch.Generator:
        return torch.Generator().manual_seed(self.number("seed"))

    def note(
        self,
        layers: tuple[int | str, ...] = (),
        *slots: tuple[int, int],
        after: tuple[int, ...] = (0,),
    ) -> None:
        """What the fault does now; what it did first counts.

        Args:
            layers: that it hits.
            slots: that it hits, `[lo, hi)`; several if it can be told from several sides.
            after: how many frames later it shows; any of them will do.
        """
        if self.truth is None:
            frames = tuple(self.clock.frame + each for each in after)
            self.truth = Truth(frames, layers, slots)

    # ---- the layers it hits ---------------------------------------------------------------------

    def layers(self) -> tuple[int, ...]:
        """The numbers of the FlowLM layers that the argument `layer` means."""
        chosen, count = self.arguments.get("layer"), len(self.attentions())
        return tuple(range(count)) if chosen is None else (int(chosen),)

    def attentions(self) -> list[tuple[str, Any]]:
        """State key and module of every FlowLM layer's attention."""
        return list(pocket.attention_modules(self.tts.flow_lm).items())

    def codec_attentions(self) -> list[tuple[str, Any]]:
        """State key and module of every attention of Mimi's decoder."""
        found = pocket.attention_modules(self.tts.mimi).items()
        return [(name, module) for name, module in found if not pocket.is_encoder(name)]

    def entries(self) -> list[tuple[int, dict[str, torch.Tensor]]]:
        """Layer number and live state entry of every layer that is hit."""
        names = [name for name, _ in self.attentions()]
        state: Any = self.state
        return [(layer, state[names[layer]]) for layer in self.layers()]

    def offset(self) -> int:
        """Of the first layer that is hit."""
        offset = offset_of(self.entries()[0][1])
        return 0 if offset is None else offset

    # ---- patches --------------------------------------------------------------------------------

    def patch(self, owner: object, name: str, wrapper: Wrapper) -> None:
        """While the fault lasts, `owner.name(...)` calls `wrapper(original, ...)`.

        Not for what the observer wraps: it must see what the faulty model does, so these names
        have doors below it, see `through`.
        """
        self.require(owner, name)
        self.stack.enter_context(wrapped(owner, name, self._while_on(wrapper)))

    def through(self, door: str, wrapper: Wrapper) -> None:
        """The same for a method that the observer wraps; see `doors.DOORS` for their names."""
        self.stack.enter_context(self.doors.through(door, self._while_on(wrapper)))

    def setting(self, owner: Any, name: str, value: object) -> None:
        """From now on `owner.name` is `value`."""
        self.require(owner, name)
        self.stack.enter_context(_set(owner, name, value))

    def require(self, owner: object, name: str) -> None:
        if not hasattr(owner, name):
            raise SpecError(
                f"{self.edit.recipe} cannot be applied to this release of pocket-tts: "
                f"{getattr(owner, '__name__', type(owner).__name__)} has no {name}"
            )

    def around_append(self, wrapper: Callable[..., Any]) -> None:
        """Hits `complete_kv` in the layers that the argument `layer` means, and in no others.

        FlowLM and Mimi share that function, and all their layers do, so each layer that is hit
        says that it is running.

        Args:
            wrapper: called with original, layer, cache, offset, k, v.
        """
        running = threading.local()
        attentions = self.attentions()
        for layer in self.layers():
            backend = attentions[layer][1]._cache_backend
            self.patch(backend, "append_and_get", _announced(running, layer))
        home = module_of(attentions[0][1]._cache_backend)

        def complete_kv(original: Any, *args: Any, **kwargs: Any) -> Any:
            layer = getattr(running, "layer", None)
            if layer is None:
                return original(*args, **kwargs)
            named = dict(zip(("cache", "offset", "k", "v"), args, strict=False), **kwargs)
            return wrapper(original, layer, *(named[n] for n in ("cache", "offset", "k", "v")))

        self.patch(home, "complete_kv", complete_kv)

    def around_mask(self, attentions: list[tuple[Any, Any]], wrapper: Callable[..., Any]) -> None:
        """Hits `_build_attention_mask` where some attention calls it, and nowhere else.

        Args:
            attentions: label and module of each.
            wrapper: called with original, label, pos_q, pos_k, context.
        """
        running = threading.local()
        for label, attention in attentions:
            self.patch(attention, "forward", _announced(running, label))
        home = module_of(attentions[0][1]._cache_backend)

        def build(original: Any, pos_q: Any, pos_k: Any, context: Any) -> Any:
            label = getattr(running, "layer", None)
            if label is None:
                return original(pos_q, pos_k, context)
            return wrapper(original, label, pos_q, pos_k, context)

        self.patch(home, "_build_attention_mask", build)

    def _while_on(self, wrapper: Wrapper) -> Wrapper:
        def call(original: Any, *args: Any, **kwargs: Any) -> Any:
            if self.on:
                return wrapper(original, *args, **kwargs)
            return original(*args, **kwargs)

        return call


def module_of(thing: object) -> ModuleType:
    """Where the class of `thing` was written, which is where it looks its helpers up."""
    return sys.modules[type(thing).__module__]


def _announced(running: threading.local, label: object) -> Wrapper:
    def call(original: Any, *args: Any, **kwargs: Any) -> Any:
        running.layer = label
        try:
            return original(*args, **kwargs)
        finally:
            running.layer = None

    return call


@contextmanager
def _set(owner: Any, name: str, value: object) -> Iterator[None]:
    own = vars(owner)
    missing = name not in own and name not in getattr(owner, "_parameters", {})
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if missing:
            delattr(owner, name)
        else:
            setattr(owner, name, before)
