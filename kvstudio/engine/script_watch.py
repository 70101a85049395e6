"""Watches a model that somebody else drives, and finds for each call whose it is.

overlays     stand before the model's methods while the block is entered
strand       observes a state; the calls below are handed to the one that they are of
link         ties together the threads of one `generate_audio`, by its queue of latents
turn         keeps the frames of a chunk together when several threads drive the model

Nothing here changes what a call returns or raises. When something of ours fails, such as a full
disk, the recording is over and the model goes on.
"""

import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from inspect import signature
from typing import Any

import torch

from kvstudio.engine import pocket
from kvstudio.engine.codec import decode_arguments
from kvstudio.engine.links import Link, Links
from kvstudio.engine.module_path import module_wrappers
from kvstudio.engine.once import call_observed
from kvstudio.engine.overlay import overlaid
from kvstudio.engine.script_shared import Shared
from kvstudio.engine.state import ModelState, StateWatch
from kvstudio.engine.strand_finder import StrandFinder
from kvstudio.engine.strands import Strand
from kvstudio.engine.turns import Turns
from kvstudio.recording.errors import KVStudioError

END_S = 10.0
VOICE_PART = 0
Wrapper = Callable[..., Any]


class ScriptWatch:
    """Observes every call on one model from `watching` on until `close`."""

    def __init__(self, shared: Shared) -> None:
        self._shared, self._tts = shared, shared.tts
        self._turns = Turns()
        self._here = threading.local()
        self._process = os.getpid()
        self._finder = StrandFinder(shared)
        self._links = Links(shared.lock)
        self._flights = threading.Condition()
        self._in_flight = 0
        self.problem: str | None = None
        """Why the recording ended before the block did."""

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While entered, the model is overlaid; then it is as the user has left it."""
        with ExitStack() as overlays:
            for owner, wrappers in self._wrappers():
                overlays.enter_context(overlaid(owner, wrappers))
            yield

    def close(self) -> None:
        """Writes what is left, once those have come out who are in the midst of a step."""
        self._shared.closing.set()
        self._turns.end()
        with self._flights:
            all_out = self._flights.wait_for(lambda: self._in_flight == 0, END_S)
        if not all_out and self.problem is None:
            self.problem = "the block ended in the midst of a step, whose frame is lost"
        with self._shared.lock:
            for strand in reversed(self._finder.strands):
                self._flush(strand)
            self._shared.closed = True

    # ---- what stands before the model's methods ------------------------------------------------

    def _wrappers(self) -> Iterator[tuple[object, Mapping[str, Wrapper]]]:
        tts = self._tts
        if self._shared.trace == "full":
            for module, wrapper in module_wrappers(tts):
                yield module, {"forward": wrapper}
        yield tts, {name: each for name, each in self._methods().items() if hasattr(tts, name)}
        yield tts.mimi, {"decode_from_latent": self._observing(self._decode)}
        yield tts.flow_lm.conditioner, {"prepare": self._prepare}
        yield tts.flow_lm.out_eos, {"forward": self._stop_logit}
        if hasattr(tts.flow_lm, "input_linear"):
            yield tts.flow_lm.input_linear, {"forward": self._fed}
        last_stateful = [m for m in tts.mimi.modules() if hasattr(m, "increment_step")][-1:]
        for module in last_stateful:
            yield module, {"increment_step": self._increment}

    def _methods(self) -> dict[str, Wrapper]:
        return {
            "_expand_kv_cache": self._observing(self._expand),
            "_run_flow_lm_and_increment_step": self._observing(self._flow_lm),
            "generate_audio_stream": self._call,
            "_generate": self._generate,
            "_autoregressive_generation": self._generation,
            "_decode_audio_worker": self._decoding,
        }

    def _observing(self, observe: Wrapper) -> Wrapper:
        def wrapper(original: Wrapper, *args: Any, **kwargs: Any) -> Any:
            # What is called from within an observed call is part of it.
            if self._over or getattr(self._here, "inside", False):
                return original(*args, **kwargs)
            self._here.inside = True
            self._count(1)
            try:
                return call_observed(observe, original, args, kwargs, self._give_up)
            finally:
                self._count(-1)
                self._here.inside = False

        return wrapper

    def _prepare(self, original: Wrapper, *args: Any, **kwargs: Any) -> Any:
        prepared = original(*args, **kwargs)
        text = args[0] if args else next(iter(kwargs.values()), "")
        with suppress(Exception):  # a fork may prepare something else; then it has no text
            self._here.text = (str(text), pocket.token_count(prepared))
        return prepared

    def _stop_logit(self, original: Wrapper, *args: Any, **kwargs: Any) -> Any:
        output = original(*args, **kwargs)
        strand: Strand | None = getattr(self._here, "strand", None)
        if strand is not None and isinstance(output, torch.Tensor):
            self._note(strand.note_stop_logit, output)
        return output

    def _fed(self, original: Wrapper, *args: Any, **kwargs: Any) -> Any:
        strand: Strand | None = getattr(self._here, "strand", None)
        if strand is not None and args:
            self._note(strand.note_fed, args[0])
        return original(*args, **kwargs)

    def _increment(self, original: Wrapper, *args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        strand: Strand | None = getattr(self._here, "decoded", None)
        if strand is not None:
            strand.note_increment()
            if (
                strand.owner is threading.current_thread() and not strand.alive
            ):  # before the script does anything else to the codec's state
                self._flush(strand)
        return result

    # ---- the threads of `generate_audio` -------------------------------------------------------

    def _call(self, original: Wrapper, *args: Any, **kwargs: Any) -> Any:
        """Of several texts on one state, each call is one; the chunks of a text are not."""
        with suppress(Exception):  # a fork may have it take something else
            given = signature(original).bind(*args, **kwargs).arguments
            if not given.get("copy_state", True):
                self._finder.call_begins(given["model_state"])
        return original(*args, **kwargs)

    def _generate(self, original: Wrapper, *args: Any, **kwargs: Any) -> Any:
        with self._links.entered(args, kwargs) as link:
            try:
                return original(*args, **kwargs)
            except BaseException:
                if link is not None:  # there will be no latents
                    link.generated = link.decoded = True
                    self._settle(link)
                raise

    def _generation(self, original: Wrapper, *args: Any, **kwargs: Any) -> Any:
        with self._links.entered(args, kwargs) as link:
            if link is not None:
                link.generator = threading.current_thread()
            try:
                return original(*args, **kwargs)
            finally:
                if link is not None:
                    link.generated = True
                    self._settle(link)

    def _decoding(self, original: Wrapper, *args: Any, **kwargs: Any) -> Any:
        with self._links.entered(args, kwargs) as link:
            if link is not None:
                link.decoder = threading.current_thread()
            try:
                return original(*args, **kwargs)
            finally:
                if link is not None:
                    link.decoded = True
                    self._settle(link)

    def _settle(self, link: Link) -> None:
        """One of the threads has ended; once latents are decoded, the last frame is whole."""
        strand = link.strand
        if strand is None or not link.decoded:
            return
        self._flush(strand)
        if link.over:
            self._turns.give_up(strand.driven)

    # ---- observed calls ------------------------------------------------------------------------

    def _expand(self, call: Any, *args: Any, **kwargs: Any) -> None:
        state = args[0] if args else kwargs["model_state"]
        strand = self._finder.of_state(state, self._links.here, begins=True)
        with self._turns.turn(strand.driven, generating=strand.alive):
            self._finder.turn_to(strand, begins=True)
            self._name_text(strand)
            strand.observe_expansion(call, *args, **kwargs)

    def _flow_lm(self, call: Any, *args: Any, **kwargs: Any) -> None:
        names = ("model_state", "text_tokens", "backbone_input_latents", "audio_conditioning")
        named = dict(zip(names, args, strict=False), **kwargs)
        state = named["model_state"]
        if named.get("text_tokens") is None and named.get("backbone_input_latents") is None:
            self._voice(call, state, args, kwargs)
            return
        strand = self._finder.of_state(state, self._links.here)
        with self._turns.turn(strand.driven, generating=strand.alive):
            self._finder.turn_to(strand, begins=named.get("text_tokens") is not None)
            self._name_text(strand)
            self._here.strand = strand
            try:
                strand.observe_step(call, *args, **kwargs)
            finally:
                self._here.strand = None

    def _voice(self, call: Any, state: ModelState, args: Any, kwargs: Any) -> None:
        """A voice prefill; it becomes a frame when somebody speaks with it."""
        rows = {row.name: row for row in pocket.cache_rows(self._tts) if row.model == "flow_lm"}
        tracing = self._shared.tracing()
        watch = StateWatch("flow_lm", rows, look=False)
        with tracing.part(VOICE_PART, watch.watched(state)):
            call(*args, **kwargs)
        self._shared.voices.made(state, tracing)

    def _decode(self, call: Any, *args: Any, **kwargs: Any) -> None:
        latent, state = decode_arguments(args, kwargs)
        strand = self._finder.of_codec(state, latent, self._links.here)
        with self._turns.turn(strand.driven, generating=strand.alive):
            self._finder.turn_to(strand)
            self._here.decoded = strand
            strand.observe_decode(call, *args, **kwargs)

    def _name_text(self, strand: Strand) -> None:
        text, self._here.text = getattr(self._here, "text", None), None
        if text is not None:
            strand.driven.book.next_text(*text)

    # ---- the end -------------------------------------------------------------------------------

    @property
    def _over(self) -> bool:
        return self._shared.closed or self.problem is not None or os.getpid() != self._process

    def _count(self, by: int) -> None:
        with self._flights:
            self._in_flight += by
            self._flights.notify_all()

    def _flush(self, strand: Strand) -> None:
        self._note(strand.flush)

    def _note(self, note: Callable[..., None], *args: Any) -> None:
        """Does something of ours in the midst of the model's own work."""
        try:
            note(*args)
        except Exception as error:  # noqa: BLE001 -- ours, which must not reach the model
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        """Something of ours failed: the model goes on without us."""
        if self._over:
            return
        known = isinstance(error, KVStudioError)
        self.problem = str(error) if known else f"{type(error).__name__}: {error}"
        self._shared.closing.set()
        self._turns.end()
        with suppress(Warning):  # where warnings are errors, it must not become the model's
            warnings.warn(
                f"KVStudio stopped recording, and the model goes on: {self.problem}",
                RuntimeWarning,
                stacklevel=2,
            )
