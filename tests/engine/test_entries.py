"""What a step finds is held against what the one before left: only what somebody changed shows."""

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from pocket_tts import export_model_state
from pocket_tts.modules.stateful_module import init_states

from kvstudio.engine.faults.moment import Moment
from kvstudio.engine.session import Session
from kvstudio.engine.state import ModelState
from kvstudio.engine.wrapping import wrapped
from kvstudio.recording.evidence import Surprise
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.engine.editing import At, run_edited
from tests.engine.running import session_with

CHUNKS = RunSpec(text="The cat sat down. The dog ran off.", max_tokens=20, temperature=0.7)
SHORT = RunSpec(text="Yes.", temperature=0.7, eos_threshold=-1e9, frames_after_eos=1)
LAYER = "transformer.layers.1.self_attn"
TEXT, LATER = 1, 5  # frames
Row = tuple[str, str, str, str, int | None, int | None]


@pytest.fixture(scope="module")
def demo() -> Session:
    return session_with(ModelSource(), "low")


@pytest.fixture
def surprised(demo: Session, tmp_path: Path) -> Callable[..., list[Row]]:
    """Runs with an edit before a frame, which alone may be surprised; its surprises."""

    def run(frame: int, edit: Callable[[Moment], None], *others: int) -> list[Row]:
        edits = At(frame, edit, *others)
        with run_edited(demo, SHORT, tmp_path / "run.kvrec", edits) as recording:
            rows = _between_steps(recording)
        assert {row.frame for row in rows} <= {frame}
        return sorted(described(row) for row in rows)

    return run


def _between_steps(recording: Recording) -> list[Surprise]:
    """Without what is said of the same slots once a step has been over them."""
    kinds = ("changed", "fresh", "not fresh")
    return [row for row in recording.evidence.surprises() if row.found in kinds]


def described(row: Surprise) -> Row:
    return row.model, row.entry, row.key, row.found, row.first, row.last


# ---- healthy runs --------------------------------------------------------------------------------


def assert_unsurprised(recording: Recording) -> None:
    """No surprise at all, and each step found the offsets that the one before left."""
    assert recording.evidence.surprises() == []
    left: dict[int, int | None] = {}
    stepped = 0
    for frame in recording.frames[1:]:
        chunk = recording.chunks[frame.chunk]
        for cache in recording.caches:
            state = recording.cache_states(frame.id).get(cache.id)
            if frame.phase == "text":
                left[cache.id] = chunk.current_end if cache.model == "flow_lm" else 0
            if state is None or state.found is None:
                assert cache.model == "mimi"
                continue
            assert state.found == left[cache.id]
            left[cache.id] = state.offset
            stepped += 1
    passes = len(recording.frames) - 1
    decoded = len(list(recording.audio_frames()))
    models = [cache.model for cache in recording.caches]
    assert stepped == passes * models.count("flow_lm") + decoded * models.count("mimi")
    assert {state.found for state in recording.cache_states(0).values()} == {None}


@pytest.mark.parametrize("copy_state", [True, False], ids=["copied", "in place"])
@pytest.mark.parametrize("trace", ["full", "cache"])
def test_a_healthy_run(demo: Session, tmp_path: Path, copy_state: bool, trace: Any) -> None:  # noqa: ANN401
    spec = replace(CHUNKS, copy_state=copy_state, trace=trace)
    with run_edited(demo, spec, tmp_path / "run.kvrec") as recording:
        assert len(recording.chunks) == 2
        assert_unsurprised(recording)


def test_a_voice_from_a_state_file(demo: Session, tmp_path: Path) -> None:
    assert demo.voice is not None
    export_model_state(demo.voice.state, tmp_path / "voice.safetensors")
    session = session_with(ModelSource(), str(tmp_path / "voice.safetensors"))
    with run_edited(session, SHORT, tmp_path / "run.kvrec") as recording:
        assert_unsurprised(recording)


def test_grouped_queries(tiny_grouped_config: Path, tmp_path: Path) -> None:
    voice = str(tiny_grouped_config.with_name("voice.safetensors"))
    session = session_with(ModelSource("config", str(tiny_grouped_config)), voice)
    spec = RunSpec(text="One two. Three four.", max_tokens=8, eos_threshold=-1000.0)
    with run_edited(session, spec, tmp_path / "run.kvrec") as recording:
        assert len(recording.chunks) > 1
        assert_unsurprised(recording)


@pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated")
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_quantised(tmp_path: Path) -> None:
    session = session_with(ModelSource(quantize=True), "low")
    with run_edited(session, SHORT, tmp_path / "run.kvrec") as recording:
        assert_unsurprised(recording)


def test_without_trace_only_offsets(demo: Session, tmp_path: Path) -> None:
    edits = At(LATER, _shift(2))
    spec = replace(SHORT, trace="off")
    with run_edited(demo, spec, tmp_path / "run.kvrec", edits) as recording:
        assert recording.evidence.surprises() == []
        states = recording.cache_states(LATER), recording.cache_states(LATER - 1)
        found, left = states[0][0].found, states[1][0].offset
        assert found is not None
        assert left is not None
        assert found == left + 2


# ---- FlowLM --------------------------------------------------------------------------------------


def _shift(by: int) -> Callable[[Moment], None]:
    def edit(moment: Moment) -> None:
        for tensors in moment.state.values():
            tensors["offset"] += by

    return edit


def _poke(change: Callable[[torch.Tensor], None]) -> Callable[[Moment], None]:
    return lambda moment: change(moment.state[LAYER]["cache"])


def _one_number(cache: torch.Tensor) -> None:
    cache[1, 0, 3, 1, 7] += 1e-6


def _heads_swapped(cache: torch.Tensor) -> None:
    cache[0, 0, 3] = cache[0, 0, 3].flip(0)


def _keys_for_values(cache: torch.Tensor) -> None:
    cache[:, :, 3] = cache[:, :, 3].flip(0)


def _nan(cache: torch.Tensor) -> None:
    cache[:, :, 3] = float("nan")


def _invisibly(cache: torch.Tensor) -> None:
    cache.numpy()[0, 0, 3, 0, 1] = 5.0


@pytest.mark.parametrize("frame", [TEXT, LATER], ids=["before the text", "before a decode step"])
@pytest.mark.parametrize(
    "change", [_one_number, _heads_swapped, _keys_for_values, _nan, _invisibly]
)
def test_a_slot_that_changed_between_steps(
    surprised: Callable[..., list[Row]], frame: int, change: Callable[[torch.Tensor], None]
) -> None:
    assert surprised(frame, _poke(change)) == [("flow_lm", LAYER, "cache", "changed", 3, 4)]


def test_several_ranges(surprised: Callable[..., list[Row]]) -> None:
    def change(cache: torch.Tensor) -> None:
        cache[0, 0, 2:5] = 0
        cache[1, 0, 9] = 0

    assert surprised(LATER, _poke(change)) == [
        ("flow_lm", LAYER, "cache", "changed", 2, 5),
        ("flow_lm", LAYER, "cache", "changed", 9, 10),
    ]


def test_what_lies_past_the_offset_surprises_nobody(surprised: Callable[..., list[Row]]) -> None:
    def change(cache: torch.Tensor) -> None:
        cache[:, :, -1] = 3.0

    assert surprised(LATER, _poke(change)) == []


def test_an_equal_cache_in_another_place(surprised: Callable[..., list[Row]]) -> None:
    def replace_it(moment: Moment) -> None:
        tensors: Any = moment.state[LAYER]
        tensors["cache"] = tensors["cache"].clone()

    assert surprised(LATER, replace_it) == []


@pytest.mark.parametrize("frame", [TEXT, LATER], ids=["before the text", "before a decode step"])
def test_offsets_that_moved(demo: Session, surprised: Callable[..., list[Row]], frame: int) -> None:
    assert demo.voice is not None
    assert surprised(frame, _shift(-1)) == [
        ("flow_lm", entry, "offset", "changed", None, None) for entry in demo.voice.state
    ]


def test_another_dtype(demo: Session, tmp_path: Path) -> None:
    def halve(moment: Moment) -> None:
        tensors: Any = moment.state[LAYER]
        tensors["cache"] = tensors["cache"].half()

    with pytest.raises(RuntimeError):
        run_edited(demo, SHORT, tmp_path / "run.kvrec", At(LATER, halve))
    with Recording.open(tmp_path / "run.kvrec") as recording:
        left = recording.cache_states(LATER - 1)[1].offset
        rows = [described(row) for row in _between_steps(recording)]
        assert rows == [("flow_lm", LAYER, "cache", "changed", 0, left)]


# ---- Mimi ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tts(demo: Session) -> Any:  # noqa: ANN401
    return demo.tts


