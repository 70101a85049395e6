"""One cause is one finding: what follows from it is told in its chain, with its targets."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kvstudio.analysis.finding import Finding, Link
from kvstudio.analysis.origins import FOLLOWS, ORDER, fold
from kvstudio.analysis.trail import Trail
from kvstudio.recording.reader import Recording
from tests.analysis.checks.running import report_of, texts
from tests.analysis.checks.test_numbers import poisoned
from tests.fakes import FakeRun
from tests.recording.reading import tamper

FLOW, OTHER, MIMI = 0, 1, 2


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Recording]:
    FakeRun(tmp_path / "run.kvrec").run(4)
    with Recording.open(tmp_path / "run.kvrec") as recording:
        yield recording


def found(kind: str, frame: int, cache: int | None = FLOW, slot: int = 7) -> Finding:
    link = Link(f"{kind} of {cache}", frame=frame, cache=cache, slot=slot)
    caches = () if cache is None else (cache,)
    return Finding(
        kind, "error", "", frame, slots=(slot, slot + 1), chain=(link,), cache=cache, caches=caches
    )


def kinds(recording: Recording, *findings: Finding) -> list[tuple[str, int | None]]:
    return [(each.kind, each.frame) for each in fold(recording, findings, Trail())]


def test_what_follows_is_part_of_the_chain(recording: Recording) -> None:
    told = fold(
        recording,
        [
            found("audio-nan", 5, None),
            found("unwritten-read", 4),
            found("hole", 3),
            found("offset-jump", 3),
            found("nan-produced", 4, OTHER),
        ],
        Trail(),
    )
    (origin,) = told
    assert (origin.kind, origin.frame) == ("offset-jump", 3)
    assert texts(origin) == [
        "offset-jump of 0",
        "hole: hole of 0",
        "unwritten-read: unwritten-read of 0",
        "nan-produced: nan-produced of 1",
        "audio-nan: audio-nan of None",
    ]
    assert [link.frame for link in origin.chain] == [3, 3, 4, 4, 5]


def test_what_follows_from_a_consequence_follows_too(recording: Recording) -> None:
    chain = [found("offset-jump", 2), found("hole", 2), found("marker-missing", 3)]
    assert kinds(recording, *chain) == [("offset-jump", 2)]
    assert kinds(recording, chain[0], chain[2]) == [("offset-jump", 2), ("marker-missing", 3)]


@pytest.mark.parametrize(
    ("cause", "other"),
    [
        (found("hole", 3), found("unwritten-read", 2)),  # came before
        (found("hole", 3), found("unwritten-read", 4, OTHER)),  # another layer
        (found("hole", 3), found("unwritten-read", 4, MIMI)),  # another part of the model
        (found("hole", 3, MIMI), found("nan-produced", 4, FLOW)),  # nothing goes back from Mimi
        (found("unwritten-read", 3), found("hole", 4)),  # the wrong way round
        (found("expansion-corrupt", 1, slot=20), found("dropped-write", 4, slot=7)),
    ],
)
def test_what_cannot_follow_is_a_finding_of_its_own(
    recording: Recording, cause: Finding, other: Finding
) -> None:
    assert len(kinds(recording, cause, other)) == 2


def test_numbers_spread_to_every_layer_and_to_the_codec(recording: Recording) -> None:
    told = kinds(
        recording,
        found("hole", 3),
        found("nan-produced", 3, OTHER),
        found("nan-produced", 4, MIMI),
        found("no-eos", 5, None),
    )
    assert told == [("hole", 3)]


def test_an_expansion_too_small_is_known_by_what_was_lost(recording: Recording) -> None:
    small = found("expansion-corrupt", 1, slot=12)
    assert kinds(recording, small) == [("expansion-corrupt", 1)]
    (lost,) = fold(recording, [found("dropped-write", 4, slot=12), small], Trail())
    assert (lost.kind, lost.frame) == ("dropped-write", 4)
    assert texts(lost) == ["expansion-corrupt of 0", "dropped-write of 0"]


def test_strange_values_in_mid_run_follow_from_what_wrote_them(recording: Recording) -> None:
    strange = found("foreign-state", 4, OTHER)
    assert kinds(recording, replace(strange, phase="decode"), found("overwrite", 4)) == [
        ("overwrite", 4)
    ]
    assert kinds(recording, replace(strange, phase="text"), found("overwrite", 4)) == [
        ("foreign-state", 4),
        ("overwrite", 4),
    ]


def test_slots_filled_with_nan_are_known_by_the_nan(recording: Recording) -> None:
    filled, nan = found("overwrite", 4), found("nan-produced", 4)
    (told,) = fold(recording, [filled, nan, found("nan-produced", 4, OTHER)], Trail())
    assert (told.kind, told.cache) == ("nan-produced", FLOW)
    assert texts(told) == [
        "overwrite of 0",
        "nan-produced of 0",
        "nan-produced: nan-produced of 1",
    ]
    assert kinds(recording, filled, found("nan-produced", 5)) == [("overwrite", 4)]


def test_an_empty_voice_is_not_a_wrong_one(recording: Recording) -> None:
    wrong = [found("marker-missing", 0, None), found("foreign-state", 0)]
    empty = replace(found("hole", 0), phase="voice")
    assert kinds(recording, *wrong, empty) == [("hole", 0)]


def test_of_links_with_the_same_words_the_one_nearest_to_the_cause_is_told(
    recording: Recording,
) -> None:
    same = Link("capacity 14", frame=1, cache=FLOW)
    cause = replace(found("offset-jump", 3), chain=(same,))
    later = found("hole", 4)
    later = replace(later, chain=(*later.chain, replace(same, frame=4)))
    (origin,) = fold(recording, [cause, later], Trail())
    assert [link.frame for link in origin.chain if link.text == same.text] == [1]


def test_a_codec_that_begins_again_is_seen_in_its_state_and_its_offset(
    recording: Recording,
) -> None:
    twice = [found("codec-state-reset", 4, None), found("codec-state-reset", 4, MIMI)]
    assert kinds(recording, *twice) == [("codec-state-reset", 4)]


def test_the_language_model_comes_before_the_codec(recording: Recording) -> None:
    told = fold(
        recording, [found("nan-produced", 4, MIMI), found("nan-produced", 4, None)], Trail()
    )
    assert [finding.cache for finding in told] == [None]


def test_offsets_of_some_layers_are_a_skew_those_of_all_a_jump(recording: Recording) -> None:
    both = [found("offset-jump", 3, OTHER), found("offset-skew", 3, FLOW)]
    assert kinds(recording, *both) == [("offset-skew", 3)]


def test_every_kind_in_the_table_has_its_place_in_the_order() -> None:
    assert FOLLOWS.keys() <= set(ORDER)
    assert {kind for kinds in FOLLOWS.values() for kind in kinds} <= set(ORDER)


def test_a_chain_goes_on_to_the_second_of_audio(tmp_path: Path) -> None:
    run = poisoned(tmp_path / "run.kvrec", layers=2)
    tamper(
        run.path,
        "UPDATE latent SET \"values\" = x'0000c07f0000c07f' WHERE frame >= 5",
        "UPDATE frame SET stop_logit = 'nan' WHERE id >= 5",
    )
    (told,) = report_of(run.path).findings
    assert told.kind == "nan-produced"
    assert texts(told)[-3:] == [
        "the latent is NaN from frame 5 (decode step 3) on",
        "the stop logit is NaN from frame 5 (decode step 3) on, and NaN never exceeds the "
        "threshold",
        "audio-nan: the audio is NaN from second 0.16 on",
    ]
    assert [(link.frame, link.second) for link in told.chain[-3:]] == [
        (5, None),
        (5, None),
        (4, 0.16),
    ]


def test_a_chain_without_nan_says_where_it_is_heard(tmp_path: Path) -> None:
    FakeRun(tmp_path / "run.kvrec").run(4)
    (told,) = report_of(
        tmp_path / "run.kvrec", "DELETE FROM slot_delta WHERE cache = 0 AND frame = 4"
    ).findings
    assert texts(told)[-2:] == [
        "the latent of frame 4 (decode step 2) is the first that was computed from it",
        "it can be heard from second 0.16 on",
    ]
    assert told.chain[-1].second == pytest.approx(0.16)
