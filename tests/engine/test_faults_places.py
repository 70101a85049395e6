"""Faults hit the layer, slot, head and model that they are told to, and no other."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from pocket_tts.modules.stateful_module import init_states

from kvstudio.analysis.checker import check
from kvstudio.engine import pocket
from kvstudio.engine.faults.moment import Moment
from kvstudio.engine.faults.plan import FaultPlan
from kvstudio.engine.faults.speaking import speak
from kvstudio.engine.session import Session
from kvstudio.recording.reader import Recording
from kvstudio.recording.recipes import parse_edit
from kvstudio.recording.spec import ModelSource
from tests.engine.planting import plant
from tests.engine.running import session_with

Caches = list[torch.Tensor]  # by layer, [2, 1, T, H, D]


@pytest.fixture(scope="module")
def session() -> Session:
    return session_with(ModelSource(), "low")


@pytest.fixture(scope="module")
def grouped(tiny_grouped_config: Path, demo_voice: Path) -> Session:
    return session_with(ModelSource("config", str(tiny_grouped_config)), str(demo_voice))


def voice_caches(session: Session, *edits: str) -> Caches:
    """The caches of the voice state after edits at frame 0."""
    assert session.tts is not None
    assert session.voice is not None
    plan = FaultPlan(session.tts, [parse_edit(edit) for edit in edits], demo=True)
    state = {
        name: {key: tensor.clone() for key, tensor in entry.items()}
        for name, entry in session.voice.state.items()
    }
    plan.spoil(state)
    return [state[name]["cache"] for name in pocket.attention_modules(session.tts.flow_lm)]


def changed(session: Session, *edits: str) -> list[torch.Tensor]:
    """Where the voice state differs after edits, by layer, `[2, T, H]`."""
    pairs = zip(voice_caches(session), voice_caches(session, *edits), strict=True)
    return [(before != after)[:, 0].any(-1) for before, after in pairs]


@pytest.mark.parametrize("recipe", ["poke-nan", "poke-zero", "poke-copy", "poke-voice"])
@pytest.mark.parametrize("kv", ["K", "V", "both"])
def test_a_poke_hits_its_cells(session: Session, recipe: str, kv: str) -> None:
    found = changed(session, f"{recipe}:layer=2,slot=5,count=3,head=1,kv={kv}@0")
    wanted = torch.zeros_like(found[2])
    halves = {"K": [0], "V": [1], "both": [0, 1]}[kv]
    wanted[halves, 5:8, 1] = True
    assert torch.equal(found[2], wanted)
    assert not any(each.any() for layer, each in enumerate(found) if layer != 2)


def test_pokes_put_what_they_say(session: Session) -> None:
    healthy = voice_caches(session)
    assert torch.isnan(voice_caches(session, "poke-nan:slot=3@0")[0][:, :, 3]).all()
    assert (voice_caches(session, "poke-zero:slot=-1@0")[5][:, :, -1] == 0).all()
    copied = voice_caches(session, "poke-copy:slot=4,source=-2@0")
    assert torch.equal(copied[1][:, :, 4], healthy[1][:, :, -2])
    session.make_voice("high")
    high = voice_caches(session)
    session.make_voice("low")
    other = voice_caches(session, "poke-voice:voice=high,slot=2,count=4@0")
    assert torch.equal(other[3][:, :, 2:6], high[3][:, :, 2:6])
    assert torch.equal(other[3][:, :, 6:], healthy[3][:, :, 6:])


def test_one_head_of_a_grouped_model(grouped: Session) -> None:
    found = changed(grouped, "poke-zero:layer=1,slot=2,head=0@0")
    assert found[1].shape[-1] == 1
    assert found[1][:, 2, 0].all()
    with pytest.raises(Exception, match="there is no head 1; K and V have heads 0 to 0"):
        changed(grouped, "poke-zero:head=1@0")


def first_difference(session: Session, folder: Path, edit: str) -> tuple[set[int], set[int]]:
    """Layers whose cache differs at the end of the first frame that differs, and their slots."""
    healthy = plant(session, folder, trace="cache")
    faulty = plant(session, folder, edit, trace="cache")
    with Recording.open(healthy.path) as one, Recording.open(faulty.path) as other:
        caches = [cache for cache in one.caches if cache.model == "flow_lm"]
        for frame in one.frames[2:]:
            layers, slots = set(), set()
            for cache in caches:
                ours, theirs = one.values(cache, frame.id), other.values(cache, frame.id)
                both = min(ours.shape[2], theirs.shape[2])
                same = (ours[:, :, :both] == theirs[:, :, :both]) | (
                    (ours[:, :, :both] != ours[:, :, :both])
                    & (theirs[:, :, :both] != theirs[:, :, :both])
                )
                wrong = (~same).any(axis=(0, 1, 3, 4)).nonzero()[0].tolist()
                if wrong:
                    layers.add(cache.layer)
                    slots.update(wrong)
            if layers:
                return layers, slots
    raise AssertionError("no cache differs")


@pytest.mark.parametrize(
    ("edit", "layers"),
    [
        ("lost-write:layer=2@6", {2}),
        ("lost-write@6", {0, 1, 2, 3, 4, 5}),
        ("stale-address:layer=3@6", {3, 4, 5}),
        ("rope-shift:layer=5@6", {5}),
        ("swapped-kv:layer=4@6", {4, 5}),
        ("off-by-one-read:layer=2@6", {3, 4, 5}),
        ("overflow:layer=3@6", {4, 5}),
        ("coarse-kv:layer=1@6", {1, 2, 3, 4, 5}),
    ],
)
def test_a_patch_hits_its_layer(
    session: Session, tmp_path: Path, edit: str, layers: set[int]
) -> None:
    found, slots = first_difference(session, tmp_path, edit)
    assert found == layers
    assert len(slots) == 1


@pytest.mark.parametrize(
    ("edit", "hit"),
    [
        ("off-by-one-read@1", "flow_lm"),
        ("lost-write@1", "flow_lm"),
        ("text-sees-ahead@1", "flow_lm"),
        ("short-window:window=2@2", "mimi"),
        ("see-ahead:by=3@2", "mimi"),
    ],
)
def test_the_other_model_is_left_alone(session: Session, edit: str, hit: str) -> None:
    """`complete_kv` and the mask serve FlowLM and Mimi alike, but only one of them is meant."""
    tts: Any = session.tts
    assert session.voice is not None

    def passes() -> dict[str, torch.Tensor]:
        state: Any = copy.deepcopy(session.voice.state)  # type: ignore[union-attr]
        tts._expand_kv_cache(state, sequence_length=60)
        tts._run_flow_lm_and_increment_step(model_state=state, text_tokens=tokens)
        codec = init_states(tts.mimi, batch_size=1, sequence_length=32)
        audio = tts.mimi.decode_from_latent(latent, codec)
        return {"flow_lm": list(state.values())[-1]["cache"], "mimi": audio}

    tokens, latent = torch.tensor([[3, 4, 5, 6]]), torch.ones(1, 1, tts.flow_lm.ldim)
    with torch.no_grad():
        healthy = passes()
        plan = FaultPlan(tts, [parse_edit(edit)])
        with plan.doors(), plan.applied():
            frame = parse_edit(edit).frame
            phase: Any = "text" if frame == 1 else "decode"
            plan.before(Moment(frame, phase, session.voice.state, None))
            faulty = passes()
    same = {
        name: torch.equal(healthy[name].nan_to_num(7), faulty[name].nan_to_num(7))
        for name in healthy
    }
    assert same == {name: name != hit for name in healthy}


def test_for_one_frame_only(session: Session, tmp_path: Path) -> None:
    def wrong(edit: str) -> list[int]:
        faulty = plant(session, tmp_path, edit, trace="full")
        with Recording.open(faulty.path) as recording:
            return sorted({each.frame for each in recording.evidence.misuses()})

    assert wrong("off-by-one-read:frames=1@6") == [6]
    assert wrong("off-by-one-read:frames=3,layer=5@6") == [6, 7, 8]


def test_capacity(session: Session, tmp_path: Path) -> None:
    faulty = plant(session, tmp_path, "shrink-expansion:room=2@1")
    with Recording.open(faulty.path) as recording:
        chunk = recording.chunks[0]
    assert chunk.capacity_after == chunk.current_end + chunk.token_count + 2
    assert chunk.required_len > chunk.capacity_after  # it was asked for more, and gave less


def test_the_expansion_of_a_later_chunk(session: Session, tmp_path: Path) -> None:
    text = "Hi all. No cat."
    faulty = plant(session, tmp_path, "shrink-expansion:room=2@3", text=text, max_tokens=8)
    with Recording.open(faulty.path) as recording:
        first, second = recording.chunks[:2]
    assert first.capacity_after == first.required_len
    assert second.capacity_after < second.required_len


@pytest.mark.parametrize(
    ("edit", "slots"),
    [("no-marker@0", -1), ("zero-marker@0", 0), ("marker-misplaced@0", 0), ("marker-twice@0", 1)],
)
def test_the_marker(session: Session, tmp_path: Path, edit: str, slots: int) -> None:
    def first_keys(*edits: str) -> tuple[int, Any]:
        with Recording.open(plant(session, tmp_path, *edits, trace="cache").path) as recording:
            return recording.chunks[0].current_end, recording.values(recording.caches[0], 0)

    healthy, faulty = first_keys(), first_keys(edit)
    assert faulty[0] == healthy[0] + slots
    assert (faulty[1][:, :, 0] == healthy[1][:, :, 0]).all() == (edit == "marker-twice@0")


def test_a_tail_that_nobody_reads_is_no_fault(session: Session, tmp_path: Path) -> None:
    """A state set back leaves old speech past its offset; the next run writes over it."""
    assert session.voice is not None
    kept = session.voice.state
    longer: Any = copy.deepcopy(kept)
    speak(session.tts, longer, 40, 20, torch.Generator().manual_seed(3))
    for name, entry in kept.items():
        longer[name]["offset"].copy_(entry["offset"])
    session.voice.state = longer
    try:
        again = plant(session, tmp_path, trace="full")
        leaking = plant(session, tmp_path, "off-by-one-read:frames=1@3", trace="full")
    finally:
        session.voice.state = kept
    healthy = plant(session, tmp_path)
    assert again.latents == healthy.latents
    with Recording.open(again.path) as recording:
        assert check(recording).findings == ()
    with Recording.open(leaking.path) as recording:
        assert {each.kind for each in recording.evidence.misuses()} == {"stale-read"}
