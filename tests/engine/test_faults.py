"""Every recipe changes the run from its frame on, and nothing but that run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kvstudio.engine import selftest
from kvstudio.engine.session import Session
from kvstudio.recording.recipes import RECIPES, parse_edit
from kvstudio.recording.spec import DEMO_TEXT, ModelSource
from tests.engine.planting import Ran, plant, raw_state, snapshot
from tests.engine.running import assert_same_run, session_with

CASES = selftest.cases()
# What it changes is in no latent and no sound: that is what is bad about it.
HARMLESS = "expand-not-nan"


@pytest.fixture(scope="module")
def session() -> Session:
    return session_with(ModelSource(), "low")


@pytest.fixture(scope="module")
def untouched(session: Session, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """Runs without edits, by text."""
    folder = tmp_path_factory.mktemp("untouched")
    return {text: plant(session, folder, text=text) for text in (selftest.SHORT_TEXT, DEMO_TEXT)}


@pytest.fixture(scope="module", autouse=True)
def same_again(
    session: Session, untouched: dict[str, Ran], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """After all the faults of this file a run without any is what it was before them."""
    yield
    again = plant(session, tmp_path_factory.mktemp("again"), text=selftest.SHORT_TEXT)
    assert_same_run(again.heard, untouched[selftest.SHORT_TEXT].heard)


@pytest.mark.parametrize("edit", CASES)
def test_a_fault(session: Session, untouched: dict[str, Ran], tmp_path: Path, edit: str) -> None:
    recipe = RECIPES[parse_edit(edit).recipe]
    text = DEMO_TEXT if recipe.at is not None else selftest.SHORT_TEXT
    before = snapshot(session.tts), session.voice, raw_state(session.voice.state)  # type: ignore[union-attr]

    first = plant(session, tmp_path, edit, text=text)
    assert snapshot(session.tts) == before[0]
    assert session.voice is before[1]
    assert raw_state(session.voice.state) == before[2]  # type: ignore[union-attr]
    again = plant(session, tmp_path, edit, text=text)

    assert first.everything == again.everything
    assert first.plan.truths == again.plan.truths
    truth = first.plan.truths[edit]
    assert truth is not None
    if truth.frames:
        assert min(truth.frames) >= parse_edit(edit).frame
    assert (first.outcome.status == "failed") == recipe.loud
    healthy = untouched[text]
    assert first.everything != healthy.everything
    if recipe.name == HARMLESS:
        assert (first.latents, first.sound) == (healthy.latents, healthy.sound)
    earlier = [frame for frame in healthy.latents if frame < parse_edit(edit).frame]
    assert [first.latents[frame] for frame in earlier] == [healthy.latents[f] for f in earlier]