@pytest.fixture(scope="module")
def fresh(tts: Any) -> ModelState:  # noqa: ANN401
    state: ModelState = init_states(tts.mimi, 1, 4000)
    return state


def _keyed(state: ModelState, key: str) -> list[str]:
    """The decoder's entries with a tensor of that name that holds something."""
    return sorted(
        name
        for name, tensors in state.items()
        if key in tensors
        and tensors[key].numel()
        and "encoder" not in name
        and name != "downsample.conv"
    )


@pytest.mark.parametrize("key", ["previous", "partial"])
def test_one_codec_tensor_reset(
    surprised: Callable[..., list[Row]], fresh: ModelState, key: str
) -> None:
    def reset(moment: Moment) -> None:
        assert moment.mimi_state is not None
        for name in _keyed(fresh, key):
            moment.mimi_state[name][key].zero_()

    assert surprised(LATER, reset) == [
        ("mimi", name, key, "fresh", None, None) for name in _keyed(fresh, key)
    ]


def test_one_codec_tensor_changed(surprised: Callable[..., list[Row]], fresh: ModelState) -> None:
    name = _keyed(fresh, "partial")[0]

    def change(moment: Moment) -> None:
        assert moment.mimi_state is not None
        moment.mimi_state[name]["partial"].mul_(-1)

    assert surprised(LATER, change) == [("mimi", name, "partial", "changed", None, None)]


def test_codec_slots(surprised: Callable[..., list[Row]], fresh: ModelState) -> None:
    name = _keyed(fresh, "cache")[0]

    def change(moment: Moment) -> None:
        assert moment.mimi_state is not None
        cache = moment.mimi_state[name]["cache"]
        cache[0, 0, 4:6] += 1.0
        cache[:, 0, 9:12] = float("nan")

    assert surprised(LATER, change) == [
        ("mimi", name, "cache", "changed", 4, 6),
        ("mimi", name, "cache", "fresh", 9, 12),
    ]


@pytest.fixture
def swapped(
    tts: Any,  # noqa: ANN401
    surprised: Callable[..., list[Row]],
) -> Iterator[Callable[[Callable[[ModelState], ModelState]], list[Row]]]:
    """Decodes with another state dict from one frame on; the surprises."""
    with ExitStack() as stack:

        def run(other: Callable[[ModelState], ModelState]) -> list[Row]:
            states: dict[int, ModelState] = {}

            def decode(original: Any, latent: torch.Tensor, state: ModelState) -> Any:  # noqa: ANN401
                states[0] = state
                states.setdefault(1, other(state))
                return original(latent, states[1])

            def swap(moment: Moment) -> None:
                if moment.frame == LATER:
                    stack.enter_context(wrapped(tts.mimi, "decode_from_latent", decode))
                else:
                    stack.close()
                    states[0].update(states[1])  # type: ignore[attr-defined]

            return surprised(LATER, swap, LATER + 1)

        yield run


def test_codec_state_lost_between_frames(
    swapped: Callable[..., list[Row]],
    tts: Any,  # noqa: ANN401
    fresh: ModelState,
) -> None:
    rows = swapped(lambda state: init_states(tts.mimi, 1, 4000))
    assert {found for _, _, _, found, _, _ in rows} == {"fresh"}
    for key in ("previous", "partial", "cache"):
        assert sorted(entry for _, entry, each, _, _, _ in rows if each == key) == _keyed(
            fresh, key
        )


def test_codec_state_copied_between_frames(swapped: Callable[..., list[Row]]) -> None:
    assert swapped(copy.deepcopy) == []


def test_codec_state_that_is_not_fresh(
    surprised: Callable[..., list[Row]], fresh: ModelState, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a reset that forgets most of the state: a chunk begins with another one's."""
    partial, cached = _keyed(fresh, "partial")[0], _keyed(fresh, "cache")[0]

    def stale(model: torch.nn.Module, batch_size: int, sequence_length: int) -> ModelState:
        state: ModelState = init_states(model, batch_size, sequence_length)
        state[partial]["partial"].fill_(0.1)
        state[cached]["offset"].fill_(4)
        state[cached]["cache"][:, :, :8] = 0.5
        return state

    monkeypatch.setattr("pocket_tts.models.tts_model.init_states", stale)
    assert surprised(2, lambda moment: None) == [
        ("mimi", partial, "partial", "not fresh", None, None),
        ("mimi", cached, "cache", "not fresh", 0, 4),
        ("mimi", cached, "offset", "not fresh", None, None),
    ]
