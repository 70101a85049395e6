"""Values kept from moment to moment are those that the recording would give afresh."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from kvstudio.app.codes import Code, encode
from kvstudio.app.layer.picture_codes import LayerCodes
from kvstudio.app.layer.values import LayerValues, as_columns
from kvstudio.recording.reader import Recording
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from pathlib import Path

    from kvstudio.recording.rows import Cache, SlotDelta

RANGE = (-2.0, 2.0)


class RewritingRun(FakeRun):
    """Every third decode step writes over a slot of an earlier one or of the voice."""

    def _delta(self, cache: Cache, first: int, slots: int, *, nan: bool = False) -> SlotDelta:
        if self.step % 3 == 2 and cache.model == "flow_lm":
            first = 11 if self.step % 2 else 2
        return super()._delta(cache, first, slots, nan=nan)


def recorded(folder: Path, kind: type[FakeRun] = FakeRun, heads: int = 2) -> Recording:
    """Two chunks that start from the voice and a third that goes on with the second."""
    run = kind(folder / "run.kvrec", heads=heads, dim=8 * heads)
    for continues in (None, None, 1):
        run.begin_chunk(continues=continues)
        run.prefill()
        for step in range(7):
            run.decode(nan=step == 4)
    run.writer.finish("finished", "EOS")
    return Recording.open(run.path)


@pytest.mark.parametrize("kind", [FakeRun, RewritingRun], ids=["appending", "rewriting"])
def test_however_one_gets_to_a_frame_the_values_are_those_of_the_file(
    tmp_path: Path, kind: type[FakeRun]
) -> None:
    random = np.random.default_rng(3)
    with recorded(tmp_path, kind) as recording:
        for cache in recording.caches:
            layer, codes = LayerValues(recording, cache), LayerCodes()
            for frame in random.integers(0, len(recording.frames), 60).tolist():
                slots = recording.slots(cache, frame)
                codes.show(layer, layer.show(slots, frame), RANGE)
                afresh = as_columns(recording.values(cache, frame))
                held = np.where(slots.written[:, None], layer.values, np.float32(np.nan))
                np.testing.assert_array_equal(held, afresh)
                for part in (0, 1):
                    whole = encode(afresh[part], slots.written, *RANGE)
                    np.testing.assert_array_equal(codes.codes[part], whole)


def test_a_step_reads_only_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with recorded(tmp_path) as recording:
        asked: list[tuple[int, int]] = []
        read = recording.written_values

        def counted(cache: Cache, first: int, last: int) -> object:
            asked.append((first, last))
            return read(cache, first, last)

        monkeypatch.setattr(recording, "written_values", counted)
        cache = recording.caches[0]
        layer = LayerValues(recording, cache)
        for frame in (5, 6, 7, 3, 5, 7):
            layer.show(recording.slots(cache, frame), frame)
        assert asked == [(1, 5), (6, 6), (7, 7)]


def test_another_range_encodes_everything_anew(tmp_path: Path) -> None:
    with recorded(tmp_path) as recording:
        cache = recording.caches[1]
        layer, codes = LayerValues(recording, cache), LayerCodes()
        slots = recording.slots(cache, 4)
        stale = layer.show(slots, 4)
        codes.show(layer, stale, RANGE)
        codes.show(layer, stale[:0], (-0.01, 0.01))
        seen = codes.codes[0][slots.written]
        assert np.isin(seen, (Code.BELOW, Code.ABOVE)).mean() > 0.9
        assert (codes.codes[0][~slots.written] == Code.UNWRITTEN).all()


def test_facts_count_what_was_computed_not_what_nobody_wrote(tmp_path: Path) -> None:
    with recorded(tmp_path) as recording:
        cache = recording.caches[1]  # whose fifth decode step writes NaN
        layer = LayerValues(recording, cache)
        counted = []
        for frame in (0, 5, 6, 5):
            layer.show(recording.slots(cache, frame), frame)
            facts = layer.facts()
            counted.append((facts.written, facts.nan_slots))
        assert counted == [(5, 0), (15, 0), (16, 1), (15, 0)]
        values = recording.values(cache, 5)
        assert facts.low == np.nanmin(values)
        assert facts.high == np.nanmax(values)


def test_a_sample_holds_only_finite_written_values(tmp_path: Path) -> None:
    with recorded(tmp_path, heads=32) as recording:
        cache = recording.caches[1]
        layer = LayerValues(recording, cache)
        layer.show(recording.slots(cache, 7), 7)
        sample = layer.sample()
        assert 50_000 < sample.size <= 65_536
        assert np.isin(sample, recording.values(cache, 7)).all()
        np.testing.assert_array_equal(sample, layer.sample())


def test_a_batch_lies_side_by_side() -> None:
    values = np.arange(2 * 2 * 3 * 1 * 4, dtype=np.float32).reshape(2, 2, 3, 1, 4)
    columns = as_columns(values)
    assert columns.shape == (2, 3, 8)
    np.testing.assert_array_equal(columns[1, 2], [*values[1, 0, 2, 0], *values[1, 1, 2, 0]])
