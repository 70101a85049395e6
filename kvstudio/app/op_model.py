"""The ops on show as a table of ids; texts come from the recording for the rows on screen only."""

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from kvstudio.app.cache_words import cache_labels
from kvstudio.app.op_query import NOTHING
from kvstudio.app.op_roles import NORMAL, OpRole, OpRoles
from kvstudio.app.op_words import COLUMN, INF, NAN, OP_COLUMNS
from kvstudio.app.row_model import header_cell
from kvstudio.app.table import LEFT, RIGHT
from kvstudio.app.theme import Palette, current_palette
from kvstudio.recording.errors import RecordingError
from kvstudio.recording.ops import Ids
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Op

Index = QModelIndex | QPersistentModelIndex
REMEMBERED_ROWS = 512
NO_ROLE = OpRole()


@dataclass(frozen=True)
class OpRow:
    """The cells of one op, and what decides how they look."""

    cells: tuple[str, ...]
    frame: int
    nan: int  # 0 finite, 1 NaN, 2 Inf or normal NaN: the worse of what it takes and gives
    role: OpRole = NO_ROLE


class OpModel(QAbstractTableModel):
    """Ops by ascending id. A million of them cost eight bytes each and no text.

    Attributes:
        ids: the ops on show.
        now: ops of later frames are muted; None: none are.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.ids = NOTHING
        self.now: int | None = None
        self._recording: Recording | None = None
        self._roles: OpRoles | None = None
        self._labels: dict[int, str] = {}
        self._rows: OrderedDict[int, OpRow] = OrderedDict()
        self._bold = QFont()
        self._bold.setBold(True)
        self.restyle()

    def show(self, recording: Recording | None, ids: Ids, now: int | None = None) -> None:
        """Shows other ops; the rows already read are kept while the recording is the same."""
        self.beginResetModel()
        if recording is not self._recording:
            self._rows.clear()
            self._roles = None if recording is None else OpRoles(recording)
        self._recording = recording
        self._labels = {} if recording is None else cache_labels(recording.caches)
        self.ids, self.now = ids, now
        self.endResetModel()

    def append(self, ids: Ids) -> None:
        """Adds ops that come after all on show."""
        if len(ids):
            count = len(self.ids)
            self.beginInsertRows(QModelIndex(), count, count + len(ids) - 1)
            self.ids = np.concatenate([self.ids, ids])
            self.endInsertRows()

    def op_at(self, row: int) -> int:
        return int(self.ids[row])

    def row_of(self, op: int | None) -> int | None:
        """Where an op is on show, if it is."""
        if op is None:
            return None
        row = int(np.searchsorted(self.ids, op))
        return row if row < len(self.ids) and self.ids[row] == op else None

    def mute_after(self, frame: int | None) -> None:
        if frame != self.now:
            self.now = frame
            self._repaint()

    def restyle(self) -> None:
        """After a change of colours."""
        palette = current_palette()
        self._colors = _colors(palette)
        self._muted, self._loud = QColor(palette.muted_text), QColor(palette.error)
        self._repaint()

    def row(self, number: int) -> OpRow:
        """The row's texts, from the recording if they are not at hand."""
        op = int(self.ids[number])
        known = self._rows.get(op)
        if known is None:
            known = self._rows[op] = self._read(op)
            if len(self._rows) > REMEMBERED_ROWS:
                self._rows.popitem(last=False)
        else:
            self._rows.move_to_end(op)
        return known

    # ---- private ------------------------------------------------------------------------------

    def _repaint(self) -> None:
        if len(self.ids):
            last = self.index(len(self.ids) - 1, len(OP_COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def _read(self, op: int) -> OpRow:
        assert self._recording is not None, "there are ids, so there is a recording"
        try:
            found = self._recording.ops.get(op)
            role = NO_ROLE if self._roles is None else self._roles.role(found)
        except RecordingError as error:
            blank = [""] * len(OP_COLUMNS)
            blank[COLUMN["#"]], blank[COLUMN["op"]] = str(op), f"cannot be read: {error.what}"
            return OpRow(tuple(blank), -1, 0)
        cells = [column.text(found, self._labels) for column in OP_COLUMNS]
        cells[COLUMN["role"]] = role.word
        worse = INF if role.word == NORMAL else _worse(found)
        return OpRow(tuple(cells), found.frame, worse, role)

    def _color(self, row: OpRow, column: int) -> QColor | None:
        if self.now is not None and row.frame > self.now:
            return self._muted
        if column == COLUMN["role"]:
            return self._loud if row.role.is_loud else self._muted
        return self._colors.get((row.nan, column))

    # ---- Qt overrides -------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 -- as Qt has it
        return 0 if parent.isValid() else len(self.ids)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(OP_COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        number, column = index.row(), index.column()
        if not 0 <= number < len(self.ids):
            return None
        if role == Qt.ItemDataRole.ToolTipRole and column in (COLUMN["NaN"], COLUMN["role"]):
            return self.row(number).role.words or self.row(number).cells[column]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return self.row(number).cells[column]
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._color(self.row(number), column)
        if role == Qt.ItemDataRole.FontRole:
            is_loud = column == COLUMN["NaN"] and self.row(number).nan == NAN
            return self._bold if is_loud else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if OP_COLUMNS[column].right else LEFT
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        return header_cell(OP_COLUMNS, section, orientation, role)


def _worse(op: Op) -> int:
    flags = (op.nan_in, op.nan_out)
    return NAN if NAN in flags else INF if INF in flags else 0


def _colors(palette: Palette) -> dict[tuple[int, int], QColor]:
    """Colour of a cell by the row's NaN flag and the column; the usual one if absent."""
    muted, nan = QColor(palette.muted_text), QColor(palette.nan)
    colors = {(NAN, COLUMN["NaN"]): nan, (INF, COLUMN["NaN"]): muted}
    for flag in (0, NAN, INF):
        for title in ("#", "frame", "part", "thread"):
            colors[flag, COLUMN[title]] = muted
    return colors
