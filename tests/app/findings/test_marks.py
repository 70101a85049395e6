"""Findings and edits are marked in the views, and what is normal is named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kvstudio.app.frame_line.marks import frame_marks
from kvstudio.app.op_roles import OpRoles
from kvstudio.app.painting.strips import MarkKind
from kvstudio.app.panels.audio import AudioPanel
from kvstudio.app.panels.cache_map import CacheMapPanel
from kvstudio.app.panels.frames import FramesPanel
from kvstudio.app.sound.marks import mark_words, sound_marks
from kvstudio.app.theme import apply_theme
from kvstudio.app.workspace import Workspace
from kvstudio.recording.evidence import Misuse
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import Edit
from tests.app.findings.made import FOUND, NO_EOS, faulty
from tests.app.panels.stand_in_player import StandInPlayer
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from kvstudio.app.panel import Panel


@pytest.fixture
def workspace(qapp: QApplication, tmp_path: Path) -> Iterator[Workspace]:
    apply_theme(qapp, "light")
    workspace = Workspace()
    workspace.open(faulty(tmp_path / "a.kvrec").path)
    yield workspace
    workspace.findings.close()
    workspace.close()


def shown(qtbot: QtBot, panel: Panel) -> None:
    qtbot.addWidget(panel)
    panel.resize(800, 400)
    panel.show()
    panel.refresh_now()


def test_the_map_marks_the_slots_from_the_frame_of_the_finding_on(
    workspace: Workspace, qtbot: QtBot
) -> None:
    panel = CacheMapPanel(workspace)
    shown(qtbot, panel)

    def marked() -> list[tuple[int, int, int]]:
        panel.refresh_now()
        marks = panel.strips.scene().marks
        return [(m.layer, m.first, m.end) for m in marks if m.kind is MarkKind.FINDING]

    assert marked() == [(0, 13, 14), (1, 13, 14)]  # in every layer that shows it
    assert "unwritten-read in frame 3" in panel.strips.describe(1, 13)
    assert "unwritten-read" not in panel.strips.describe(1, 12)
    workspace.move(frame=2)
    assert marked() == []


def test_the_map_says_that_nan_past_the_offset_is_normal(
    workspace: Workspace, qtbot: QtBot
) -> None:
    panel = CacheMapPanel(workspace)
    shown(qtbot, panel)
    assert "That is normal" in panel.strips.describe(0, 20)
    assert "That is normal" not in panel.strips.describe(0, 3)


def test_the_time_line_marks_findings_and_edits(workspace: Workspace, qtbot: QtBot) -> None:
    panel = FramesPanel(workspace)
    shown(qtbot, panel)
    marks = panel.track.marks
    assert (marks.errors, marks.edits) == ({3: True, 5: False}, frozenset({2}))
    line = panel.line
    assert line.scene.layout.marks.height() > 0
    assert "finding: unwritten-read" in line.tip_at(line.scene.cell_rect(3).center())
    assert "edit: off-by-one-read" in line.tip_at(line.scene.cell_rect(2).center())


def test_without_marks_their_lane_takes_no_room(qtbot: QtBot, tmp_path: Path) -> None:
    assert not frame_marks((), ())
    assert frame_marks((replace(NO_EOS, frame=None),), (Edit("poke-nan", 4),)).edits == {4}
    FakeRun(tmp_path / "b.kvrec").run(3)
    workspace = Workspace()
    workspace.open(tmp_path / "b.kvrec")
    panel = FramesPanel(workspace)
    shown(qtbot, panel)
    assert panel.line.scene.layout.marks.height() == 0
    workspace.findings.close()
    workspace.close()


def test_the_sound_has_a_flag_where_a_finding_is_heard(workspace: Workspace, qtbot: QtBot) -> None:
    panel = AudioPanel(workspace, player=StandInPlayer())
    shown(qtbot, panel)
    assert [(mark.second, mark.kind) for mark in panel.track.marks] == [(0.1, "unwritten-read")]
    scene = panel.view.scene
    assert mark_words(scene, scene.axis.x_of(0.1) + 2) == "unwritten-read: heard from 0.10 s on"
    assert mark_words(scene, scene.axis.x_of(0.1) + 40) == ""
    assert len(sound_marks(FOUND)) == 1


def test_a_second_is_where_playing_begins(workspace: Workspace, qtbot: QtBot) -> None:
    panel = AudioPanel(workspace, player=StandInPlayer())
    shown(qtbot, panel)
    workspace.move(frame=3, second=0.1)
    panel.refresh_now()
    assert panel.playback.start == 2400
    workspace.move(second=99.0)  # past the end: nothing to hear there
    panel.refresh_now()
    assert panel.playback.start == 2400


def test_ops_have_roles(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "a.kvrec", ops_per_frame=4)
    run.begin_chunk()
    run.prefill()
    run.decode(nan=True)
    run.writer.finish("finished")
    with Recording.open(run.path) as recording:
        roles = OpRoles(recording)
        carrier = recording.ops.get(1)
        assert roles.role(carrier).word == "carrier"
        assert not roles.role(carrier).is_loud
        producer = roles.role(carrier._replace(nan_in=0))
        assert (producer.word, producer.is_loud) == ("producer", True)
        assert roles.role(carrier._replace(nan_in=0, nan_out=0)).word == ""
        assert roles.role(carrier._replace(frame=99)).word == ""


def test_a_reader_is_an_op_that_a_misuse_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    FakeRun(tmp_path / "a.kvrec").run(2)
    with Recording.open(tmp_path / "a.kvrec") as recording:
        misuse = Misuse(2, 0, "unwritten-read", 0, 13, 14, 0, 2, None, "nan")
        monkeypatch.setattr(recording.evidence, "misuses", lambda frame: [misuse])
        roles = OpRoles(recording)
        assert roles.role(recording.ops.get(2)).word == "reader"
        assert "nobody has written" in roles.role(recording.ops.get(2)).words
        assert roles.role(recording.ops.get(3)).word == ""
