"""What the engine tells the window."""

from dataclasses import dataclass, field
from typing import Any

from kvstudio.recording.protocol.message import Message

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
class Found(Event):
    """The checks found something new after `frame`; once for each finding.

    All findings are in the recording. A consequence of one of them is told only if the run holds
    because of its kind, see `Break`.
    """

    name = "found"
    kind: str = ""
    frame: int | None = None
    message: str = ""


@dataclass(frozen=True)
class Breaking(Event):
    """The run will hold at findings of these kinds: the answer to `Break`."""

    name = "breaking"
    kinds: list[str] = field(default_factory=list)


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
        Found,
        Breaking,
        Finished,
        Failed,
        Log,
    )
}
