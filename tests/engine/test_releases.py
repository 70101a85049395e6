"""The engine on releases of pocket-tts old and new, each in an environment of its own."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from kvstudio.recording import protocol as p
from kvstudio.recording.interpreter import engine_command
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import ModelSource, RunSpec
from tests import kept
from tests.engine.driving import EngineProcess
from tests.recording.reading import read_everything

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
STOPS_AT_ONCE = -1000.0
TEXT = "One two. Three four."


@pytest.mark.parametrize("number", kept.RELEASES)
def test_release(release: Callable[[str], kept.Release], tmp_path: Path, number: str) -> None:
    theirs = release(number)
    command = engine_command(str(theirs.python))
    try:
        with EngineProcess(command.argv, command.environment) as engine:
            speaks(engine, theirs, number, tmp_path)
            assert engine.corrupted == []
    finally:
        command.cleanup()
    for trace in ("full", "off"):
        check(tmp_path / f"{trace}.kvrec", traced=trace == "full")


def speaks(engine: EngineProcess, theirs: kept.Release, number: str, folder: Path) -> None:
    """One short generation at full trace, stepped and then run; one without; one stopped."""
    ready = engine.next(p.Ready)
    assert ready.versions["pocket_tts"] == number
    assert ready.languages
    assert "alba" in ready.voices
    source = ModelSource("config", str(theirs.config))
    for trace in ("full", "off"):
        spec = RunSpec(
            model=source,
            voice=str(theirs.voice),
            text=TEXT,
            temperature=0.7,
            eos_threshold=STOPS_AT_ONCE,
            frames_after_eos=3,
            max_tokens=8,
            trace=trace,
        )
        engine.begin(spec, folder / f"{trace}.kvrec")
        engine.send(p.Step(count=4))
        assert engine.state("held").next_frame == 5
        engine.send(p.Budget(text=TEXT, max_tokens=8))
        assert len(engine.next(p.Budgeted).chunks) == 2
        engine.send(p.Run())
        finished = engine.next(p.Finished)
        assert (finished.status, finished.reason) == ("finished", "ended by EOS"), engine.stderr
        engine.settle()
    stopped = RunSpec(model=source, voice=str(theirs.voice), text=TEXT)
    for steps in (0, 5):
        engine.begin(stopped, folder / f"stopped-{steps}.kvrec")
        if steps:
            engine.send(p.Step(count=steps))
            engine.state("held")
        finished = engine.finish()
        assert (finished.status, finished.reason) == (
            "stopped",
            f"stopped before frame {steps + 1}",
        )
    assert engine.refusal(p.Voice(voice=str(folder / "lost.wav"))).startswith("there is no voice")


def check(path: Path, *, traced: bool) -> None:
    """Frames, K/V values, ops and audio are all there, and finite."""
    with closing(Recording.open(path)) as recording:
        assert recording.status == "finished"
        assert len(recording.chunks) == 2
        phases = [frame.phase for frame in recording.frames]
        assert phases[:3] == ["voice", "text", "decode"]
        assert phases.count("text") == 2
        decoded = [frame.id for frame in recording.frames if frame.phase == "decode"]
        assert len(decoded) >= 8
        heard = recording.audio()
        assert len(heard) == 1920 * (len(decoded) - 2), "the last latent of a chunk is dropped"
        assert np.isfinite(heard).all()
        assert np.abs(heard).max() > 0
        for frame in decoded:
            latent = recording.latent(frame)
            assert latent is not None
            assert np.isfinite(latent).all()
            assert recording.frames[frame].stop_logit is not None
            assert (recording.frames[frame].op_count > 100) == traced
        last = decoded[-1]
        for cache in recording.caches:
            slots = recording.slots(cache, last)
            if "encoder" in cache.name:
                assert slots.written.sum() == 0  # Mimi counts it up, but only decodes
                continue
            assert slots.offset == slots.written.sum() > 0
            if traced:
                values = recording.values(cache, last)
                assert np.isfinite(values[:, :, slots.written]).all()
                assert np.isnan(values[:, :, ~slots.written]).all()
        for chunk in recording.chunks:
            assert chunk.required_len == chunk.current_end + chunk.token_count + chunk.max_gen_len
            assert chunk.capacity_after == chunk.required_len
            assert [piece for _, piece in chunk.tokens if piece != "?"]
        assert len(recording.expansions()) == 2 * 3
        if traced:
            check_facts(recording)
    assert read_everything(path) == len(phases)


def check_facts(recording: Recording) -> None:
    """What the engine notes besides ops says that all is as it should be."""
    assert recording.evidence.surprises() == []
    assert len(recording.evidence.prefixes()) == 2
    for prefix in recording.evidence.prefixes().values():
        assert (prefix.marker_wanted, prefix.marker_slot, prefix.foreign_slots) == (True, 0, 0)
    decoded = [frame for frame in recording.frames if frame.phase == "decode"]
    fed = [recording.evidence.fed()[frame.id] for frame in decoded]
    assert fed == ["latent" if frame.step else "marker" for frame in decoded]
    assert {frame.stop_threshold for frame in decoded} == {STOPS_AT_ONCE}
    for frame in decoded:
        for cache, state in recording.cache_states(frame.id).items():
            before = recording.cache_states(frame.id - 1).get(cache)
            if frame.step and before is not None and state.found is not None:
                assert state.found == before.offset
