"""What is wrong with a script's run is in its recording while the script still runs."""

from pathlib import Path

import numpy as np
import soundfile
import torch

import kvstudio
from kvstudio.analysis.finding import stored_findings
from kvstudio.engine.demo import demo_voice
from kvstudio.recording.reader import Recording
from tests.engine.scripts import demo_model, prefilled, say, steps, voice


def kinds(path: Path) -> list[tuple[str, int | None]]:
    with Recording.open(path) as recording:
        return [(finding.kind, finding.frame) for finding in stored_findings(recording)]


def test_findings_of_a_script_that_goes_past_the_capacity(tmp_path: Path) -> None:
    tts = demo_model()
    path = tmp_path / "run.kvrec"
    with kvstudio.record(tts, path):
        state = prefilled(tts, voice(tts), frames=2)
        for _ in steps(tts, state, 4):
            pass
        assert kinds(path) == [("dropped-write", 4)]
    assert kinds(path) == [("dropped-write", 4)]
    (found,) = kvstudio.check(path).findings
    assert (found.layer, found.count) == (0, 12)


def test_a_voice_that_got_slots_of_another_voice_between_two_calls(tmp_path: Path) -> None:
    tts = demo_model()
    path = tmp_path / "run.kvrec"
    with kvstudio.record(tts, path):
        low, high = voice(tts, "low"), voice(tts, "high")
        say(tts, low)
        layer = list(high)[2]
        high[layer]["cache"][:, :, 4:9] = low[layer]["cache"][:, :, 4:9]
        say(tts, high)
        again = kinds(path)
        say(tts, high)
    assert kinds(path) == again == [("overwrite", 17)], "told once"
    (found,) = kvstudio.check(path).findings
    assert (found.phase, found.layer, found.slots) == ("voice", 2, (4, 9))


def test_a_voice_that_was_changed_all_over_in_place(tmp_path: Path) -> None:
    tts = demo_model()
    path = tmp_path / "run.kvrec"
    with kvstudio.record(tts, path):
        state = voice(tts)
        say(tts, state)
        for entry in state.values():
            entry["cache"].mul_(1.5)
        say(tts, state)
    (found,) = kvstudio.check(path).findings
    assert (found.kind, found.phase, found.slots) == ("overwrite", "voice", (0, 19))
    assert "marker-missing" in " ".join(link.text for link in found.chain)


def test_voices_that_only_begin_alike_are_two_voices(tmp_path: Path) -> None:
    tts = demo_model()
    path = tmp_path / "run.kvrec"
    low, _ = soundfile.read(demo_voice("low"), dtype="float32")
    high, _ = soundfile.read(demo_voice("high"), dtype="float32")
    spliced = np.concatenate([low[: len(low) * 2 // 3], high[len(low) * 2 // 3 :]])
    states = [
        tts.get_state_for_audio_prompt(torch.from_numpy(samples)[None])
        for samples in (low, spliced)
    ]
    with kvstudio.record(tts, path):
        for state in states:
            say(tts, state)
    assert kvstudio.check(path).verdict == "clean"


def test_a_state_that_two_calls_spoke_with_in_place(tmp_path: Path) -> None:
    tts = demo_model()
    path = tmp_path / "run.kvrec"
    with kvstudio.record(tts, path):
        state = voice(tts)
        say(tts, state, "Yes. No.", copy_state=False, max_tokens=4)
        assert kinds(path) == [], "the chunks of one text go on with what was said"
        say(tts, state, copy_state=False)
    (found,) = kvstudio.check(path).findings
    assert (found.kind, found.phase) == ("stale-read", "text")
    assert found.slots is not None
    assert found.slots[0] == 19
    assert "copy_state=False" in found.message
