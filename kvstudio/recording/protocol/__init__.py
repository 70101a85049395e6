"""The messages between the window and the engine: one JSON object a line.

    window -> engine   {"do": "load", "model": {"kind": "demo"}}
    engine -> window   {"event": "progress", "what": "weights", "done": 4096, "total": 8716960}
    engine -> window   {"event": "loaded", "card": {...}}

Commands are answered by events, never by silence: a command that is unknown or comes at the wrong
time gives an `error` event that names it.
"""

import json
from typing import Any

from kvstudio.recording.errors import ProtocolError
from kvstudio.recording.protocol.commands import (
    COMMANDS,
    Break,
    Budget,
    Command,
    Load,
    Pause,
    Run,
    ShutDown,
    Start,
    Step,
    Stop,
    Voice,
)
from kvstudio.recording.protocol.events import (
    ENGINE_STATES,
    EVENTS,
    Breaking,
    Budgeted,
    Event,
    Failed,
    Finished,
    Found,
    FrameAdded,
    Loaded,
    Log,
    Progress,
    Ready,
    Started,
    State,
    Voiced,
)
from kvstudio.recording.protocol.message import Message
from kvstudio.recording.typed import misfit

__all__ = [
    "COMMANDS",
    "ENGINE_STATES",
    "EVENTS",
    "Break",
    "Breaking",
    "Budget",
    "Budgeted",
    "Command",
    "Event",
    "Failed",
    "Finished",
    "Found",
    "FrameAdded",
    "Load",
    "Loaded",
    "Log",
    "Message",
    "Pause",
    "Progress",
    "Ready",
    "Run",
    "ShutDown",
    "Start",
    "Started",
    "State",
    "Step",
    "Stop",
    "Voice",
    "Voiced",
    "parse_command",
    "parse_event",
]


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
