"""The sum of one chunk as a book-keeper writes it, its bar, its text and its tokens."""

from itertools import accumulate

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from kvstudio.analysis.ledger import LedgerRow
from kvstudio.app.ledger_bar import LedgerBar
from kvstudio.app.ledger_words import FAILED, PASSED, capacity_words, use_words
from kvstudio.app.theme import current_palette
from kvstudio.recording.rows import Chunk

WIDE = 560  # from here on the text stands beside the sum
MOST_LETTERS = {True: 400, False: 140}  # of the text and of the tokens: wide, narrow
TERMS = (
    ("current_end", "Slots in use before the text: the voice, or what went before"),
    ("token_count", "Text tokens, one slot each"),
    ("max_gen_len", "Frames the model estimates at most, one slot each"),
    ("required_len", "What the caches were asked to hold"),
    ("capacity", "Slots allocated, before and after the expansion"),
)
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
SELECTABLE = Qt.TextInteractionFlag.TextSelectableByMouse


class LedgerCard(QWidget):
    """One chunk at one frame."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.numbers = {name: _number_label() for name, _ in TERMS}
        self.verdicts = {name: QLabel() for name in ("required_len", "capacity")}
        self.bar = LedgerBar()
        self.use = QLabel(wordWrap=True, textInteractionFlags=SELECTABLE)
        self.problems = QLabel(wordWrap=True, textInteractionFlags=SELECTABLE)
        self.text = QLabel(wordWrap=True, textInteractionFlags=SELECTABLE)
        self.tokens = QLabel(wordWrap=True, textInteractionFlags=SELECTABLE)
        self.tokens.setProperty("role", "muted")
        self._row: LedgerRow | None = None
        self._is_wide: bool | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(8, 4, 8, 6)
        self._grid.setHorizontalSpacing(20)
        self._grid.setVerticalSpacing(6)
        self._sum, self._words = self._sum_column(), self._words_column()
        self._grid.addWidget(self._sum, 0, 0, Qt.AlignmentFlag.AlignTop)
        self._sum.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._grid.addWidget(self.bar, 1, 0, 1, 2)
        self._grid.addWidget(self.use, 2, 0, 1, 2)
        self._grid.addWidget(self.problems, 3, 0, 1, 2)
        self._grid.setColumnStretch(1, 1)
        self._arrange(is_wide=False)

    def show_row(self, row: LedgerRow) -> None:
        self._row = row
        chunk, palette = row.chunk, current_palette()
        self.numbers["current_end"].setText(f"{chunk.current_end:,}")
        self.numbers["token_count"].setText(f"+ {chunk.token_count:,}")
        self.numbers["max_gen_len"].setText(f"+ {chunk.max_gen_len:,}")
        self.numbers["required_len"].setText(f"= {chunk.required_len:,}")
        self.numbers["capacity"].setText(capacity_words(row))
        self._judge("required_len", row.total == chunk.required_len, row.begun)
        self._judge("capacity", chunk.capacity_after >= chunk.required_len, row.begun)
        self.bar.show_row(row)
        self.use.setText(use_words(row))
        self.problems.setText("\n".join(f"{FAILED} {problem}" for problem in row.problems))
        self.problems.setStyleSheet(f"color: {palette.error};")
        self.problems.setVisible(bool(row.problems))
        most = MOST_LETTERS[bool(self._is_wide)]
        self.text.setText(f"“{_cut(chunk.text, most)}”")
        self.text.setToolTip(chunk.text)
        self.tokens.setText(_tokens_words(chunk, most // 2))
        self.tokens.setToolTip("\n".join(f"{number}  {piece}" for number, piece in chunk.tokens))

    def restyle(self) -> None:
        if self._row is not None:
            self.show_row(self._row)

    # ---- private ------------------------------------------------------------------------------

    def _judge(self, name: str, is_right: bool, is_final: bool) -> None:
        palette, label = current_palette(), self.verdicts[name]
        label.setText("" if not is_final else PASSED if is_right else FAILED)
        label.setStyleSheet(f"color: {palette.ok if is_right else palette.error};")

    def _sum_column(self) -> QWidget:
        holder = QWidget()
        grid = QGridLayout(holder)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(1)
        rows = {"current_end": 0, "token_count": 1, "max_gen_len": 2}
        rows |= {"required_len": 4, "capacity": 5}
        line = QFrame(frameShape=QFrame.Shape.HLine, frameShadow=QFrame.Shadow.Plain)
        line.setForegroundRole(self.foregroundRole())
        line.setFixedHeight(1)
        line.setStyleSheet("background: palette(mid); border: none;")
        grid.addWidget(line, 3, 0, 1, 2)
        for name, tip in TERMS:
            heading = QLabel(name)
            heading.setToolTip(tip)
            heading.setProperty("role", "muted")
            grid.addWidget(heading, rows[name], 0)
            grid.addWidget(self.numbers[name], rows[name], 1)
            if name in self.verdicts:
                grid.addWidget(self.verdicts[name], rows[name], 2)
        grid.setColumnMinimumWidth(2, 14)
        return holder

    def _words_column(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addWidget(self.text)
        column.addWidget(self.tokens)
        column.addStretch(1)
        return holder

    def _arrange(self, *, is_wide: bool) -> None:
        if is_wide == self._is_wide:
            return
        self._is_wide = is_wide
        self._grid.removeWidget(self._words)
        if is_wide:
            self._grid.addWidget(self._words, 0, 1)
        else:
            self._grid.addWidget(self._words, 4, 0, 1, 2)
        self.restyle()

    # ---- Qt overrides -------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(is_wide=self.width() >= WIDE)


def _number_label() -> QLabel:
    label = QLabel(alignment=RIGHT, textInteractionFlags=SELECTABLE)
    font = QFont(label.font())
    font.setWeight(QFont.Weight.DemiBold)
    label.setFont(font)
    return label


def _tokens_words(chunk: Chunk, most_letters: int) -> str:
    """The pieces, as many as may be shown; all of them are in the tool tip."""
    if not chunk.tokens:
        return "its tokens are not known yet"
    ends = accumulate(len(piece) + 2 for _, piece in chunk.tokens)
    count = max(1, sum(end <= most_letters for end in ends))
    shown = " · ".join(piece for _, piece in chunk.tokens[:count])
    more = len(chunk.tokens) - count
    return f"{shown} … and {more:,} more" if more else shown


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
