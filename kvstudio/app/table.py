"""The table view that panels share: rows of one height, copied as text, columns remembered."""

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractItemModel,
    QByteArray,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAction,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from kvstudio.app.settings import Settings

Index = QModelIndex | QPersistentModelIndex
MOST_COPIED = 5_000
ROW_PADDING = 6
CELL_PADDING = 7  # as in the headers
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class Table(QTableView):
    """Any number of rows: nothing here asks for more of them than are on screen.

    Args:
        key: the name under which the columns' widths are remembered.
        rows: the model, which must have all its columns by now.
        chars: first width of each column, in digits.
        tail_columns: columns whose end says more than their beginning, such as paths.

    Signals:
        row_chosen: the user made another row current.
        rows_copied: (copied, selected); fewer are copied than selected beyond `MOST_COPIED`.
    """

    row_chosen = Signal(int)
    rows_copied = Signal(int, int)

    def __init__(
        self,
        key: str,
        rows: QAbstractItemModel,
        chars: Sequence[int],
        tail_columns: Sequence[int] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._key = f"table_{key}"
        self._quiet = False
        self._sought: int | None = None  # a row that was put in sight and not scrolled away
        self.setModel(rows)
        self._dress()
        self._cells = Cells(Qt.TextElideMode.ElideRight, self)
        self.setItemDelegate(self._cells)
        self._tail = Cells(Qt.TextElideMode.ElideLeft, self)
        for column in tail_columns:
            self.setItemDelegateForColumn(column, self._tail)
        copy = QAction("&Copy rows", self, shortcut=QKeySequence(QKeySequence.StandardKey.Copy))
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(self.copy_rows)
        self.addAction(copy)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self._restore_columns(chars)
        self._is_dragging = self._has_dragged = False
        self.horizontalHeader().viewport().installEventFilter(self)
        self.horizontalHeader().sectionResized.connect(self._on_header_section_resized)
        self.verticalScrollBar().actionTriggered.connect(self._on_scroll_bar_action_triggered)

    def select(self, row: int | None) -> None:
        """Makes a row current and visible without telling that it was chosen."""
        self._quiet = True
        self._sought = row
        if row is None:
            self.selectionModel().clear()
        else:
            column = max(0, self.currentIndex().column())
            self.setCurrentIndex(self.model().index(row, column))
        self._quiet = False

    def selected_rows(self) -> list[range]:
        """Runs of selected rows, from the top."""
        selection = self.selectionModel().selection()
        parts = [selection.at(number) for number in range(selection.count())]
        runs = [range(part.top(), part.bottom() + 1) for part in parts]
        return sorted(runs, key=lambda run: run.start)

    def height_for(self, rows: int) -> int:
        """Height that shows so many rows, the headings and a horizontal scroll bar."""
        bar = self.horizontalScrollBar().sizeHint().height()
        row = self.verticalHeader().defaultSectionSize()
        return self.horizontalHeader().sizeHint().height() + rows * row + bar + 4

    def copy_rows(self) -> None:
        """Puts the selected rows on the clipboard, one a line, cells parted by tabs."""
        runs = self.selected_rows()
        selected = sum(map(len, runs))
        rows = [row for run in runs for row in run[:MOST_COPIED]][:MOST_COPIED]
        columns = [n for n in range(self.model().columnCount()) if not self.isColumnHidden(n)]
        lines = ["\t".join(self._cell(row, column) for column in columns) for row in rows]
        if len(lines) > 1:
            lines.insert(0, "\t".join(self._heading(column) for column in columns))
        if lines:
            QGuiApplication.clipboard().setText("\n".join(lines))
            self.rows_copied.emit(len(rows), selected)

    # ---- private ------------------------------------------------------------------------------

    def _dress(self) -> None:
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        upright = self.verticalHeader()
        upright.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        upright.setMinimumSectionSize(0)
        upright.setDefaultSectionSize(self.fontMetrics().height() + ROW_PADDING)
        upright.hide()
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        header.setStretchLastSection(True)
        header.setMinimumSectionSize(24)

    def _cell(self, row: int, column: int) -> str:
        text = self.model().index(row, column).data(Qt.ItemDataRole.DisplayRole)
        return str(text or "").replace("\t", " ").replace("\n", " ")

    def _headings(self) -> list[str]:
        return [self._heading(column) for column in range(self.model().columnCount())]

    def _heading(self, column: int) -> str:
        return str(self.model().headerData(column, Qt.Orientation.Horizontal) or "")

    def _restore_columns(self, chars: Sequence[int]) -> None:
        header = self.horizontalHeader()
        kept = Settings().remembered(self._key)
        state = QByteArray.fromBase64(str(kept.get("header", "")).encode())
        if kept.get("columns") == self._headings() and header.restoreState(state):
            return
        char = self.fontMetrics().horizontalAdvance("0")
        for column, width in enumerate(chars):
            header.resizeSection(column, width * char + 2 * CELL_PADDING)

    def _save_columns(self) -> None:
        state = bytes(self.horizontalHeader().saveState().toBase64().data()).decode()
        Settings().remember(self._key, {"columns": self._headings(), "header": state})

    def _on_header_section_resized(self) -> None:
        # Layout and hiding columns resize as well; only a drag is the user's wish.
        self._has_dragged |= self._is_dragging

    def _on_scroll_bar_action_triggered(self) -> None:
        self._sought = None

    # ---- Qt overrides -------------------------------------------------------------------------

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if not self._quiet and current.isValid() and current.row() != previous.row():
            self._sought = None
            self.row_chosen.emit(current.row())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # A panel selects before it has its size: what was in sight then may not be now.
        if self._sought is not None and self._sought < self.model().rowCount():
            self.scrollToTop()
            self.scrollTo(self.model().index(self._sought, max(0, self.currentIndex().column())))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_rows()  # Qt would copy one cell
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        # Qt makes the first row current on the way in; nobody has chosen it.
        self._quiet = True
        super().focusInEvent(event)
        if not self.selectionModel().hasSelection():
            self.selectionModel().clearCurrentIndex()
        self._quiet = False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
            self._is_dragging, self._has_dragged = True, False
        elif event.type() == QEvent.Type.MouseButtonRelease:
            self._is_dragging = False
            if self._has_dragged:
                self._save_columns()
        return super().eventFilter(watched, event)


class Cells(QStyledItemDelegate):
    """Paints text and nothing else, in its own colour also where it is selected.

    Padding by a style sheet would make every cell three times as dear.
    """

    def __init__(self, elide: Qt.TextElideMode, parent: QWidget) -> None:
        super().__init__(parent)
        self._elide = elide

    # ---- Qt overrides -------------------------------------------------------------------------

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: Index,
    ) -> None:
        rect: QRect = option.rect
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, option.palette.highlight())
        text = index.data(Qt.ItemDataRole.DisplayRole)
        if not text:
            return
        font = index.data(Qt.ItemDataRole.FontRole) or option.font
        painter.setFont(font)
        color = index.data(Qt.ItemDataRole.ForegroundRole)
        painter.setPen(color if color is not None else option.palette.text().color())
        inside = rect.adjusted(CELL_PADDING, 0, -CELL_PADDING, 0)
        metrics = painter.fontMetrics()
        if metrics.horizontalAdvance(text) > inside.width():
            text = metrics.elidedText(text, self._elide, inside.width())
        alignment = index.data(Qt.ItemDataRole.TextAlignmentRole)
        painter.drawText(inside, int(alignment or LEFT), text)
