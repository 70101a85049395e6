"""The text of a source file around the line that called an op."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QTextEdit, QVBoxLayout, QWidget

from kvstudio.app.theme import Palette, current_palette

GUTTER_PADDING = 8
LEAST_HEIGHT = 36  # the marked line and a scroll bar
BARE = "border: none; border-radius: 0; padding: 0;"
"""For a text that fills its place to the edge."""


class SourceView(QWidget):
    """Path and line in words, and below them the text, scrolled to the line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.path = QLabel()
        self.path.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.path.setMinimumWidth(0)
        self.path.setContentsMargins(6, 3, 6, 3)
        self.text = SourceText()
        self.text.setMinimumHeight(LEAST_HEIGHT)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.path)
        column.addWidget(self.text, 1)

    def show_line(self, file: str, line: int, function: str, text: str | None) -> None:
        """`text` is the whole file, None if the recording does not hold it."""
        self.path.show()
        self.path.setText(f"{file}:{line}  in {function}")
        self.path.setToolTip(self.path.text())
        if text is None:
            self.text.show_text("")
            self.text.setPlaceholderText("The recording does not hold the text of this file.")
        else:
            self.text.show_text(text)
            self.text.mark(line)

    def clear(self, sentence: str) -> None:
        self.path.hide()
        self.text.show_text("")
        self.text.setPlaceholderText(sentence)

    def restyle(self) -> None:
        self.text.restyle(current_palette())


class SourceText(QPlainTextEdit):
    """Read-only text with line numbers and one marked line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setStyleSheet(BARE)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setStyleHint(QFont.StyleHint.Monospace)
        self.setFont(font)
        self.marked_line = 0
        self._palette = current_palette()
        self._gutter = _Gutter(self)
        self.updateRequest.connect(self._on_update_requested)

    def show_text(self, text: str) -> None:
        """Replaces the text unless it is the same: going from line to line is then quick."""
        if text != self.toPlainText():
            self.setPlainText(text)
        self.marked_line = 0
        self.setExtraSelections([])
        self._fit_gutter()

    def mark(self, line: int) -> None:
        """Highlights a line, counted from 1, and brings it to the middle."""
        block = self.document().findBlockByNumber(line - 1)
        if not block.isValid():
            return
        self.marked_line = line
        self.setTextCursor(QTextCursor(block))
        self.horizontalScrollBar().setValue(0)
        self.centerCursor()
        self._highlight()

    @property
    def marked_text(self) -> str:
        return self.document().findBlockByNumber(self.marked_line - 1).text()

    def restyle(self, palette: Palette) -> None:
        self._palette = palette
        self._highlight()
        self._gutter.update()

    @property
    def gutter_width(self) -> int:
        digits = len(str(max(1, self.blockCount())))
        return self.fontMetrics().horizontalAdvance("9" * digits) + 2 * GUTTER_PADDING

    def paint_gutter(self, event: QPaintEvent) -> None:
        painter = QPainter(self._gutter)
        painter.fillRect(event.rect(), QColor(self._palette.panel))
        painter.setFont(self.font())
        if not self.document().isEmpty():
            self._paint_numbers(painter, event.rect())

    # ---- private ------------------------------------------------------------------------------

    def _paint_numbers(self, painter: QPainter, area: QRect) -> None:
        block = self.firstVisibleBlock()
        height = self.fontMetrics().height()
        while block.isValid():
            top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
            if top > area.bottom():
                return
            marked = block.blockNumber() + 1 == self.marked_line
            painter.setPen(QColor(self._palette.text if marked else self._palette.muted_text))
            painter.drawText(
                0, round(top), self._gutter.width() - GUTTER_PADDING, height,
                Qt.AlignmentFlag.AlignRight, str(block.blockNumber() + 1),
            )  # fmt: skip
            block = block.next()

    def _highlight(self) -> None:
        if not self.marked_line:
            return
        mark = QTextEdit.ExtraSelection()
        mark.format.setBackground(QColor(self._palette.selection))
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        mark.cursor = QTextCursor(self.document().findBlockByNumber(self.marked_line - 1))
        self.setExtraSelections([mark])

    def _fit_gutter(self) -> None:
        width = 0 if self.document().isEmpty() else self.gutter_width
        self.setViewportMargins(width, 0, 0, 0)
        inside = self.contentsRect()
        self._gutter.setGeometry(inside.left(), inside.top(), width, inside.height())

    def _on_update_requested(self, area: QRect, dy: int) -> None:
        if dy:
            self._gutter.scroll(0, dy)
        else:
            self._gutter.update(0, area.y(), self._gutter.width(), area.height())

    # ---- Qt overrides -------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_gutter()
        if self.marked_line:
            self.centerCursor()


class _Gutter(QWidget):
    """The column of line numbers; the text paints it."""

    def __init__(self, text: SourceText) -> None:
        super().__init__(text)
        self._text = text

    def sizeHint(self) -> QSize:
        return QSize(self._text.gutter_width, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._text.paint_gutter(event)
