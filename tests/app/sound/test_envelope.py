"""Extremes behind pixels: the same as looking at every sample, however they arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from kvstudio.app.sound.envelope import BLOCK, BLOCKS_PER_COLUMN, Envelope, Trouble

if TYPE_CHECKING:
    from numpy.typing import NDArray


def samples_with_trouble(count: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(5)
    samples = rng.uniform(-0.9, 0.9, count).astype(np.float32)
    samples[rng.integers(0, count, 3)] = np.nan
    samples[rng.integers(0, count, 2)] = (1.5, -np.inf)
    return samples


def filled(samples: NDArray[np.float32], piece: int) -> Envelope:
    envelope = Envelope()
    for start in range(0, len(samples), piece):
        envelope.append(samples[start : start + piece])
    return envelope


@pytest.mark.parametrize("piece", [1, 7, 1_920, 100_000])
def test_pieces_make_the_same_envelope_as_the_whole(piece: int) -> None:
    samples = samples_with_trouble(3_000 if piece < 1_920 else 60_000)
    whole, grown = filled(samples, len(samples)), filled(samples, piece)
    np.testing.assert_array_equal(grown.samples, samples)
    assert (grown.nan_count, grown.clipped_count) == (whole.nan_count, whole.clipped_count)
    for width in (3, 40, 700):
        edges = np.linspace(0, len(samples), width + 1)
        for name in ("low", "high", "trouble"):
            expected = getattr(whole.columns(edges), name)
            np.testing.assert_array_equal(getattr(grown.columns(edges), name), expected)


@pytest.mark.parametrize("per_column", [1.0, 3.7, 40.0, 500.0, 9_000.0])
def test_columns_are_the_extremes_of_their_samples(per_column: float) -> None:
    """To within a quarter of a column at each edge, where blocks are not cut."""
    samples = samples_with_trouble(60_000)
    found = filled(samples, 1_920).columns(np.arange(0, len(samples), per_column))
    slack = 0 if per_column < BLOCK * BLOCKS_PER_COLUMN else per_column / BLOCKS_PER_COLUMN
    for number in range(0, len(found.low), max(1, len(found.low) // 50)):
        begin, end = number * per_column, (number + 1) * per_column
        inner = samples[int(np.ceil(begin + slack)) : int(end - slack)]
        outer = samples[max(0, int(begin - slack)) : int(np.ceil(end + slack))]
        finite = inner[~np.isnan(inner)]
        if finite.size:
            assert np.nanmin(outer) <= found.low[number] <= finite.min()
            assert finite.max() <= found.high[number] <= np.nanmax(outer)
        assert bool(found.trouble[number] & Trouble.NAN) >= bool(np.isnan(inner).any())


def test_no_click_is_lost_at_any_magnification() -> None:
    samples = np.zeros(120 * 24_000, np.float32)
    samples[1_654_321] = 0.8
    envelope = filled(samples, len(samples))
    for width in (1, 100, 1_237, 3_840):
        edges = np.linspace(0, len(samples), width + 1)
        found = envelope.columns(edges)
        assert np.flatnonzero(found.high == np.float32(0.8)).tolist() == [
            1_654_321 * width // len(samples)
        ]


def test_beyond_both_ends_there_is_nothing() -> None:
    envelope = filled(np.full(100, 0.5, np.float32), 100)
    found = envelope.columns(np.arange(-20.0, 131.0, 10))
    there = ~np.isnan(found.low)
    assert np.flatnonzero(there).tolist() == list(range(2, 12))
    assert not found.trouble.any()
    assert np.isnan(Envelope().columns(np.arange(5.0)).low).all()


def test_the_peak_is_the_largest_number() -> None:
    assert Envelope().peak() == 0
    assert filled(np.array([0.25, -0.5, np.nan], np.float32), 3).peak() == 0.5
    assert filled(np.array([0.25, np.inf, -0.125], np.float32), 3).peak() == 0.25
    assert filled(np.array([np.nan], np.float32), 1).peak() == 0
