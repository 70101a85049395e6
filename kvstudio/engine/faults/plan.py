"""The faults of one run: checked before it begins, applied at their frames, undone at its end."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from kvstudio.engine import pocket
from kvstudio.engine.faults import (  # noqa: F401 -- they register themselves
    addresses,
    codec,
    ending,
    masks,
    numbers,
    offsets,
    pokes,
    prefix,
    reads,
    room,
    stale,
    threads,
    writes,
)
from kvstudio.engine.faults.doors import Doors
from kvstudio.engine.faults.live import Clock, Live
from kvstudio.engine.faults.moment import Moment
from kvstudio.engine.faults.registry import PATCHES, SPOILERS, Fault
from kvstudio.engine.faults.truth import Truth
from kvstudio.engine.state import ModelState
from kvstudio.recording.errors import SpecError
from kvstudio.recording.recipes import edit_text, recipe_of, values_of
from kvstudio.recording.spec import Edit


class FaultPlan:
    """What the edits of a spec do to one run of a model.

    Args:
        tts: the model; nothing of it is changed before `making` or `running` is entered.
        edits: of the spec.
        demo: the model is the embedded one.

    Raises:
        SpecError: a recipe, an argument or a frame that cannot be, in words.
    """

    def __init__(self, tts: pocket.TTS, edits: Sequence[Edit], *, demo: bool = False) -> None:
        self._tts = tts
        self._clock, self._doors = Clock(), Doors()
        self._lives = [
            Live(tts, edit, recipe_of(edit), values_of(edit), self._clock, self._doors, demo)
            for edit in edits
        ]
        for live in self._lives:
            _require_layer(live)
        self._stack = ExitStack()
        self._applied: list[Live] = []
        self._over = False
        self._prefills = 0

    @property
    def spoils_voice(self) -> bool:
        """Whether the voice has to be made afresh for it."""
        return any(live.edit.frame == 0 for live in self._lives)

    @property
    def truths(self) -> Mapping[str, Truth | None]:
        """Where each edit first did what it is there for, by its text."""
        return {edit_text(live.edit): live.truth for live in self._lives}

    @property
    def unused(self) -> list[str]:
        """Edits whose frame the run did not reach."""
        return [edit_text(live.edit) for live in self._lives if live not in self._applied]

    def require_reachable(self, budget: Sequence[Mapping[str, Any]]) -> None:
        """Raises SpecError for a frame after the last one that this text can have.

        Args:
            budget: what `cards.budget` says of the text.
        """
        last = sum(1 + int(chunk["max_gen_len"]) for chunk in budget)
        for live in self._lives:
            if live.edit.frame > last:
                raise SpecError(
                    f"{edit_text(live.edit)} can never be applied: with this text the last frame "
                    f"is frame {last} at most"
                )

    # ---- frame 0 ------------------------------------------------------------------------------

    @contextmanager
    def making(self) -> Iterator[None]:
        """While entered, the voice is made by the faulty model.

        Raises:
            SpecError: on leaving, if an edit had nothing to act on.
        """
        with self._doors.placed(self._tts), self._doors.through("step", self._count):
            try:
                self._apply(self._of_voice(), PATCHES)
                yield
            finally:
                self._undo()
        self._applied.clear()
        for live in self._of_voice():
            if "audio-voice" in live.recipe.needs and not self._prefills:
                raise SpecError(
                    f"{live.edit.recipe} changes how a voice is made, but this voice comes made; "
                    "choose an audio file"
                )

    def spoil(self, state: ModelState) -> None:
        """What the edits of frame 0 do to a voice state that has been made."""
        for live in self._of_voice():
            live.state = state
        self._apply(self._of_voice(), SPOILERS)

    # ---- the run --------------------------------------------------------------------------------

    @contextmanager
    def doors(self) -> Iterator[None]:
        """To be entered before the observer wraps the model."""
        with self._doors.placed(self._tts):
            yield

    @contextmanager
    def applied(self) -> Iterator[None]:
        """To be entered after the observer has wrapped the model, and left before it lets go."""
        try:
            self._apply(self._of_voice(), PATCHES)
            yield
        finally:
            self.end()

    def before(self, moment: Moment) -> None:
        """The observer is about to let a frame happen, in this thread, outside any tracer."""
        if self._over:
            return
        self._clock.frame, self._clock.phase = moment.frame, moment.phase
        for live in self._lives:
            live.state, live.mimi_state = moment.state, moment.mimi_state
        lasting = [live for live in self._applied if live.on]
        with torch.no_grad():
            for live in lasting:
                for spoil in live.spoilers:
                    spoil()
            due = [live for live in self._lives if self._is_due(live, moment)]
            self._apply(due, SPOILERS)
            self._apply(due, PATCHES)

    def end(self) -> None:
        """The run is over: the model becomes what it was."""
        self._over = True
        self._undo()

    # ---- private ------------------------------------------------------------------------------

    def _of_voice(self) -> list[Live]:
        return [live for live in self._lives if live.edit.frame == 0]

    def _is_due(self, live: Live, moment: Moment) -> bool:
        """At its frame, or at the first one after it that is of the right phase."""
        at = live.edit.frame
        return (
            live not in self._applied
            and 0 < at <= moment.frame
            and (moment.phase in live.recipe.phases)
        )

    def _apply(self, lives: Sequence[Live], faults: Mapping[str, Fault]) -> None:
        for live in lives:
            fault = faults.get(live.edit.recipe)
            if fault is not None:
                if live not in self._applied:
                    self._applied.append(live)
                live.stack = self._stack
                with torch.no_grad():
                    fault(live)

    def _undo(self) -> None:
        self._stack.close()

    def _count(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        self._prefills += 1
        return original(*args, **kwargs)


def _require_layer(live: Live) -> None:
    in_codec = live.edit.recipe.startswith("codec")
    count = len(live.codec_attentions() if in_codec else live.attentions())
    layer = live.arguments.get("layer")
    if isinstance(layer, int) and layer >= count:
        where = "the decoder of Mimi" if in_codec else "FlowLM"
        raise SpecError(
            f"{live.edit.recipe}: there is no layer {layer}; {where} has layers 0 to {count - 1}"
        )
