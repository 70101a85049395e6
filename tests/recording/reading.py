"""Reads all that a recording holds, through every method that a panel or a check may call."""

import sqlite3
from contextlib import closing
from pathlib import Path

from kvstudio.recording.errors import RecordingError
from kvstudio.recording.reader import Recording


def read_everything(path: Path) -> int:
    """The number of frames; raises what reading raises."""
    with Recording.open(path) as recording:
        _read_run(recording)
        for frame in range(len(recording.frames)):
            _read_frame(recording, frame)
        _read_ops(recording)
        return len(recording.frames)


def error_of(path: Path) -> RecordingError | None:
    """The RecordingError that the file provokes; None if all of it can be read."""
    error = None
    try:
        read_everything(path)
    except RecordingError as met:
        error = met
    if error is not None:
        assert str(error).startswith(f"{path}: ")
        assert error.path == path
        assert len(error.what) > len("is damaged")
    return error


def tamper(path: Path, *statements: str, values: tuple[object, ...] = ()) -> None:
    """Changes a closed recording behind our back, as any SQLite program can."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement, values)


def _read_run(recording: Recording) -> None:
    recording.refresh()
    assert recording.spec.to_json()
    assert recording.status
    assert recording.live in (True, False)
    recording.logs()
    recording.expansions()
    recording.op_counts()
    recording.audio()
    recording.source("pocket_tts/modules/attention.py")
    for chunk in recording.chunks:
        recording.expansions(chunk.id)
        recording.base_offsets(chunk.id)
        for cache in recording.caches:
            recording.values_before_expansion(cache, chunk.id)


def _read_frame(recording: Recording, frame: int) -> None:
    assert recording.frames[frame].title
    recording.cache_states(frame)
    recording.chain(frame)
    recording.tensors(frame)
    recording.tensors(frame, changed=True)
    recording.latent(frame)
    recording.frame_audio(frame)
    recording.frame_writes(frame)
    for found in recording.slot_maps(frame):
        assert len(found.roles) == len(found.frames) == len(found.written) == found.capacity
        values = recording.values(found.cache, frame)
        assert values.shape[2] == found.capacity


def _read_ops(recording: Recording) -> None:
    ops = recording.ops
    ops.refresh()
    ops.matching("attention -nan 64")
    for frame in range(len(recording.frames)):
        for op in ops.of_frame(frame)[:3]:
            ops.get(op)
            assert ops.call(op).words
            assert ops.shapes_of(op)
    for cache in recording.caches:
        ops.touching(cache.id, 3, len(recording.frames))
