"""Findings in a file: they come back as they were, and a stranger's give words, never a crash."""

from pathlib import Path

import pytest

from kvstudio.analysis.finding import Finding, Link, stored_findings
from kvstudio.recording.errors import DamagedRecording
from kvstudio.recording.reader import Recording
from tests.fakes import FakeRun
from tests.recording.reading import tamper

HOLE = Finding(
    kind="hole",
    severity="error",
    message="A slot that nobody wrote.",
    frame=2,
    phase="decode",
    layer=1,
    kv="K",
    slots=(5, 7),
    op="aten.copy_.default",
    site="attention.py:55",
    chain=(
        Link("slot 5", frame=2, op=7, cache=1, slot=5),
        Link("heard from second 0.40 on", second=0.4),
    ),
    count=3,
    cache=1,
    caches=(1, 2, 3),
)
NO_EOS = Finding("no-eos", "warning", "It never ended.")
CODEC = Finding("codec-state-reset", "error", "Made afresh.", layer="decoder.0")


def saved(path: Path, *findings: Finding) -> Path:
    run = FakeRun(path)
    run.writer.set_findings([finding.to_row() for finding in findings])
    run.run(2)
    return path


def test_findings_come_back_as_they_were(tmp_path: Path) -> None:
    path = saved(tmp_path / "run.kvrec", HOLE, NO_EOS, CODEC)
    with Recording.open(path) as recording:
        assert stored_findings(recording) == [HOLE, NO_EOS, CODEC]


@pytest.mark.parametrize(
    "change",
    [
        "links = 'no json'",
        "links = '{}'",
        "links = '[1]'",
        "links = '[{}]'",
        "links = '[{\"text\": 1}]'",
        'links = \'[{"text": "a", "frame": "7"}]\'',
        'links = \'[{"text": "a", "second": [1]}]\'',
        'links = \'[{"text": "a", "colour": 1}]\'',
        'links = \'[{"text": "a", "second": 1e999}]\'',
        'links = \'[{"text": "a", "second": NaN}]\'',
        'links = \'[{"text": "a", "slot": 99999999999999999999}]\'',
        "first = -1, last = 2",
        "first = 5, last = 4",
        "first = 0, last = 1 << 62",
        f"links = '{'[' * 100_000}'",
        "links = x'ff'",
        "caches = '7'",
        "caches = '[\"a\"]'",
        "caches = 'no json'",
        "severity = 'grave'",
        "phase = 'later'",
        "kv = 'Q'",
        "frame = 'first'",
        "count = 'many'",
    ],
)
def test_what_is_no_finding_is_said_in_words(tmp_path: Path, change: str) -> None:
    path = saved(tmp_path / "run.kvrec", HOLE)
    tamper(path, f"UPDATE finding SET {change}")
    with Recording.open(path) as recording, pytest.raises(DamagedRecording, match="is damaged"):
        stored_findings(recording)


def test_links_may_point_at_nothing(tmp_path: Path) -> None:
    path = saved(tmp_path / "run.kvrec", HOLE)
    tamper(path, 'UPDATE finding SET links = \'[{"text": "far", "frame": 99999, "op": -3}]\'')
    with Recording.open(path) as recording:
        (found,) = stored_findings(recording)
    assert found.chain == (Link("far", frame=99999, op=-3),)
