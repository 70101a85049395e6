"""The growing spectrogram: the same as made at once, and no peak lost when shrunk."""

from __future__ import annotations

import numpy as np
import pytest

from kvstudio.app.codes import Code
from kvstudio.app.sound.level_picture import COLUMNS_AT_ONCE, LevelPicture
from kvstudio.app.spectrogram import column_count, hop_samples, level_codes, spectrogram

RATE = 24_000
NOISE = np.random.default_rng(2).uniform(-0.5, 0.5, 4 * RATE).astype(np.float32)


def made(samples: np.ndarray[tuple[int], np.dtype[np.float32]]) -> LevelPicture:
    picture = LevelPicture(RATE)
    while picture.go_on(samples):
        pass
    return picture


@pytest.mark.parametrize("piece", [700, 1_920, 30_000])
def test_pieces_make_the_same_picture_as_the_whole(piece: int) -> None:
    grown = LevelPicture(RATE)
    for end in range(piece, len(NOISE) + piece, piece):
        while grown.go_on(NOISE[:end]):
            pass
    np.testing.assert_array_equal(grown.codes, level_codes(spectrogram(NOISE, RATE).db).T)


def test_it_is_made_in_pieces_that_do_not_take_long() -> None:
    picture = LevelPicture(RATE)
    assert picture.go_on(NOISE)
    assert len(picture) == COLUMNS_AT_ONCE
    assert not picture.go_on(NOISE)
    assert len(picture) == column_count(len(NOISE), RATE)


@pytest.mark.parametrize("width", [5, 60, 400])
def test_shrinking_keeps_the_loudest(width: int) -> None:
    samples = np.zeros(len(NOISE), np.float32)
    samples[50_000] = 0.9
    picture = made(samples)
    shrunk = picture.shrunk(np.linspace(0, len(picture), width + 1), 20)
    assert shrunk.shape == (20, width)
    loudest = shrunk.max(axis=0).argmax()
    assert loudest == pytest.approx(50_000 / hop_samples(RATE) * width / len(picture), abs=1)
    assert shrunk.max() == picture.codes.max()


def test_high_frequencies_are_on_top() -> None:
    time = np.arange(RATE) / RATE
    picture = made(np.sin(2 * np.pi * 10_500 * time).astype(np.float32))
    shrunk = picture.shrunk(np.linspace(0, len(picture), 11), 12)
    assert set(shrunk.argmax(axis=0).tolist()) == {1}, "10.5 of 12 kHz"
    near = picture.window(50, 60)
    assert near.shape == (picture.codes.shape[1], 10)
    assert near[:, 5].argmax() == pytest.approx(near.shape[0] / 8, abs=2)


def test_nan_is_seen_through_any_shrinking() -> None:
    samples = NOISE.copy()
    samples[60_000] = np.nan
    picture = made(samples)
    shrunk = picture.shrunk(np.linspace(0, len(picture), 41), 10)
    column = int(60_000 / hop_samples(RATE) * 40 / len(picture))
    assert (shrunk[:, column] == Code.NAN).all()
    assert not (shrunk[:, : column - 1] == Code.NAN).any()


def test_what_is_not_made_yet_is_left_empty() -> None:
    picture = LevelPicture(RATE)
    assert not picture.shrunk(np.linspace(0, 100, 11), 10).any()
    picture.go_on(NOISE)
    shrunk = picture.shrunk(np.linspace(0, 2 * COLUMNS_AT_ONCE, 101), 10)
    assert shrunk[:, :49].any(axis=0).all()
    assert not shrunk[:, 51:].any()
