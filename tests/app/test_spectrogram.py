import numpy as np
import pytest
from numpy.typing import NDArray

from kvstudio.app.codes import Code
from kvstudio.app.spectrogram import (
    FLOOR_DB,
    Spectrogram,
    column_count,
    hop_samples,
    level_codes,
    settled_columns,
    spectrogram,
    window_samples,
)

RATE = 24_000
FRAME = 1_920
"""Samples of one frame, 80 ms."""


def sine(hertz: float, seconds: float, amplitude: float = 1.0) -> NDArray[np.float32]:
    time = np.arange(round(seconds * RATE)) / RATE
    return (amplitude * np.sin(2 * np.pi * hertz * time)).astype(np.float32)


def noise(samples: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).uniform(-0.5, 0.5, samples).astype(np.float32)


@pytest.mark.parametrize("hertz", [375.0, 1_500.0, 6_000.0])
@pytest.mark.parametrize("amplitude", [1.0, 0.01])
def test_a_sine_peaks_at_its_frequency_with_its_level(hertz: float, amplitude: float) -> None:
    shown = spectrogram(sine(hertz, 0.5, amplitude), RATE)
    middle = shown.db[:, shown.db.shape[1] // 2]
    peak = int(middle.argmax())
    assert shown.freqs[peak] == pytest.approx(hertz, abs=RATE / window_samples(RATE))
    assert middle[peak] == pytest.approx(20 * np.log10(amplitude), abs=0.1)
    far = np.abs(shown.freqs - hertz) > 300
    assert middle[far].max() < middle[peak] - 60


def test_time_and_frequency_axes_are_in_seconds_and_hertz() -> None:
    shown = spectrogram(noise(RATE), RATE)
    assert shown.db.shape == (len(shown.freqs), len(shown.times))
    assert shown.db.dtype == np.float32
    assert (shown.freqs[0], shown.freqs[-1]) == (0, RATE / 2)
    assert shown.times[0] == 0
    assert shown.times[-1] == pytest.approx(1 - hop_samples(RATE) / RATE)


def test_a_click_lights_up_the_columns_around_its_time() -> None:
    samples = np.zeros(RATE, np.float32)
    samples[RATE // 2] = 1
    shown = spectrogram(samples, RATE)
    loudest = shown.times[int(shown.db.max(axis=0).argmax())]
    assert loudest == pytest.approx(0.5, abs=0.001)
    reach = window_samples(RATE) / RATE / 2
    assert (shown.db[:, np.abs(shown.times - 0.5) > reach] == FLOOR_DB).all()


def test_silence_is_the_floor_and_finite() -> None:
    shown = spectrogram(np.zeros(FRAME, np.float32), RATE)
    assert (shown.db == FLOOR_DB).all()
    assert not shown.not_finite.any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_columns_that_see_a_bad_sample_are_marked_and_no_others(bad: float) -> None:
    clean = noise(8 * FRAME)
    spoilt = clean.copy()
    spoilt[3 * FRAME : 4 * FRAME] = bad
    shown, expected = spectrogram(spoilt, RATE), spectrogram(clean, RATE)
    half = window_samples(RATE) // 2
    middles = np.arange(len(shown.times)) * hop_samples(RATE)
    sees = (middles + half > 3 * FRAME) & (middles - half < 4 * FRAME)
    np.testing.assert_array_equal(shown.not_finite, sees)
    assert np.isnan(shown.db[:, sees]).all()
    np.testing.assert_array_equal(shown.db[:, ~sees], expected.db[:, ~sees])


def test_the_loudest_numbers_a_broken_model_can_give_are_levels() -> None:
    shown = spectrogram(np.full(FRAME, 3e38, np.float32), RATE)
    assert np.isfinite(shown.db).all()
    assert not shown.not_finite.any()


@pytest.mark.parametrize("count", [0, 1, 100, FRAME, 5 * FRAME + 7])
def test_any_length_has_a_column_per_hop(count: int) -> None:
    shown = spectrogram(noise(count), RATE)
    assert shown.db.shape[1] == column_count(count, RATE) == len(range(0, count, hop_samples(RATE)))


@pytest.mark.parametrize("rate", [1_000, 8_000, 44_100, 192_000])
def test_any_sample_rate_works(rate: int) -> None:
    samples = np.sin(2 * np.pi * rate / 8 * np.arange(rate) / rate).astype(np.float32)
    shown = spectrogram(samples, rate)
    peak = int(shown.db[:, shown.db.shape[1] // 2].argmax())
    assert shown.freqs[peak] == pytest.approx(rate / 8)


@pytest.mark.parametrize("step", [FRAME, 100, 4_321])
def test_growing_by_appended_samples_equals_the_whole(step: int) -> None:
    """Settled columns are kept and only the rest is computed, as a live view does."""
    whole = noise(10 * FRAME)
    whole[5 * FRAME + 11] = np.nan
    kept: list[NDArray[np.float32]] = []
    settled = computed = 0
    grown: Spectrogram | None = None
    for end in [*range(step, len(whole), step), len(whole)]:
        grown = spectrogram(whole[:end], RATE, first_column=settled)
        computed += grown.db.shape[1]
        now = settled_columns(end, RATE)
        kept.append(grown.db[:, : now - settled])
        settled = now
    assert grown is not None
    joined = np.concatenate([*kept, grown.db[:, settled - grown.first_column :]], axis=1)
    np.testing.assert_array_equal(joined, spectrogram(whole, RATE).db)
    updates = -(-len(whole) // step)
    assert computed <= joined.shape[1] + updates * (window_samples(RATE) // hop_samples(RATE) + 1)


def test_codes_go_from_quiet_to_loud_with_one_reserved_for_nan() -> None:
    db = np.array([[-120, -90, -45, 0, 6, np.nan]], np.float32)
    codes = level_codes(db)
    assert codes.dtype == np.uint8
    assert codes.tolist() == [
        [Code.BELOW, Code.LOWEST, Code.MIDDLE, Code.HIGHEST, Code.ABOVE, Code.NAN]
    ]


def test_no_level_takes_the_code_of_nan() -> None:
    every = np.linspace(-200, 50, 10_001, dtype=np.float32)[None]
    assert level_codes(every).max() < Code.MASKED
