"""The cache map as a user meets it: each layer's slots at the frame one looks at."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from kvstudio.app.painting.strip_scene import Selection
from kvstudio.app.painting.strips import MarkKind, PaintedRole, StripMark
from kvstudio.app.panels.cache_map import CacheMapPanel
from kvstudio.app.theme import apply_theme
from kvstudio.app.workspace import Workspace
from kvstudio.recording.rows import Cache, CacheState, SlotDelta
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from kvstudio.app.painting.strips import Strip

VOICE, TEXT, CAPACITY = 5, 6, 23  # of a FakeRun


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.kvrec"


@pytest.fixture
def workspace(qapp: QApplication) -> Iterator[Workspace]:
    apply_theme(qapp, "light")
    workspace = Workspace()
    yield workspace
    workspace.close()


@pytest.fixture
def panel(qtbot: QtBot, workspace: Workspace) -> CacheMapPanel:
    panel = CacheMapPanel(workspace)
    qtbot.addWidget(panel)
    panel.resize(900, 400)
    panel.show()
    return panel


def look(panel: CacheMapPanel, run: FakeRun, frame: int) -> None:
    """Opens a run, or what there is of it, at a frame."""
    assert panel.workspace.open(run.path)
    panel.workspace.move(frame=frame)
    panel.refresh_now()


def strip(panel: CacheMapPanel, layer: int) -> Strip:
    return panel.strips.scene().strip(layer)


def roles(panel: CacheMapPanel, layer: int) -> list[str]:
    return [PaintedRole(role).word for role in strip(panel, layer).roles]


def key(panel: CacheMapPanel, pressed: Qt.Key) -> None:
    QTest.keyClick(panel.strips, pressed)
    panel.refresh_now()


def hover(panel: CacheMapPanel, layer: int, slot: int) -> None:
    at = QPointF(panel.strips.slot_rect(layer, slot).center())
    place = panel.strips.viewport().mapToGlobal(at)
    none = Qt.MouseButton.NoButton
    held = Qt.KeyboardModifier.NoModifier
    event = QMouseEvent(QMouseEvent.Type.MouseMove, at, place, none, none, held)
    QApplication.sendEvent(panel.strips.viewport(), event)


def click(panel: CacheMapPanel, layer: int, slot: int) -> None:
    at: QPoint = panel.strips.slot_rect(layer, slot).center().toPoint()
    QTest.mouseClick(panel.strips.viewport(), Qt.MouseButton.LeftButton, pos=at)
    panel.refresh_now()


def choose(panel: CacheMapPanel, text: str) -> None:
    """What the context menu offers under these words."""
    actions: list[QAction] = panel.strips.actions()
    next(each for each in actions if text in each.text()).trigger()
    panel.refresh_now()


# ---- frames -------------------------------------------------------------------------------------


def test_without_a_recording_it_says_what_to_do(panel: CacheMapPanel) -> None:
    panel.refresh_now()
    assert "Press F10" in panel.stage.sentence


def test_before_the_first_step_it_says_so(panel: CacheMapPanel, path: Path) -> None:
    assert panel.workspace.open(FakeRun(path).path)
    panel.refresh_now()
    assert "no step yet" in panel.stage.sentence


def test_the_voice_prefill_fills_the_cache_to_the_brim(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path)
    run.run()
    look(panel, run, 0)
    assert roles(panel, 0) == ["voice"] * VOICE
    assert panel.sentences["FlowLM"] == (
        "2 layers · offset 5 of 5 · voice 5 · none unwritten · grows to 23 at the text prefill"
    )
    assert panel.sentences["Mimi decoder"] == (
        "1 layer · not allocated before the first decode step"
    )


def test_the_text_prefill_makes_the_strips_grow(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path)
    run.run()
    look(panel, run, 1)
    left = CAPACITY - VOICE - TEXT
    assert roles(panel, 1) == ["voice"] * VOICE + ["text"] * TEXT + ["unwritten"] * left
    assert panel.sentences["FlowLM"].endswith("voice 5 + text 6 · 12 unwritten · grown from 5")


def test_decode_steps_fill_one_slot_of_flow_lm_and_several_of_mimi(
    panel: CacheMapPanel, path: Path
) -> None:
    run = FakeRun(path, mimi_steps=4)
    run.run()
    look(panel, run, 4)
    assert roles(panel, 0)[11:15] == ["generated"] * 3 + ["unwritten"]
    assert roles(panel, 2) == ["generated"] * 12 + ["unwritten"] * 36
    assert panel.sentences["FlowLM"] == (
        "2 layers · offset 14 of 23 · voice 5 + text 6 + generated 3 · 9 unwritten"
    )
    assert panel.sentences["Mimi decoder"] == (
        "1 layer · offset 12 of 48 · generated 12 · 36 unwritten"
    )


def test_what_the_frame_wrote_is_outlined(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path, mimi_steps=4)
    run.run()
    look(panel, run, 3)
    fresh = [(mark.layer, mark.first, mark.end) for mark in panel.strips.scene().marks]
    assert fresh == [(0, 12, 13), (1, 12, 13), (2, 4, 8)]
    assert {mark.kind for mark in panel.strips.scene().marks} == {MarkKind.FRESH}


def test_a_latent_that_is_never_decoded_leaves_mimi_as_it_was(
    panel: CacheMapPanel, path: Path
) -> None:
    run = FakeRun(path, mimi_steps=4)
    run.begin_chunk()
    run.prefill()
    run.decode()
    run.decode(decoded=False)
    run.writer.finish("finished", "EOS")
    look(panel, run, 3)
    assert roles(panel, 2)[:5] == ["generated"] * 4 + ["unwritten"]
    assert panel.sentences["Mimi decoder"].endswith("last stepped in frame 2")


def test_it_follows_a_run_that_goes_on(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path)
    run.begin_chunk()
    assert panel.workspace.open(path)
    panel.refresh_now()
    assert strip(panel, 0).capacity == VOICE
    run.prefill()
    run.decode()
    panel.workspace.refresh()
    panel.refresh_now()
    assert (strip(panel, 0).offset, strip(panel, 0).capacity) == (12, CAPACITY)


def test_strips_keep_their_scale_while_they_grow(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path)
    run.run()
    widths = []
    for frame in (0, 1, 5):
        look(panel, run, frame)
        widths.append(panel.strips.slot_rect(0, 0).width())
    assert widths[0] == widths[1] == widths[2]


# ---- words --------------------------------------------------------------------------------------


def test_a_slot_under_the_pointer_is_named(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path)
    run.run()
    look(panel, run, 4)
    said = []
    for slot in (0, 7, 12, 14, 20):
        hover(panel, 0, slot)
        said.append(panel.slot_line.sentence)
    assert said == [
        "L0, slot 0: voice, there since voice prefill (frame 0)",
        "L0, slot 7: text, written in text prefill (frame 1)",
        "L0, slot 12: generated, written in decode step 1 (frame 3)",
        "L0, slot 14: unwritten (NaN), the next write goes here",
        "L0, slot 20: unwritten (NaN)",
    ]
    assert panel.strips.describe(2, 0).splitlines() == [
        "Mimi decoder layer 0",
        "D0, slot 0: generated, written in decode step 0 (frame 2)",
    ]


def test_a_fill_that_is_not_nan_is_named(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path)
    run.run()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE expansion SET fill = 'zero', not_nan_slot = 5")
    look(panel, run, 3)
    hover(panel, 1, 20)
    assert panel.slot_line.sentence == "L1, slot 20: unwritten (zero)"
    assert strip(panel, 1).fill == "zero"
    assert strip(panel, 2).fill == "NaN"


def test_computed_nan_is_painted_from_the_frame_that_wrote_it(
    panel: CacheMapPanel, path: Path
) -> None:
    run = FakeRun(path)
    run.begin_chunk()
    run.prefill()
    run.decode()
    run.decode(nan=True)
    run.writer.finish("finished")
    slot = run.offset - 1
    look(panel, run, 2)
    assert strip(panel, 1).roles[slot] != PaintedRole.NAN
    look(panel, run, 3)
    assert strip(panel, 1).roles[slot] == PaintedRole.NAN
    assert strip(panel, 1).roles[slot - 1] == PaintedRole.GENERATED
    hover(panel, 1, slot)
    assert "NaN" in panel.slot_line.sentence


class SkewedRun(FakeRun):
    """One layer lags behind by a slot, from the second decode step on."""

    def _flow_states(self) -> list[CacheState]:
        states = super()._flow_states()
        if self.step >= 1:
            lagging = states[1]
            states[1] = CacheState(lagging.cache, self.offset - 1, lagging.capacity, 0)
        return states


def test_layers_that_differ_in_offset_are_called_out(panel: CacheMapPanel, path: Path) -> None:
    run = SkewedRun(path, layers=3)
    run.run()
    look(panel, run, 2)
    assert not panel.trouble_line.isVisible()
    look(panel, run, 5)
    assert panel.trouble_line.isVisible()
    assert panel.trouble_line.sentence == (
        "⚠  FlowLM layers differ in offset: L1 has 14, the rest 15"
    )


class HoleyRun(FakeRun):
    """A decode step that moves the offset of layer 1 on without writing there."""

    def _delta(self, cache: Cache, first: int, slots: int, *, nan: bool = False) -> SlotDelta:
        skipped = self.step == 2 and cache.layer == 1
        return super()._delta(cache, first, 0 if skipped else slots, nan=nan)


def test_a_hole_below_the_offset_is_called_out(panel: CacheMapPanel, path: Path) -> None:
    run = HoleyRun(path)
    run.run()
    look(panel, run, 6)
    assert roles(panel, 1)[12:15] == ["generated", "hole", "generated"]
    assert "L1: nobody wrote 1 slot below the offset, first slot 13" in panel.trouble_line.sentence
    hover(panel, 1, 13)
    assert panel.slot_line.sentence.startswith("L1, slot 13: hole: unwritten (NaN)")


def test_the_map_can_be_copied_as_text(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path, mimi_steps=4)
    run.run()
    look(panel, run, 3)
    choose(panel, "Copy")
    assert QGuiApplication.clipboard().text().splitlines() == [
        "Cache map after decode step 1 (frame 3)",
        "",
        "FlowLM",
        "  L0  offset 13 of 23: voice 0-4, text 5-10, generated 11-12, unwritten 13-22 "
        "(unwritten is NaN)",
        "  L1  offset 13 of 23: voice 0-4, text 5-10, generated 11-12, unwritten 13-22 "
        "(unwritten is NaN)",
        "",
        "Mimi decoder",
        "  D0  offset 8 of 48: generated 0-7, unwritten 8-47 (unwritten is NaN)",
    ]


# ---- the cursor ---------------------------------------------------------------------------------


def test_a_click_selects_a_slot_for_all_views(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path)
    run.run()
    look(panel, run, 5)
    click(panel, 1, 12)
    cursor = panel.workspace.cursor
    assert (cursor.cache, cursor.slot) == (1, 12)
    assert panel.slot_line.sentence.startswith("L1, slot 12: generated")


def test_arrows_walk_over_slots_and_layers(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path)
    run.run()
    look(panel, run, 5)
    click(panel, 0, 3)
    walked = []
    for pressed in (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_End, Qt.Key.Key_Home):
        key(panel, pressed)
        walked.append((panel.workspace.cursor.cache, panel.workspace.cursor.slot))
    assert walked == [(0, 4), (1, 4), (1, 22), (1, 0)]


def test_enter_goes_to_the_frame_that_wrote_the_slot(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path)
    run.run()
    look(panel, run, 8)
    click(panel, 0, 12)
    panel.strips.setFocus()
    key(panel, Qt.Key.Key_Return)
    assert panel.workspace.cursor.frame == 3
    click(panel, 0, 2)
    key(panel, Qt.Key.Key_Return)
    assert panel.workspace.cursor.frame == 3, "no frame of the run wrote the voice"


def test_a_slot_selected_elsewhere_is_selected_here(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path)
    run.run()
    look(panel, run, 5)
    panel.workspace.move(cache=2, slot=7)
    panel.refresh_now()
    assert panel.strips.selection == Selection(2, 7, 8, 7)
    panel.workspace.move(cache=1)
    panel.refresh_now()
    assert panel.strips.selection is None


def test_a_selected_op_marks_what_it_touches(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path)
    run.run()
    look(panel, run, 3)
    assert panel.workspace.recording is not None
    write, read = panel.workspace.recording.ops.of_frame(3)[:2].tolist()
    panel.workspace.move(op=write)
    panel.refresh_now()
    assert StripMark(0, 12, 13, MarkKind.WRITE) in panel.strips.scene().marks
    assert panel.op_line.sentence == f"op {write}  writes K 12 of L0"
    panel.workspace.move(op=read)
    panel.refresh_now()
    assert StripMark(1, 0, 13, MarkKind.READ) in panel.strips.scene().marks
    panel.workspace.move(frame=4)
    panel.refresh_now()
    assert not panel.op_line.isVisible()
    assert {mark.kind for mark in panel.strips.scene().marks} == {MarkKind.FRESH}


def test_another_recording_replaces_the_map(panel: CacheMapPanel, tmp_path: Path) -> None:
    for name, layers in (("one", 4), ("two", 1)):
        run = FakeRun(tmp_path / f"{name}.kvrec", layers=layers)
        run.run()
        look(panel, run, 5)
        click(panel, layers, 0)
        assert panel.slot_line.sentence.startswith("D0, slot 0")
    panel.workspace.close()
    panel.refresh_now()
    assert "Press F10" in panel.stage.sentence


# ---- the encoder --------------------------------------------------------------------------------


def test_the_encoder_is_one_quiet_line_until_asked_for(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path, encoder=2)
    run.run()
    look(panel, run, 5)
    names = [shown.group.name for shown in panel.strips.scene().groups]
    assert names == ["FlowLM", "Mimi decoder"]
    assert panel.encoder.text() == "2 encoder layers, never used"
    assert not panel.trouble_line.isVisible(), "its slots are no holes"
    panel.encoder.click()
    panel.refresh_now()
    assert strip(panel, 3).name == "E0"
    assert set(roles(panel, 4)) == {"unwritten"}
    hover(panel, 3, 0)
    assert panel.slot_line.sentence.endswith("as all of the encoder while speaking")


def test_no_encoder_no_line(panel: CacheMapPanel, path: Path) -> None:
    run = FakeRun(path)
    run.run()
    look(panel, run, 5)
    assert not panel.encoder.isVisible()


def test_another_theme_repaints_the_map(
    qapp: QApplication, panel: CacheMapPanel, path: Path
) -> None:
    run = FakeRun(path)
    run.run()
    look(panel, run, 5)
    before = panel.strips.scene().palette
    apply_theme(qapp, "dark")
    panel.refresh_now()
    assert not before.is_dark
    assert panel.strips.scene().palette.is_dark
