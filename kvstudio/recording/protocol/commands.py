"""What the window asks of the engine."""

from dataclasses import dataclass, field
from typing import Any

from kvstudio.recording.protocol.message import Message


@dataclass(frozen=True)
class Command(Message):
    key = "do"


@dataclass(frozen=True)
class Load(Command):
    """Load a model; `model` is a `ModelSource` as a dict. Replaces the one loaded before."""

    name = "load"
    model: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Voice(Command):
    """Make the voice state from an audio file, a state file, a predefined name or `hf://`."""

    name = "voice"
    voice: str = ""


@dataclass(frozen=True)
class Budget(Command):
    """Ask for the length budget of `text`; replaces an older request that is not begun yet."""

    name = "budget"
    text: str = ""
    max_tokens: int | None = None


@dataclass(frozen=True)
class Start(Command):
    """Begin a run (a `RunSpec` as a dict) into a new recording; it is held before the prefill.

    Loads the spec's model and voice first if they are not the ones loaded.
    """

    name = "start"
    spec: dict[str, Any] = field(default_factory=dict)
    path: str = ""


@dataclass(frozen=True)
class Step(Command):
    """Let `count` frames happen (a prefill counts as one), then hold again."""

    name = "step"
    count: int = 1


@dataclass(frozen=True)
class Run(Command):
    """Run on: until frame `until` is complete, or to the end of the run.

    `to_finding`: hold as soon as the checks find something new, too.
    """

    name = "run"
    until: int | None = None
    to_finding: bool = False


@dataclass(frozen=True)
class Break(Command):
    """From now on hold whenever a finding of one of these kinds comes up; no kinds: never.

    Consequences count, too, which are no finding of their own. Holds for later runs as well.
    """

    name = "break"
    kinds: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Pause(Command):
    """Hold before the next frame."""

    name = "pause"


@dataclass(frozen=True)
class Stop(Command):
    """End the run; also cancels a load or a voice that is being made."""

    name = "stop"


@dataclass(frozen=True)
class ShutDown(Command):
    name = "shut_down"


COMMANDS: dict[str, type[Command]] = {
    each.name: each
    for each in (Load, Voice, Budget, Start, Step, Run, Break, Pause, Stop, ShutDown)
}
