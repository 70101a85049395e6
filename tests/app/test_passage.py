import numpy as np
import pytest
from numpy.typing import NDArray

from kvstudio.app.passage import Clip, DeviceForm, Passage

RATE = 24_000
MONO = DeviceForm(RATE, 1, "Float")


def ramp(count: int) -> NDArray[np.float32]:
    return np.linspace(-0.9, 0.9, count, dtype=np.float32)


def passage(
    clip: Clip,
    form: DeviceForm = MONO,
    first: int = 0,
    last: int | None = None,
    *,
    loop: bool = False,
) -> Passage:
    return Passage(clip, form, first, last, loop=loop)


def floats(instants: bytes) -> list[float]:
    return [float(value) for value in np.frombuffer(instants, np.float32)]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Float", np.array([-1, 0, 0.5, 1], np.float32)),
        ("Int16", np.array([-32_767, 0, 16_384, 32_767], np.int16)),
        ("Int32", np.array([-2_147_483_647, 0, 1_073_741_824, 2_147_483_647], np.int32)),
        ("UInt8", np.array([1, 128, 192, 255], np.uint8)),
    ],
)
def test_every_kind_of_value_a_device_may_take(kind: str, expected: NDArray[np.generic]) -> None:
    clip = Clip(np.array([-1, 0, 0.5, 1], np.float32), RATE)
    form = DeviceForm(RATE, 1, kind)  # type: ignore[arg-type]
    instants = passage(clip, form).instants(0, 4)
    assert len(instants) == 4 * form.instant_bytes
    assert np.frombuffer(instants, expected.dtype).tolist() == expected.tolist()


@pytest.mark.parametrize(("channels", "sounding"), [(1, 1), (2, 2), (6, 2)])
def test_mono_goes_to_the_front_loudspeakers(channels: int, sounding: int) -> None:
    clip = Clip(ramp(5), RATE)
    form = DeviceForm(RATE, channels, "Float")
    table = np.frombuffer(passage(clip, form).instants(0, 5), np.float32).reshape(5, channels)
    np.testing.assert_array_equal(table[:, :sounding], np.tile(ramp(5)[:, None], sounding))
    assert not table[:, sounding:].any()


def test_unsigned_loudspeakers_without_sound_rest_in_the_middle() -> None:
    form = DeviceForm(RATE, 4, "UInt8")
    instants = passage(Clip(np.ones(1, np.float32), RATE), form).instants(0, 1)
    assert list(instants) == [255, 255, 128, 128]


def test_silence_is_the_resting_value() -> None:
    for kind, rest in (("UInt8", 128), ("Int16", 0)):
        form = DeviceForm(RATE, 2, kind)  # type: ignore[arg-type]
        silence = passage(Clip(ramp(1), RATE), form).silence(3)
        assert silence == bytes([rest]) * 3 * form.instant_bytes


def test_what_a_device_must_not_see_is_taken_out() -> None:
    clip = Clip(np.array([np.nan, np.inf, -np.inf, 7, -7], np.float32), RATE)
    assert floats(passage(clip).instants(0, 5)) == [0, 0, 0, 1, -1]


@pytest.mark.parametrize("device_rate", [8_000, 22_050, 44_100, 48_000, 192_000])
def test_another_rate_keeps_the_sound_and_its_length(device_rate: int) -> None:
    time = np.arange(RATE) / RATE
    clip = Clip(np.sin(2 * np.pi * 300 * time).astype(np.float32), RATE)
    converted = passage(clip, DeviceForm(device_rate, 1, "Float"))
    assert converted.instant_count == device_rate
    heard = np.frombuffer(converted.instants(0, 2 * device_rate), np.float32)
    expected = np.sin(2 * np.pi * 300 * np.arange(device_rate) / device_rate)
    # The last sample is held: what would come after it is not there.
    np.testing.assert_allclose(heard[:-8], expected[:-8], atol=0.01)


def test_a_nan_is_not_smeared_over_its_neighbours_by_conversion() -> None:
    clip = Clip(np.array([0.5, np.nan, 0.5], np.float32), RATE)
    assert floats(passage(clip, DeviceForm(2 * RATE, 1, "Float")).instants(0, 5)) == [
        0.5,
        0.25,
        0,
        0.25,
        0.5,
    ]


@pytest.mark.parametrize("device_rate", [RATE, 44_100])
@pytest.mark.parametrize("loop", [False, True])
def test_handing_over_in_pieces_equals_handing_over_at_once(device_rate: int, loop: bool) -> None:
    part = passage(
        Clip(ramp(1_000), RATE), DeviceForm(device_rate, 1, "Float"), 100, 800, loop=loop
    )
    at_once = part.instants(0, 1_200)
    pieces = b"".join(part.instants(start, 7) for start in range(0, 1_200, 7))
    assert pieces[: len(at_once)] == at_once


def test_a_range_ends_at_its_last_sample() -> None:
    part = passage(Clip(ramp(10), RATE), first=3, last=6)
    assert floats(part.instants(0, 100)) == floats(ramp(10)[3:6].tobytes())
    assert part.instants(3, 100) == b""
    assert [part.sample_at(instant) for instant in (-5, 0, 2, 3, 50)] == [3, 3, 5, 6, 6]


def test_a_loop_goes_round() -> None:
    part = passage(Clip(ramp(10), RATE), first=3, last=6, loop=True)
    assert floats(part.instants(2, 5)) == floats(ramp(10)[[5, 3, 4, 5, 3]].tobytes())
    assert [part.sample_at(instant) for instant in (0, 2, 3, 301)] == [3, 5, 3, 4]


def test_a_loop_at_another_rate_joins_end_and_start() -> None:
    part = passage(
        Clip(np.array([0, 0.5], np.float32), RATE), DeviceForm(2 * RATE, 1, "Float"), loop=True
    )
    assert floats(part.instants(0, 8)) == [0, 0.25, 0.5, 0.25] * 2


def test_an_open_end_moves_with_the_clip_and_a_fixed_one_does_not() -> None:
    clip = Clip(ramp(4), RATE)
    open_ended, fixed, looped = passage(clip), passage(clip, last=4), passage(clip, loop=True)
    clip.append(np.array([0.1, 0.2], np.float32))
    assert floats(open_ended.instants(4, 10)) == pytest.approx([0.1, 0.2])
    assert fixed.instants(4, 10) == b""
    assert floats(looped.instants(4, 2)) == floats(ramp(4)[:2].tobytes())


@pytest.mark.parametrize(("first", "last"), [(10, None), (5, 5), (6, 2), (99, 100)])
def test_an_empty_range_has_nothing_to_give(first: int, last: int | None) -> None:
    for loop in (False, True):
        part = passage(Clip(ramp(10), RATE), first=first, last=last, loop=loop)
        assert part.instants(0, 10) == b""


def test_a_clip_grows_by_what_is_appended_and_keeps_its_own_copy() -> None:
    samples = ramp(5)
    clip = Clip(samples, RATE)
    for _ in range(20):
        clip.append(samples)
    samples[:] = 9
    assert len(clip) == 105
    np.testing.assert_array_equal(clip.samples, np.tile(ramp(5), 21))
