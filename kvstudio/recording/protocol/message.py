"""What every message between the window and the engine is: a line of JSON."""

import json
from dataclasses import asdict, dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Message:
    """Base of all messages; `key` is the JSON key that names the message, `name` its value."""

    key: ClassVar[str]
    name: ClassVar[str]

    def to_line(self) -> str:
        # Escaped, because a file name need not be Unicode and a pipe carries nothing else.
        return json.dumps({self.key: self.name, **asdict(self)}) + "\n"
