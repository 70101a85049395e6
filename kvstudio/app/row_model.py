"""Some hundreds of rows as a table: columns are functions of a row; sorted and filtered here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from kvstudio.app.table import LEFT, RIGHT

Row = TypeVar("Row")
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column.

    Attributes:
        chars: first width in digits.
        order: what to sort by; by the text if absent.
        tip: the tool tip; the text itself if absent, for it may be cut.
        color: colour of the text, `#rrggbb`, or empty for the usual one.
        bold: whether the text is set in bold.
    """

    title: str
    chars: int
    text: Callable[[Row], str]
    order: Callable[[Row], Any] | None = None
    tip: Callable[[Row], str] | None = None
    color: Callable[[Row], str] | None = None
    bold: Callable[[Row], bool] | None = None
    right: bool = False
    title_tip: str = ""


class Heading(Protocol):
    """What the header of a column needs to know."""

    @property
    def title(self) -> str: ...
    @property
    def title_tip(self) -> str: ...
    @property
    def right(self) -> bool: ...


def header_cell(
    columns: Sequence[Heading], section: int, orientation: Qt.Orientation, role: int
) -> object:
    """The answer of a model's `headerData` for such columns."""
    if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(columns):
        return None
    column = columns[section]
    if role == Qt.ItemDataRole.DisplayRole:
        return column.title
    if role == Qt.ItemDataRole.ToolTipRole:
        return column.title_tip or None
    if role == Qt.ItemDataRole.TextAlignmentRole:
        return RIGHT if column.right else LEFT
    return None


class RowModel(QAbstractTableModel, Generic[Row]):
    """Shows rows that pass `keep`, in the order of one column or as they came."""

    def __init__(self, columns: Sequence[Column[Row]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self.rows: list[Row] = []
        self._all: list[Row] = []
        self._keep: Callable[[Row], bool] = lambda row: True
        self._bold_font = QFont()
        self._bold_font.setBold(True)
        self._sorted_by = -1
        self._downward = False

    def show(self, rows: Sequence[Row]) -> None:
        """Replaces the rows; those of the same number only change their contents."""
        self._all = list(rows)
        self._arrange()

    def keep(self, keep: Callable[[Row], bool]) -> None:
        self._keep = keep
        self._arrange()

    @property
    def total(self) -> int:
        return len(self._all)

    def repaint(self) -> None:
        """After a change of colours."""
        if self.rows:
            last = self.index(len(self.rows) - 1, len(self.columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    # ---- private ------------------------------------------------------------------------------

    def _arrange(self) -> None:
        rows = [row for row in self._all if self._keep(row)]
        if 0 <= self._sorted_by < len(self.columns):
            column = self.columns[self._sorted_by]
            rows.sort(key=column.order or column.text, reverse=self._downward)
        if len(rows) == len(self.rows):
            self.rows = rows  # the selection and the scroll position stay
            self.repaint()
        else:
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()

    def _cell(self, row: Row, column: Column[Row], role: int) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return (column.tip or column.text)(row) or None
        if role == Qt.ItemDataRole.ForegroundRole and column.color is not None:
            return QColor(color) if (color := column.color(row)) else None
        if role == Qt.ItemDataRole.FontRole and column.bold is not None:
            return self._bold_font if column.bold(row) else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if column.right else LEFT
        return None

    # ---- Qt overrides -------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 -- as Qt has it
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        return self._cell(self.rows[index.row()], self.columns[index.column()], role)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        return header_cell(self.columns, section, orientation, role)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._sorted_by, self._downward = column, order == Qt.SortOrder.DescendingOrder
        self._arrange()
