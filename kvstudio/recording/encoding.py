"""How Python's values become columns of a recording."""

import json
import math

import numpy as np

from kvstudio.recording.rows import Floats


def blob(values: Floats | None) -> bytes:
    if values is None:
        return b""
    return np.ascontiguousarray(values, dtype="<f4").tobytes()


def real(number: float | None) -> float | str | None:
    # SQLite turns a NaN into NULL, which here means "there is none".
    return "nan" if number is not None and math.isnan(number) else number


def as_json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    # Half of a surrogate pair, as in file names that are not Unicode, survives only escaped.
    return text if text == as_unicode(text) else json.dumps(value)


def as_unicode(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
