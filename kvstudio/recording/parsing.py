"""Whole tables as rows of ours, held against what the rest of the house relies on.

Every function raises ValueError, TypeError or sqlite3.Error for a file that does not keep the
promises of the schema; `opening.reading` puts these in words. Rows are fetched before they are
looked at: a cursor left in the middle of its rows by an error would keep the file locked.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_args

from kvstudio.recording.rows import Cache, Chunk, Facts, Frame, Phase
from kvstudio.recording.typed import from_row, misfit

STATUSES = ("recording", "finished", "stopped", "failed")


def read_facts(connection: sqlite3.Connection) -> Facts:
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    found: dict[str, Any] = {"sample_rate": 24000, "frame_rate": 12.5, "spec_json": meta["spec"]}
    for name in (each.name for each in fields(Facts)):
        if name in meta:
            found[name] = json.loads(meta[name])
    wrong = misfit(Facts, found)
    _require(wrong is None, str(wrong))
    facts = Facts(**found)
    _require(facts.status in STATUSES, f"status is {facts.status!r}")
    _require(facts.sample_rate > 0 and facts.frame_rate > 0, "rates must be more than 0")
    return facts


def read_caches(connection: sqlite3.Connection, first: int) -> list[Cache]:
    """The caches from id `first` on; ids have no gaps."""
    rows = connection.execute("SELECT * FROM cache WHERE id >= ? ORDER BY id", (first,))
    caches = [from_row(Cache, row) for row in rows.fetchall()]
    for place, cache in enumerate(caches, first):
        _require(cache.id == place, f"cache {cache.id} is out of order")
        _require(min(cache.batch, cache.heads, cache.dim) > 0, f"cache {cache.id} has no size")
    return caches


def read_chunks(connection: sqlite3.Connection) -> list[Chunk]:
    """All chunks, which change as more of them becomes known; each continues an earlier one."""
    rows = connection.execute("SELECT * FROM chunk ORDER BY id")
    chunks = [_chunk(row) for row in rows.fetchall()]
    for place, chunk in enumerate(chunks):
        continues = -1 if chunk.continues is None else chunk.continues
        _require(chunk.id == place and -1 <= continues < place, f"chunk {chunk.id} is out of order")
    return chunks


def read_frames(connection: sqlite3.Connection, first: int) -> list[Frame]:
    """The frames from id `first` on; ids have no gaps."""
    rows = connection.execute("SELECT * FROM frame WHERE id >= ? ORDER BY id", (first,))
    frames = [_frame(row) for row in rows.fetchall()]
    for place, frame in enumerate(frames, first):
        _require(frame.id == place, f"frame {frame.id} is out of order")
    return frames


def require_chunks(frames: Sequence[Frame], chunks: int) -> None:
    """Every frame belongs to one of so many chunks, and the frames of a chunk lie together."""
    first = 0
    for frame in frames:
        _require(first <= frame.chunk < chunks, f"frame {frame.id} is of chunk {frame.chunk}")
        first = frame.chunk


def _frame(row: tuple[Any, ...]) -> Frame:
    # SQLite has no NaN; the writer stores it as a text.
    logit = float("nan") if row[4] == "nan" else row[4]
    frame = from_row(Frame, (*row[:4], logit, *row[5:]))
    _require(frame.phase in get_args(Phase), f"phase is {frame.phase!r}")
    return frame


def _chunk(row: tuple[Any, ...]) -> Chunk:
    tokens = tuple((int(number), str(piece)) for number, piece in json.loads(row[2]))
    return from_row(Chunk, (*row[:2], tokens, *row[3:]))


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)
