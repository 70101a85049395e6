"""The layer view as a user meets it: what K and V hold, to the last bit, and how it came there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from kvstudio.app.codes import Code, encode
from kvstudio.app.layer.geometry import Cell
from kvstudio.app.layer.values import as_columns
from kvstudio.app.panels.layer import NO_VALUES, LayerPanel
from kvstudio.app.theme import apply_theme
from kvstudio.app.workspace import Workspace
from kvstudio.recording.spec import RunSpec
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from kvstudio.app.codes import CodeArray
    from kvstudio.recording.rows import Cache, Floats, SlotDelta

VOICE, CAPACITY, DIM = 5, 23, 8  # of a FakeRun
NONE = Qt.KeyboardModifier.NoModifier
CTRL = Qt.KeyboardModifier.ControlModifier


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
def panel(qtbot: QtBot, workspace: Workspace) -> LayerPanel:
    return new_panel(qtbot, workspace)


def new_panel(qtbot: QtBot, workspace: Workspace) -> LayerPanel:
    panel = LayerPanel(workspace)
    qtbot.addWidget(panel)
    panel.resize(900, 420)
    panel.show()
    return panel


def look(panel: LayerPanel, run: FakeRun, frame: int, cache: int = 0) -> None:
    """Opens a run at a frame and a cache."""
    assert panel.workspace.open(run.path)
    move(panel, frame=frame, cache=cache)
    # The layout of the view is made when the event loop gets to it.
    QTest.qWait(1)


def move(
    panel: LayerPanel,
    frame: int | None = None,
    *,
    cache: int | None = None,
    slot: int | None = None,
) -> None:
    panel.workspace.move(frame=frame, cache=cache, slot=slot)
    panel.refresh_now()


def finished(path: Path, **sizes: int) -> FakeRun:
    run = FakeRun(path, **sizes)  # type: ignore[arg-type]  # sizes are all int
    run.run()
    return run


def recorded(panel: LayerPanel) -> Floats:
    """What the file says the cache holds at the cursor, `[2, T, B * H * D]`."""
    recording, cursor = panel.workspace.recording, panel.workspace.cursor
    assert recording is not None
    assert cursor.frame is not None
    assert cursor.cache is not None
    return as_columns(recording.values(recording.caches[cursor.cache], cursor.frame))


def codes(panel: LayerPanel, picture: int) -> CodeArray:
    """What a picture shows."""
    return panel.pictures.codes(picture)


def cursor(panel: LayerPanel) -> Cell | None:
    return panel.pictures.cell


def seen(panel: LayerPanel) -> tuple[tuple[float, float], tuple[float, float]]:
    """The columns and the slots in sight."""
    return panel.pictures.seen


def value_range(panel: LayerPanel) -> tuple[float, float]:
    return panel.bar.range.value_range


def pointer(panel: LayerPanel, cell: Cell) -> QPoint:
    """Where a cell lies in the viewport."""
    at: QPoint = panel.pictures.view.mapFromScene(panel.pictures.position_of(cell))
    return at


def hover(panel: LayerPanel, cell: Cell) -> str:
    """What is said of the cell under the pointer."""
    at = QPointF(pointer(panel, cell))
    viewport = panel.pictures.view.viewport()
    button = Qt.MouseButton.NoButton
    event = QMouseEvent(
        QMouseEvent.Type.MouseMove, at, viewport.mapToGlobal(at), button, button, NONE
    )
    QApplication.sendEvent(viewport, event)
    return panel.readout.sentence


def click(panel: LayerPanel, cell: Cell) -> None:
    viewport = panel.pictures.view.viewport()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, NONE, pointer(panel, cell))
    panel.refresh_now()


def key(panel: LayerPanel, pressed: Qt.Key, held: Qt.KeyboardModifier = NONE) -> None:
    QTest.keyClick(panel.pictures.view, pressed, held)
    panel.refresh_now()


def wheel(panel: LayerPanel, turns: int, held: Qt.KeyboardModifier = NONE) -> None:
    viewport = panel.pictures.view.viewport()
    at = QPointF(pointer(panel, Cell(0, 8, 4)))
    event = QWheelEvent(
        at,
        viewport.mapToGlobal(at),
        QPoint(),
        QPoint(0, 120 * turns),
        Qt.MouseButton.NoButton,
        held,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(viewport, event)


def history(panel: LayerPanel) -> list[tuple[int, str]]:
    """The rows of the history that belongs to the cursor now."""
    panel.show_details()
    return [(event.frame, event.words) for event in panel.history.rows.rows]


# ---- empty --------------------------------------------------------------------------------------


def test_without_a_recording_it_says_what_to_do(panel: LayerPanel) -> None:
    panel.refresh_now()
    assert "Press F10" in panel.stage.sentence


def test_a_run_without_values_says_so_instead_of_showing_nan(panel: LayerPanel, path: Path) -> None:
    run = FakeRun(path, spec=RunSpec(trace="off"))
    run.run()
    look(panel, run, 4)
    assert panel.stage.sentence == NO_VALUES


def test_a_codec_without_a_cache_yet_says_when_it_gets_one(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 1, cache=2)
    assert panel.stage.sentence == (
        "Mimi decoder layer 0 has no cache yet; it is allocated at the first decode step."
    )
    move(panel, frame=2)
    assert panel.stage.sentence == ""
    assert panel.facts_line.sentence.startswith("[2, 1, 48, 2, 8]")


# ---- values -------------------------------------------------------------------------------------


def test_every_value_is_shown_in_the_code_of_its_range(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    values = recorded(panel)
    written = np.arange(CAPACITY) < 15
    for part in (0, 1):
        expected = encode(values[part], written, *panel.bar.range.value_range)
        np.testing.assert_array_equal(codes(panel, part), expected)
    assert (codes(panel, 0)[15:] == Code.UNWRITTEN).all()


def test_scrubbing_shows_each_frame_as_it_was(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 9)
    for frame in (0, 1, 5, 3, 9, 0, 8):
        move(panel, frame=frame)
        unwritten = (codes(panel, 1) == Code.UNWRITTEN).all(axis=1)
        np.testing.assert_array_equal(unwritten, np.isnan(recorded(panel)[1]).all(axis=1))


def test_shape_moment_range_and_nan_are_said_in_words(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    values = recorded(panel)
    low, high = np.nanmin(values), np.nanmax(values)
    assert panel.facts_line.sentence == (
        f"[2, 1, 23, 2, 8] · after decode step 3 (frame 5) · min {low:.4g}, max {high:.4g} · "
        "no NaN in 15 written slots · 8 slots unwritten"
    )


def test_the_value_under_the_pointer_is_exact(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    value = str(recorded(panel)[1, 12, DIM + 3])
    said = hover(panel, Cell(1, 12, DIM + 3))
    assert said == (
        f"V[slot 12, head 1, dim 3] = {value} · generated, written in decode step 1 (frame 3)"
    )
    assert np.float32(value) == recorded(panel)[1, 12, DIM + 3]


def test_an_unwritten_slot_has_no_value(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    assert hover(panel, Cell(0, 20, 0)) == (
        "K[slot 20, head 0, dim 0] was never written · unwritten (NaN)"
    )


class StrangeRun(FakeRun):
    """Computes NaN and Inf at decode step 2 in layer 1."""

    def _delta(self, cache: Cache, first: int, slots: int, *, nan: bool = False) -> SlotDelta:
        delta = super()._delta(cache, first, slots, nan=nan)
        if self.step == 2 and cache.id == 1 and delta.values is not None:
            delta.values[0, 0, 0, 1, :3] = np.nan, np.inf, -np.inf
        return delta


def test_a_computed_nan_is_not_taken_for_an_unwritten_slot(panel: LayerPanel, path: Path) -> None:
    run = StrangeRun(path)
    run.run()
    look(panel, run, 6, cache=1)
    assert codes(panel, 0)[13, DIM : DIM + 3].tolist() == [Code.NAN, Code.POS_INF, Code.NEG_INF]
    said = [hover(panel, Cell(0, 13, DIM + n)).split(" · ")[0] for n in range(3)]
    assert [words.split(" = ")[1] for words in said] == [
        "NaN, computed", "Inf, computed", "-Inf, computed",
    ]  # fmt: skip
    assert "NaN computed in 1 slot, Inf computed in 1 slot" in panel.facts_line.sentence


def test_a_latent_that_is_never_decoded_leaves_the_codec_as_it_was(
    panel: LayerPanel, path: Path
) -> None:
    run = FakeRun(path)
    run.begin_chunk()
    run.prefill()
    run.decode()
    run.decode(decoded=False)
    run.writer.finish("finished", "EOS")
    look(panel, run, 3, cache=2)
    assert "after decode step 0 (frame 2), not stepped since" in panel.facts_line.sentence


def test_it_follows_a_run_that_goes_on(panel: LayerPanel, path: Path) -> None:
    run = FakeRun(path)
    run.begin_chunk()
    assert panel.workspace.open(path)
    panel.refresh_now()
    assert codes(panel, 0).shape == (VOICE, 2 * DIM)
    run.prefill()
    run.decode()
    panel.workspace.refresh()
    panel.refresh_now()
    assert (codes(panel, 0) != Code.UNWRITTEN).all(axis=1).sum() == 12


# ---- the cursor ---------------------------------------------------------------------------------


def test_a_click_selects_the_slot_and_puts_the_cursor(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5, cache=1)
    click(panel, Cell(1, 7, 5))
    assert (panel.workspace.cursor.cache, panel.workspace.cursor.slot) == (1, 7)
    assert cursor(panel) == Cell(1, 7, 5)
    assert panel.readout.sentence.startswith("V[slot 7, head 0, dim 5] = ")


def test_keys_move_the_cursor_and_the_readout(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    click(panel, Cell(0, 7, 5))
    panel.pictures.cell_hovered.emit(None)
    values = recorded(panel)
    for pressed, held, cell in (
        (Qt.Key.Key_Down, NONE, Cell(0, 8, 5)),
        (Qt.Key.Key_Right, CTRL, Cell(0, 8, 13)),
        (Qt.Key.Key_V, NONE, Cell(1, 8, 13)),
        (Qt.Key.Key_PageUp, NONE, Cell(1, 0, 13)),
    ):
        key(panel, pressed, held)
        assert cursor(panel) == cell
        assert panel.workspace.cursor.slot == cell.slot
        assert f" = {values[cell]!s} " in panel.readout.sentence


def test_a_slot_selected_elsewhere_moves_the_cursor(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    move(panel, slot=9)
    assert cursor(panel) == Cell(0, 9, 0)
    move(panel, frame=0)
    assert cursor(panel) is None, "the voice prefill has no slot 9"
    assert panel.readout.sentence.startswith("Point at a value")


def test_enter_goes_to_the_frame_that_wrote_the_slot(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 8)
    click(panel, Cell(0, 12, 0))
    key(panel, Qt.Key.Key_Return)
    assert panel.workspace.cursor.frame == 3


def test_the_value_and_the_slot_can_be_copied(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    click(panel, Cell(1, 7, 5))
    key(panel, Qt.Key.Key_C, CTRL)
    clipboard = QGuiApplication.clipboard()
    assert clipboard.text() == panel.readout.sentence
    key(panel, Qt.Key.Key_C, CTRL | Qt.KeyboardModifier.ShiftModifier)
    lines = clipboard.text().splitlines()
    assert lines[0] == "L0 slot 7\tK\tV"
    k, v = recorded(panel)[:, 7, 9]
    assert lines[10] == f"head 1, dim 1\t{k!s}\t{v!s}"
    assert len(lines) == 1 + 2 * DIM


def test_layers_are_chosen_by_list_and_by_key(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    offered = [panel.bar.chooser.itemText(n) for n in range(panel.bar.chooser.count())]
    assert offered == ["FlowLM layer 0", "FlowLM layer 1", "Mimi decoder layer 0"]
    click(panel, Cell(0, 3, 3))
    key(panel, Qt.Key.Key_BracketRight)
    assert panel.workspace.cursor.cache == 1
    assert panel.bar.chooser.currentText() == "FlowLM layer 1"
    key(panel, Qt.Key.Key_BracketLeft)
    key(panel, Qt.Key.Key_BracketLeft)
    assert panel.workspace.cursor.cache == 0
    panel.bar.chooser.activated.emit(2)
    panel.refresh_now()
    assert panel.facts_line.sentence.startswith("[2, 1, 48, 2, 8]")


# ---- the range ----------------------------------------------------------------------------------


def test_the_range_is_fitted_to_each_layer(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    low, high = panel.bar.range.value_range
    assert low == -high
    finite = np.abs(recorded(panel)[np.isfinite(recorded(panel))])
    assert np.quantile(finite, 0.98) < high <= finite.max() * 1.01


def test_a_range_set_by_hand_is_kept_on_other_layers(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    panel.bar.range.high.setValue(0.5)
    assert value_range(panel) == (-0.5, 0.5)
    assert panel.bar.range.locked
    values = recorded(panel)[0]
    too_high = values[:15] > 0.51
    assert (codes(panel, 0)[:15][too_high] == Code.ABOVE).all()
    move(panel, cache=1)
    assert value_range(panel) == (-0.5, 0.5)
    panel.bar.range.lock.setChecked(False)
    move(panel, cache=0)
    assert value_range(panel) != (-0.5, 0.5)


def test_fit_brings_the_range_back(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    fitted = panel.bar.range.value_range
    panel.bar.range.high.setValue(40)
    panel.bar.range.fit_button.click()
    assert value_range(panel) == fitted


def test_without_symmetry_both_ends_are_free(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    panel.bar.range.symmetric.setChecked(False)
    panel.bar.range.low.setValue(-0.25)
    panel.bar.range.high.setValue(3)
    assert value_range(panel) == (-0.25, 3)
    panel.bar.range.symmetric.setChecked(True)
    assert value_range(panel) == (-3, 3)


def test_an_end_can_be_dragged_in_the_histogram(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    panel.show_details()
    strip = panel.bar.range.strip
    high = panel.bar.range.value_range[1]
    grip, middle = (QPoint(round(strip.x_of(value)), 10) for value in (high, high / 2))
    QTest.mousePress(strip, Qt.MouseButton.LeftButton, NONE, grip)
    QTest.mouseMove(strip, middle)
    QTest.mouseRelease(strip, Qt.MouseButton.LeftButton, NONE, middle)
    assert value_range(panel) == pytest.approx((-high / 2, high / 2), rel=0.1)


def test_range_and_arrangement_are_remembered(qtbot: QtBot, panel: LayerPanel, path: Path) -> None:
    run = finished(path)
    look(panel, run, 5)
    panel.bar.range.high.setValue(0.75)
    panel.bar.stacked.click()
    panel.hide()
    other = new_panel(qtbot, panel.workspace)
    look(other, run, 5)
    assert other.bar.range.value_range == (-0.75, 0.75)
    assert other.bar.stacked.isChecked()


# ---- before and after the expansion -------------------------------------------------------------


def test_before_and_after_of_the_expansion(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    panel.bar.expansion.click()
    panel.refresh_now()
    assert panel.facts_line.sentence == (
        "5 slots before, 23 after; the 18 new ones are NaN; the 5 old ones unchanged, bit for bit"
    )
    assert panel.pictures.rows == [5, 23, 5, 23]
    np.testing.assert_array_equal(codes(panel, 1)[:5], codes(panel, 0))
    assert (codes(panel, 3)[5:] == Code.UNWRITTEN).all()
    value = str(recorded(panel)[0, 2, 3])
    QTest.qWait(1)
    assert hover(panel, Cell(0, 2, 3)) == (
        f"K before[slot 2, head 0, dim 3] = {value} · as it was before the expansion"
    )
    assert hover(panel, Cell(3, 9, 3)) == (
        "V after[slot 9, head 0, dim 3] · new, never written (NaN)"
    )


def test_an_expansion_that_spoils_the_cache_is_called_out(panel: LayerPanel, path: Path) -> None:
    run = finished(path)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE expansion SET fill = 'zero', not_nan_slot = 5, changed_slot = 2")
    look(panel, run, 5)
    panel.bar.expansion.click()
    panel.refresh_now()
    assert panel.facts_line.sentence == (
        "5 slots before, 23 after; the 18 new ones are not all NaN: slot 5 holds zeros; "
        "the 5 old ones changed, first in slot 2"
    )
    assert not panel.is_sound


def test_a_chunk_that_goes_on_shows_what_the_one_before_left(panel: LayerPanel, path: Path) -> None:
    run = FakeRun(path)
    for continues in (None, 0):
        run.begin_chunk(continues=continues)
        run.prefill()
        run.decode()
    run.writer.finish("finished", "EOS")
    look(panel, run, 2)
    left = codes(panel, 0).copy()
    panel.bar.range.lock.setChecked(True)
    move(panel, frame=4)
    panel.bar.expansion.click()
    panel.refresh_now()
    assert panel.facts_line.sentence.startswith("23 slots before, 30 after")
    np.testing.assert_array_equal(codes(panel, 0), left)


def test_a_cache_that_nothing_expanded_offers_no_before(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5, cache=2)
    assert not panel.bar.expansion.isEnabled()
    move(panel, cache=1)
    assert panel.bar.expansion.isEnabled()


# ---- the history of a slot ----------------------------------------------------------------------


def test_the_history_lists_every_write_and_read_up_to_the_frame(
    panel: LayerPanel, path: Path
) -> None:
    run = finished(path, ops_per_frame=4)
    look(panel, run, 3)
    move(panel, slot=11)
    assert history(panel) == [(2, "writes K"), (2, "reads K"), (3, "reads K")]
    move(panel, frame=2)
    assert history(panel) == [(2, "writes K"), (2, "reads K")]


def test_a_row_of_the_history_leads_to_its_frame_and_op(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path, ops_per_frame=4), 3)
    move(panel, slot=11)
    history(panel)
    panel.history.table.row_chosen.emit(1)
    panel.refresh_now()
    assert panel.workspace.cursor.frame == 2
    op = panel.workspace.cursor.op
    assert op is not None
    assert op == panel.history.rows.rows[1].op
    assert panel.history.table.currentIndex().row() == 1


def test_a_run_without_ops_still_knows_its_writes(panel: LayerPanel, path: Path) -> None:
    run = FakeRun(path, ops_per_frame=0, spec=RunSpec(trace="cache"))
    run.run()
    look(panel, run, 9)
    move(panel, slot=11)
    assert history(panel) == [(2, "writes K+V")]
    move(panel, slot=1)
    assert history(panel) == [(0, "writes K+V")]


def test_the_history_shows_only_while_a_slot_is_selected(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    assert not panel.history.isVisible()
    move(panel, slot=3)
    assert panel.history.isVisible()
    panel.bar.history.click()
    panel.refresh_now()
    assert not panel.history.isVisible()


# ---- looking around -----------------------------------------------------------------------------


def test_ctrl_and_wheel_magnify_and_a_double_click_shows_all(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    assert seen(panel) == ((0, 16), (0, 23))
    wheel(panel, 3, CTRL)
    (left, right), (top, bottom) = seen(panel)
    assert right - left < 9
    assert bottom - top < 13
    wheel(panel, -1)
    assert seen(panel)[1][0] > top
    viewport = panel.pictures.view.viewport()
    at = viewport.rect().center()
    QTest.mouseDClick(viewport, Qt.MouseButton.LeftButton, NONE, at)
    QTest.qWait(1)
    key(panel, Qt.Key.Key_0)
    assert seen(panel) == ((0, 16), (0, 23))


def test_the_cursor_is_brought_into_sight(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    click(panel, Cell(0, 2, 2))
    for _ in range(5):
        key(panel, Qt.Key.Key_Plus)
    key(panel, Qt.Key.Key_End)
    key(panel, Qt.Key.Key_PageDown)
    (left, right), (top, bottom) = seen(panel)
    assert cursor(panel) == Cell(0, 18, 15)
    assert left <= 15 < right
    assert top <= 18 < bottom


def test_of_a_large_cache_first_the_part_in_use_is_shown(panel: LayerPanel, path: Path) -> None:
    run = FakeRun(path, layers=1, room=60, mimi_steps=16)
    run.run(frames=12)
    look(panel, run, 2, cache=1)
    assert seen(panel)[1] == (0, 256)
    move(panel, frame=13)
    assert seen(panel)[1] == (0, 512)


def test_k_above_v_or_beside_it(panel: LayerPanel, path: Path) -> None:
    look(panel, finished(path), 5)
    beside = [panel.pictures.position_of(Cell(n, 3, 3)) for n in (0, 1)]
    panel.bar.stacked.click()
    panel.refresh_now()
    QTest.qWait(1)
    above = [panel.pictures.position_of(Cell(n, 3, 3)) for n in (0, 1)]
    assert beside[0].y() == pytest.approx(beside[1].y())
    assert above[0].x() == pytest.approx(above[1].x())
    assert hover(panel, Cell(1, 3, 3)).startswith("V[slot 3, head 0, dim 3] = ")


def test_another_theme_repaints_the_pictures(
    qapp: QApplication, panel: LayerPanel, path: Path
) -> None:
    look(panel, finished(path), 5)
    light = panel.grab().toImage().pixelColor(2, 2).lightness()
    apply_theme(qapp, "dark")
    panel.refresh_now()
    dark = panel.grab().toImage().pixelColor(2, 2).lightness()
    assert light > 200
    assert dark < 60


def test_the_history_leaves_the_pictures_most_of_a_small_panel(
    panel: LayerPanel, path: Path
) -> None:
    panel.resize(558, 180)
    look(panel, finished(path), 4)
    move(panel, frame=4, cache=0, slot=7)
    pictures, side = panel.parts.sizes()
    assert side > 0
    assert pictures > 1.3 * side
