"""The recording of a run says what the run was, bit for bit, at every frame."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from pocket_tts import export_model_state

from kvstudio.engine.session import Session
from kvstudio.engine.wrapping import wrapped
from kvstudio.recording.reader import Recording
from kvstudio.recording.roles import SlotRole
from kvstudio.recording.rows import Cache, Frame
from kvstudio.recording.spec import ModelSource, RunSpec, TraceLevel
from tests import voices
from tests.engine.running import Heard, listening, observed, raw, session_with

CHUNKS = "The cat sat down. The dog ran off. A bird sang."


@dataclass
class Seen:
    """What the model held after each frame, copied then.

    Attributes:
        caches, offsets: by frame, then by (model, state key).
        asked: arguments of every `_expand_kv_cache` and the capacity before.
        rng: the state of torch's generator before every FlowLM pass.
    """

    heard: Heard
    recording: Recording
    caches: dict[int, dict[tuple[str, str], torch.Tensor]] = field(default_factory=dict)
    offsets: dict[int, dict[tuple[str, str], int]] = field(default_factory=dict)
    asked: list[tuple[int, int]] = field(default_factory=list)
    rng: list[bytes] = field(default_factory=list)

    def frames(self, phase: str) -> list[Frame]:
        return [frame for frame in self.recording.frames if frame.phase == phase]

    def caches_of(self, model: str) -> list[Cache]:
        return [cache for cache in self.recording.caches if cache.model == model]


def watch(session: Session, spec: RunSpec, path: Path) -> Seen:
    """Runs `spec` and copies what the model holds at every frame."""
    seen = Seen(Heard(), None)  # type: ignore[arg-type]  # set below
    tts: Any = session.tts

    def expand(original: Callable[..., Any], model_state: Any, sequence_length: int) -> Any:  # noqa: ANN401
        first = next(iter(model_state.values()))["cache"]
        seen.asked.append((sequence_length, first.shape[2]))
        return original(model_state, sequence_length=sequence_length)

    def flow_lm(original: Callable[..., Any], **kwargs: object) -> object:
        seen.rng.append(raw(torch.get_rng_state()))
        return original(**kwargs)

    def on_frame(frame: int) -> None:
        seen.caches[frame], seen.offsets[frame] = {}, {}
        states = [("flow_lm", outer.flow_states), ("mimi", outer.mimi_states)]
        for model, chunks in states:
            for key, entry in (chunks[-1] if chunks else {}).items():
                if "cache" in entry:
                    seen.caches[frame][model, key] = entry["cache"].clone()
                    seen.offsets[frame][model, key] = int(entry["offset"][0])

    with (
        listening(tts) as outer,
        wrapped(tts, "_expand_kv_cache", expand),
        wrapped(tts, "_run_flow_lm_and_increment_step", flow_lm),
    ):
        outcome, seen.heard = observed(session, spec, path, on_frame=on_frame)
    assert outcome.status == "finished"
    seen.recording = Recording.open(path)
    seen.recording.ops.refresh()
    return seen


@pytest.fixture(scope="module")
def demo() -> Session:
    return session_with(ModelSource(), "low")


@pytest.fixture(
    scope="module", params=[True, False], ids=["three chunks", "three chunks that continue"]
)
def seen(
    request: pytest.FixtureRequest, demo: Session, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Seen]:
    spec = RunSpec(text=CHUNKS, max_tokens=20, temperature=0.7, copy_state=request.param)
    found = watch(demo, spec, tmp_path_factory.mktemp("truth") / "run.kvrec")
    yield found
    found.recording.close()


@pytest.fixture(scope="module")
def grouped(tiny_grouped_config: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    voice = str(tiny_grouped_config.with_name("voice.safetensors"))
    session = session_with(ModelSource("config", str(tiny_grouped_config)), voice)
    spec = RunSpec(text="One two three.", eos_threshold=-1000.0)
    found = watch(session, spec, tmp_path_factory.mktemp("truth") / "run.kvrec")
    yield found
    found.recording.close()


def test_values_of_every_cache_at_every_frame(seen: Seen) -> None:
    compared = 0
    for frame in seen.recording.frames[1:]:
        for cache in seen.recording.caches:
            held = seen.caches[frame.id].get((cache.model, cache.name))
            if held is None or seen.recording.cache_states(frame.id).get(cache.id) is None:
                assert frame.phase == "text"  # Mimi's state is made with the first latent
                assert cache.model == "mimi"
                continue
            found = seen.recording.values(cache, frame.id)
            assert found.shape == tuple(held.shape)
            assert found.tobytes() == raw(held), (frame.title, cache.name)
            compared += 1
    assert compared > 10 * len(seen.recording.frames[1:]) * 0.8


def test_values_with_grouped_heads(grouped: Seen) -> None:
    for frame in grouped.frames("decode"):
        for cache in grouped.recording.caches:
            held = grouped.caches[frame.id][cache.model, cache.name]
            assert grouped.recording.values(cache, frame.id).tobytes() == raw(held)
    assert {cache.heads for cache in grouped.caches_of("flow_lm")} == {1}


def test_frame_0_is_the_voice(seen: Seen, demo: Session) -> None:
    assert demo.voice is not None
    for cache in seen.caches_of("flow_lm"):
        entry = demo.voice.state[cache.name]
        assert seen.recording.values(cache, 0).tobytes() == raw(entry["cache"])
        slots = seen.recording.slots(cache, 0)
        assert slots.offset == slots.capacity == int(entry["offset"][0])
        assert set(slots.roles) == {SlotRole.VOICE}


def test_offsets_and_capacities(seen: Seen) -> None:
    for frame in seen.recording.frames[1:]:
        states = seen.recording.cache_states(frame.id)
        for cache in seen.recording.caches:
            if cache.id not in states:
                continue
            held = seen.caches[frame.id][cache.model, cache.name]
            assert states[cache.id].capacity == held.shape[2]
            assert states[cache.id].offset == seen.offsets[frame.id][cache.model, cache.name]
            nan_slots = held.isnan().any(4).any(3).any(1).any(0).sum()
            assert states[cache.id].nan_slots == nan_slots


def test_terms_of_the_ledger(seen: Seen, demo: Session) -> None:
    tts: Any = demo.tts
    assert len(seen.recording.chunks) == len(seen.asked) == 3
    offset = int(next(iter(demo.voice.state.values()))["offset"][0]) if demo.voice else 0
    continues = not seen.recording.spec.copy_state
    for chunk, (asked, before) in zip(seen.recording.chunks, seen.asked, strict=True):
        tokens = tts.flow_lm.conditioner.prepare(chunk.text)
        assert [number for number, _ in chunk.tokens] == tokens[0].tolist()
        assert chunk.token_count == tokens.shape[1]
        assert chunk.max_gen_len == tts._estimate_max_gen_len(tokens.shape[1])
        assert chunk.current_end == offset
        assert chunk.required_len == asked
        assert chunk.required_len == offset + chunk.token_count + chunk.max_gen_len
        assert chunk.capacity_before == before
        assert chunk.capacity_after == max(asked, before)
        assert chunk.continues == (chunk.id - 1 if continues and chunk.id else None)
        last = [frame for frame in seen.recording.frames if frame.chunk == chunk.id][-1]
        if continues:
            offset = seen.offsets[last.id]["flow_lm", seen.caches_of("flow_lm")[0].name]
    assert "".join(piece for _, piece in seen.recording.chunks[0].tokens).strip("▁")


def test_expansions(seen: Seen) -> None:
    for chunk in seen.recording.chunks:
        rows = seen.recording.expansions(chunk.id)
        assert [row.cache for row in rows] == [cache.id for cache in seen.caches_of("flow_lm")]
        for row in rows:
            assert (row.capacity_before, row.capacity_after) == (
                chunk.capacity_before,
                chunk.capacity_after,
            )
            assert row.changed_slot is None
            assert row.not_nan_slot is None
            assert row.fill == ("nan" if chunk.capacity_after > chunk.capacity_before else "none")


def test_every_slot_names_the_frame_that_wrote_it(seen: Seen) -> None:
    recording = seen.recording
    for cache in recording.caches:
        expected: dict[int, tuple[int, SlotRole]] = {}
        before, chunk = 0, -1
        for frame in recording.frames[1:]:
            if frame.chunk != chunk:
                chunk = frame.chunk
                if cache.model == "mimi" or recording.chunks[chunk].continues is None:
                    before = recording.chunks[chunk].current_end if cache.model == "flow_lm" else 0
                    expected = dict.fromkeys(range(before), (-1, SlotRole.VOICE))
            state = recording.cache_states(frame.id).get(cache.id)
            if state is None or "encoder" in cache.name:
                continue
            assert state.offset is not None
            role = SlotRole.TEXT if frame.phase == "text" else SlotRole.GENERATED
            expected |= dict.fromkeys(range(before, state.offset), (frame.id, role))
            before = state.offset
            slots = recording.slots(cache, frame.id)
            for slot in range(slots.capacity):
                number, kind = expected.get(slot, (-1, SlotRole.UNWRITTEN))
                assert (slots.frames[slot], slots.roles[slot]) == (number, kind)


@pytest.mark.parametrize("trace", ["cache", "off"])
def test_lower_trace_levels_tell_the_same(
    seen: Seen, demo: Session, tmp_path: Path, trace: TraceLevel
) -> None:
    """Fewer things, but the same of each: roles and frames of slots, offsets, latents, audio."""
    full = seen.recording
    observed(demo, replace(full.spec, trace=trace), tmp_path / "run.kvrec")
    with Recording.open(tmp_path / "run.kvrec") as less:
        assert [f.title for f in less.frames] == [f.title for f in full.frames]
        assert [f.stop_logit for f in less.frames] == [f.stop_logit for f in full.frames]
        assert less.audio().tobytes() == full.audio().tobytes()
        assert {f.op_count for f in less.frames} == {0}
        for frame in full.frames:
            latent, same = less.latent(frame.id), full.latent(frame.id)
            assert (latent is None) == (same is None)
            if latent is not None and same is not None:
                assert latent.tobytes() == same.tobytes()
            for ours, theirs in zip(
                less.slot_maps(frame.id), full.slot_maps(frame.id), strict=True
            ):
                assert ours.roles.tolist() == theirs.roles.tolist()
                assert ours.frames.tolist() == theirs.frames.tolist()
                assert (ours.offset, ours.capacity) == (theirs.offset, theirs.capacity)
        for cache in full.caches if trace == "cache" else ():
            last = full.frames[-1].id
            assert less.values(cache, last).tobytes() == full.values(cache, last).tobytes()


def test_latents_and_stop_logits(seen: Seen) -> None:
    passes = [frame for frame in seen.recording.frames if frame.phase != "voice"]
    assert len(passes) == len(seen.heard.latents) == len(seen.heard.logits)
    for frame, latent, logit in zip(passes, seen.heard.latents, seen.heard.logits, strict=True):
        kept = seen.recording.latent(frame.id)
        if frame.phase == "text":
            assert kept is None
            assert frame.stop_logit is None
            continue
        assert kept is not None
        assert kept.tobytes() == raw(latent)
        assert frame.stop_logit == float(logit)
        assert frame.stop_threshold == -4.0
        assert frame.eos == (float(logit) > 0.0)


def test_random_state_before_every_pass(seen: Seen) -> None:
    rows = dict(seen.recording._rows("SELECT frame, state FROM rng"))
    passes = [frame.id for frame in seen.recording.frames if frame.phase != "voice"]
    assert [rows[frame] for frame in passes] == seen.rng
    torch.manual_seed(seen.recording.spec.seed)
    assert rows[1] == raw(torch.get_rng_state())


def test_audio_is_what_was_heard(seen: Seen) -> None:
    assert seen.recording.audio().tobytes() == raw(seen.heard.audio)
    pieces = list(seen.recording.audio_frames())
    decoded = [frame.id for frame in seen.frames("decode")]
    # The last latent of a chunk lies past EOS and is never decoded.
    dropped = {
        [frame.id for frame in seen.frames("decode") if frame.chunk == chunk.id][-1]
        for chunk in seen.recording.chunks
    }
    assert [frame for frame, _, _ in pieces] == [each for each in decoded if each not in dropped]
    assert [first for _, first, _ in pieces] == list(range(0, 1920 * len(pieces), 1920))
    assert {len(samples) for _, _, samples in pieces} == {1920}


def test_tensors_of_the_state(seen: Seen) -> None:
    last = seen.recording.frames[-1].id
    found = {(row.model, row.entry, row.key): row for row in seen.recording.tensors(last)}
    states = [("flow_lm", seen.heard.flow_states[-1]), ("mimi", seen.heard.mimi_states[-1])]
    for model, state in states:
        for entry, tensors in state.items():
            for key, tensor in tensors.items():
                row = found.pop((model, entry, key))
                assert row.shape == str(list(tensor.shape))
                assert row.dtype == str(tensor.dtype).removeprefix("torch.")
                if tensor.numel() == 1:
                    assert row.value == str(tensor.item())
    assert not found


def test_ops_that_wrote_and_read_a_slot(seen: Seen) -> None:
    recording = seen.recording
    frame = seen.frames("decode")[3]
    for cache in seen.caches_of("flow_lm"):
        after = recording.cache_states(frame.id)[cache.id].offset
        assert after is not None
        touches = recording.ops.touching(cache.id, after - 1, frame.id)
        in_frame = [(recording.ops.get(op), touch) for op, touch in touches]
        in_frame = [(op, touch) for op, touch in in_frame if op.frame == frame.id]
        wrote = [(op, touch) for op, touch in in_frame if touch.write]
        read = [(op, touch) for op, touch in in_frame if not touch.write]
        assert [(touch.kv, touch.first, touch.last) for _, touch in wrote] == [
            (0, after - 1, after),
            (1, after - 1, after),
        ]
        for op, _ in wrote:
            assert op.name == "aten.copy_.default"
            assert op.site[0] == "pocket_tts/modules/attention.py"
            assert op.site[2] == "complete_kv"
            assert op.module == f"flow_lm.{cache.name}"
        assert {op.name for op, _ in read} == {
            "aten._scaled_dot_product_flash_attention_for_cpu.default"
        }
        assert {(touch.kv, touch.first, touch.last) for _, touch in read} == {
            (0, 0, after),
            (1, 0, after),
        }


def test_ops_that_read_grouped_heads(grouped: Seen) -> None:
    """The heads are repeated first, and it is that copy which attention looks at."""
    frame = grouped.frames("decode")[3]
    for cache in grouped.caches_of("flow_lm"):
        after = grouped.recording.cache_states(frame.id)[cache.id].offset or 0
        touches = grouped.recording.ops.touching(cache.id, after - 1, frame.id)
        read = [
            (grouped.recording.ops.get(op).name, touch.kv, touch.first, touch.last)
            for op, touch in touches
            if not touch.write
        ]
        attention = "aten._scaled_dot_product_flash_attention_for_cpu.default"
        assert sorted(read[-4:]) == [
            (name, kv, 0, after) for name in (attention, "aten.clone.default") for kv in (0, 1)
        ]


def test_sources_of_all_sites_are_kept(seen: Seen) -> None:
    recording = seen.recording
    for frame in (seen.frames("voice")[0], seen.frames("text")[0], seen.frames("decode")[0]):
        ids = recording.ops.of_frame(frame.id)
        assert len(ids) == frame.op_count > 0
        for number in ids:
            file, line, function = recording.ops.get(int(number)).site
            source = recording.source(file)
            assert source is not None
            above = source.splitlines()[:line]
            assert len(above) == line
            if file.startswith("pocket_tts") and not function.startswith("<"):
                assert any(f"def {function}(" in text for text in above)


def test_state_files_old_and_new(demo: Session, tmp_path: Path) -> None:
    """A voice state from a file is the state, also one of 1.x with `current_end`."""
    demo.make_voice("high")
    assert demo.voice is not None
    file = tmp_path / "high.safetensors"
    export_model_state(demo.voice.state, file)
    fresh = watch(demo, RunSpec(voice="high", text="Yes."), tmp_path / "audio.kvrec")
    for number, path in enumerate([file, voices.state_with_current_end(file, tmp_path)]):
        demo.make_voice(str(path))
        again = watch(demo, RunSpec(voice=str(path), text="Yes."), tmp_path / f"{number}.kvrec")
        assert raw(again.heard.audio) == raw(fresh.heard.audio)
        last = again.recording.frames[-1].id
        assert last == fresh.recording.frames[-1].id
        for cache in again.recording.caches:
            ours, theirs = (each.recording.values(cache, last) for each in (again, fresh))
            assert ours.tobytes() == theirs.tobytes()
        assert again.recording.frames[0].op_count == 0
        again.recording.close()
    fresh.recording.close()
    demo.make_voice("low")
