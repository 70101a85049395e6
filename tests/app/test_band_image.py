"""Dense lines as bands: every point is covered, neighbours touch, gaps stay gaps."""

import numpy as np
import pytest

from kvstudio.app.band_image import band_image, coverage, curve_bands, joined


def test_a_band_covers_its_pixels_and_shares_those_at_its_ends() -> None:
    covered = coverage(np.array([0.25]), np.array([0.625]), 8)
    assert covered[:, 0].tolist() == [0, 0, 0, 255, 255, 255, 0, 0]
    covered = coverage(np.array([0.25]), np.array([0.5625]), 8)
    assert covered[:, 0].tolist() == [0, 0, 0, 127, 255, 255, 0, 0]


@pytest.mark.parametrize("level", [0.0, 0.31, 1.0])
@pytest.mark.parametrize("least", [1.0, 1.5])
def test_a_point_is_as_high_as_a_line(level: float, least: float) -> None:
    covered = coverage(np.array([level]), np.array([level]), 20, least)
    assert covered.sum() / 255 == pytest.approx(least, abs=0.02)


def test_what_is_not_there_covers_nothing_and_what_is_beyond_is_cut() -> None:
    low, high = np.array([np.nan, -3.0]), np.array([np.nan, 5.0])
    covered = coverage(low, high, 6)
    assert covered[:, 0].tolist() == [0] * 6
    assert covered[:, 1].tolist() == [255] * 6


def test_neighbours_touch_but_not_across_a_gap() -> None:
    low, high = joined(np.array([0.1, 0.6, np.nan, 0.1]), np.array([0.2, 0.7, np.nan, 0.2]))
    np.testing.assert_allclose(low, [0.1, 0.2, np.nan, 0.1])
    np.testing.assert_allclose(high, [0.2, 0.7, np.nan, 0.2])


def test_a_curve_goes_through_its_points() -> None:
    low, high = curve_bands(np.array([0.5, 2.5, 2.6, 4.5]), np.array([0.0, 1.0, 0.2, 0.2]), 6)
    np.testing.assert_allclose(low[1:5], [0.25, 0.2, 0.2, 0.2])
    np.testing.assert_allclose(high[1:4], [0.75, 1.0, 0.2])
    assert low[0] == 0
    assert np.isnan(low[5])


def test_a_curve_is_broken_at_nan_and_keeps_lone_points() -> None:
    x = np.array([0.5, 1.5, 2.5, 3.5])
    low, high = curve_bands(x, np.array([np.nan, 0.4, np.nan, 0.9]), 4)
    assert (low[1], high[1]) == (0.4, 0.4)
    assert np.isnan(low[[0, 2]]).all()


def test_the_image_is_as_opaque_as_it_is_covered() -> None:
    image = band_image(np.array([[0, 255]], np.uint8), "#2d7cb0")
    assert image.pixelColor(0, 0).alpha() == 0
    assert image.pixelColor(1, 0).name() == "#2d7cb0"
