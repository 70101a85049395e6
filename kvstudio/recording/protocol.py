"""The messages between the window and the engine: one JSON object a line.

    window -> engine   {"do": "load", "model": {"kind": "demo"}}
    engine -> window   {"event": "progress", "what": "weights", "done": 4096, "total": 8716960}
    engine -> window   {"event": "loaded", "card": {...}}

Commands are answered by events, never by silence: a command that is unknown or comes at the wrong
time gives an `error` event that names it.
"""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from kvstudio.recording.errors import ProtocolError
from kvstudio.recording.typed import misfit

# What the engine is doing, as the window's buttons need to know it.
ENGINE_STATES = (
    "starting",  # the process is coming up
    "empty",  # no model
    "loading",  # a model is being loaded; cancel works
    "loaded",  # a model, no voice
    "voicing",  # the voice state is being made; cancel works
    "ready",  # model and voice, no run
    "held",  # between frames of a run
    "running",  # in the middle of a frame, or running on
    "dead",  # the process is gone; only restart works
)


@dataclass(frozen=True)
class Message:
    """Base of all messages; `key` is the JSON key that names the message, `name` its value."""

    key: ClassVar[str]
    name: ClassVar[str]

    def to_line(self) -> str:
        # Escaped, because a file name need not be Unicode and a pipe carries nothing else.
        return json.dumps({self.key: self.name, **asdict(self)}) + "\n"


# ---- commands ---------------------------------------------------------------------------------


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
    """Run on; until frame `until` is complete, or to the end of the run."""

    name = "run"
    until: int | None = None


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


# ---- events -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event(Message):
    key = "event"


@dataclass(frozen=True)
class Ready(Event):
    """The engine is up.

    `versions`: python, torch, pocket_tts, ...; `languages`: shipped configs; `voices`: predefined
    names; `devices`: such as `cpu`, `cuda:0`.
    """

    name = "ready"
    versions: dict[str, str] = field(default_factory=dict)
    languages: list[str] = field(default_factory=list)
    voices: list[str] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    pid: int = 0


@dataclass(frozen=True)
class State(Event):
    """The engine's state changed; one of `ENGINE_STATES`, with words for the status bar.

    `next_frame` is the frame that the next step will make, while a run is held or running.
    """

    name = "state"
    state: str = "empty"
    words: str = ""
    next_frame: int | None = None


@dataclass(frozen=True)
class Progress(Event):
    """Something that takes time. `unit` is `bytes`, `seconds` or `steps`; unknown total is None."""

    name = "progress"
    what: str = ""
    done: float = 0
    total: float | None = None
    unit: str = "bytes"
    seconds_left: float | None = None


@dataclass(frozen=True)
class Loaded(Event):
    """A model is loaded.

    `card`: name, origin, layers, heads, dims, dtype, device, parameters, sample_rate, frame_rate,
    temperature, eos_threshold, decode_steps, quantisation backend, ...
    """

    name = "loaded"
    card: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Voiced(Event):
    """A voice state is made. `card`: source, slots, seconds, layers."""

    name = "voiced"
    card: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Budgeted(Event):
    """One entry a chunk: text, current_end, token_count, max_gen_len, required_len, bytes."""

    name = "budgeted"
    chunks: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Started(Event):
    """A recording was begun at `path`; it can be opened now."""

    name = "started"
    path: str = ""


@dataclass(frozen=True)
class FrameAdded(Event):
    """Frame `frame` is complete in the recording."""

    name = "frame"
    frame: int = 0


@dataclass(frozen=True)
class Finished(Event):
    """The run is over and its recording closed. `status`: finished, stopped or failed."""

    name = "finished"
    status: str = "finished"
    reason: str = ""
    path: str = ""


@dataclass(frozen=True)
class Failed(Event):
    """A command could not be done: what was wrong, where, and what to do. `command` names it."""

    name = "error"
    command: str = ""
    message: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Log(Event):
    """A line that the model, its libraries or the user's fork printed or logged."""

    name = "log"
    stream: str = "stderr"
    text: str = ""


COMMANDS: dict[str, type[Command]] = {
    each.name: each for each in (Load, Voice, Budget, Start, Step, Run, Pause, Stop, ShutDown)
}
EVENTS: dict[str, type[Event]] = {
    each.name: each
    for each in (
        Ready,
        State,
        Progress,
        Loaded,
        Voiced,
        Budgeted,
        Started,
        FrameAdded,
        Finished,
        Failed,
        Log,
    )
}


def parse_command(line: str) -> Command:
    """The command in one line of JSON.

    Raises:
        ProtocolError: not JSON, unknown command, unknown fields, or values of another type.
    """
    message = _parse(line, "do", COMMANDS)
    assert isinstance(message, Command)
    return message


def parse_event(line: str) -> Event:
    """The event in one line of JSON; raises ProtocolError like `parse_command`."""
    message = _parse(line, "event", EVENTS)
    assert isinstance(message, Event)
    return message


def _parse(line: str, key: str, known: Any) -> Message:  # noqa: ANN401 -- two maps of one shape
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not a JSON message: {line.strip()[:80]!r} ({error})") from error
    if not isinstance(data, dict) or not isinstance(data.get(key), str):
        raise ProtocolError(f"a message needs a {key!r}: {line.strip()[:80]!r}")
    name = data.pop(key)
    if name not in known:
        raise ProtocolError(f"unknown {key} {name!r}; known: {', '.join(known)}")
    wrong = misfit(known[name], data)
    if wrong is not None:
        raise ProtocolError(f"{name!r}: {wrong}")
    message: Message = known[name](**data)
    return message
