"""What a fault recipe is: plain data that the command line, the window and the engine share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn

from kvstudio.recording.errors import SpecError

if TYPE_CHECKING:
    # Not at run time: rows need numpy, and the command line comes up without.
    from collections.abc import Mapping

    from kvstudio.recording.rows import Phase

ArgumentKind = Literal["layer", "head", "slot", "count", "number", "frames", "choice", "name"]
Value = int | float | str | None  # None: all of them, or where the run stands at that frame
ALL, HERE, EVER = "all", "here", "on"
MUST_BE: dict[ArgumentKind, str] = {
    "layer": "the number of a layer, or `all`",
    "head": "the number of a head, or `all`",
    "slot": "the number of a slot; negative ones count back from the offset",
    "count": "a whole number, 1 or more",
    "number": "a number",
    "frames": "how many frames, or `on` for all from there on",
    "choice": "one of the choices",
    "name": "a name or a path",
}
WORDS: dict[ArgumentKind, str] = {"layer": ALL, "head": ALL, "frames": EVER, "count": HERE}
LARGEST = 1e12  # NaN is not smaller either
LOWEST: dict[ArgumentKind, float] = {"layer": 0, "head": 0, "count": 1, "frames": 1}
FRAME_OF: dict[Phase, int] = {"voice": 0, "text": 1, "decode": 6}
Need = Literal["marker", "audio-voice", "ends"]


@dataclass(frozen=True)
class Argument:
    """One argument of a recipe.

    Attributes:
        default: as it would be written.
        says: what it means, in a few words.
        choices: for a choice, all of them.
    """

    name: str
    kind: ArgumentKind
    default: str
    says: str
    choices: tuple[str, ...] = ()

    def value(self, text: str) -> Value:
        """What `text` stands for: a number, a choice, or None for `all`, `on` and `here`.

        Raises:
            SpecError: it stands for nothing that this argument can be.
        """
        if self.kind == "choice":
            return self._chosen(text)
        if self.kind == "name":
            if not text.strip():
                self._refuse(text)
            return text
        if text == WORDS.get(self.kind):
            return None
        try:
            number = float(text) if self.kind == "number" else int(text)
        except ValueError:
            self._refuse(text)
        if not abs(number) < LARGEST or number < LOWEST.get(self.kind, number):
            self._refuse(text)
        return number

    @property
    def must_be(self) -> str:
        """What may be written for it, in words."""
        if self.kind == "choice":
            return " or ".join([", ".join(self.choices[:-1]), self.choices[-1]])
        return MUST_BE[self.kind]

    def _chosen(self, text: str) -> str:
        if text not in self.choices:
            self._refuse(text)
        return text

    def _refuse(self, text: str) -> NoReturn:
        raise SpecError(f"{self.name} is {text!r}, but must be {self.must_be}")


@dataclass(frozen=True)
class Recipe:
    """A way to break a run.

    Attributes:
        name: how it is asked for.
        kind: the finding that it provokes; see `Finding.kind`.
        bug: the kind of public bug report that it repeats (`K1` to `K14`), or `poke`.
        says: what goes wrong, in a user's words, one sentence.
        phases: of the frames at which it may be applied; frame 0 is `voice`, frame 1 `text`.
        needs: what must be there for it: a `marker` before the voice, a voice that is made of
            audio (`audio-voice`), a model that `ends` by itself.
        alike: findings that name the same fault from another side, and are as right.
        follows: findings that may be reported beside `kind`, because they follow from it.
        loud: the model itself raises.
        variants: arguments beside the defaults that are worth trying, as they are written.
        at: a frame at which it shows, if that is not the usual one.
    """

    name: str
    kind: str
    bug: str
    says: str
    phases: tuple[Phase, ...]
    arguments: tuple[Argument, ...] = ()
    needs: tuple[Need, ...] = ()
    alike: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    loud: bool = False
    variants: tuple[str, ...] = ()
    at: int | None = None

    @property
    def frame(self) -> int:
        """A frame at which it shows."""
        return FRAME_OF[self.phases[0]] if self.at is None else self.at

    def values(self, arguments: Mapping[str, str]) -> dict[str, Value]:
        """Every argument's value, defaults for those that are not given.

        Raises:
            SpecError: an argument that the recipe does not have, or a value that it cannot have.
        """
        known = {argument.name: argument for argument in self.arguments}
        for name in arguments:
            if name not in known:
                raise SpecError(
                    f"{self.name} has no argument {name!r}; it has {', '.join(known) or 'none'}"
                )
        try:
            return {
                name: argument.value(arguments.get(name, argument.default))
                for name, argument in known.items()
            }
        except SpecError as error:
            raise SpecError(f"{self.name}: {error}") from error

    def to_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "kind": self.kind,
            "arguments": [
                {
                    "name": each.name,
                    "default": each.default,
                    "says": each.says,
                    "must_be": each.must_be,
                    "choices": list(each.choices),
                }
                for each in self.arguments
            ],
            "says": self.says,
            "bug": self.bug,
            "phases": list(self.phases),
        }
