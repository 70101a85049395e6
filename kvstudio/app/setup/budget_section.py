"""Setup, Budget: what a text will ask of the caches, before the first op."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from kvstudio.app.setup.fields import Note, Section
from kvstudio.app.words import counted, in_bytes

SHOWN_CHUNKS = 4
TERMS = ("current_end", "token_count", "max_gen_len", "required_len")


class BudgetSection(Section):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Budget", parent)
        self.table = QLabel()
        self.table.setTextFormat(Qt.TextFormat.RichText)
        self.table.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.note = Note("muted")
        self.rows.addWidget(self.table)
        self.rows.addWidget(self.note)
        self.show_unknown("Load the model to see what this text needs.")

    def show_unknown(self, why: str) -> None:
        self.aside.clear()
        self.table.hide()
        self.note.say(why)

    def show_chunks(self, chunks: Sequence[Mapping[str, Any]]) -> None:
        """One entry a chunk, as in `protocol.Budgeted`."""
        if not chunks:
            self.show_unknown("There is no text to speak.")
            return
        self.aside.setText(counted(len(chunks), "chunk") if len(chunks) > 1 else "")
        self.table.setText(budget_table(chunks[:SHOWN_CHUNKS]))
        self.table.show()
        self.note.say(budget_words(chunks))


def budget_table(chunks: Sequence[Mapping[str, Any]]) -> str:
    """The sum of each chunk as a table in HTML, numbers under their names."""
    names = ("voice", "", "text", "", "frames", "", "slots")
    signs = ("+", "+", "=")
    head = "".join(f"<td align='right'><small>{name}</small></td>" for name in names)
    rows = []
    for chunk in chunks:
        cells = [f"{int(chunk.get(term, 0)):,}" for term in TERMS]
        mixed = [cells[0]]
        for sign, cell in zip(signs, cells[1:], strict=True):
            mixed += [sign, cell]
        mixed[-1] = f"<b>{mixed[-1]}</b>"
        rows.append("".join(f"<td align='right'>{cell}</td>" for cell in mixed))
    body = "".join(f"<tr>{row}</tr>" for row in (head, *rows))
    return f"<table cellspacing='0' cellpadding='3'>{body}</table>"


def budget_words(chunks: Sequence[Mapping[str, Any]]) -> str:
    """Such as `at most 12.8 s of audio, 5.3 MB of cache`."""
    frames = sum(int(chunk.get("max_gen_len", 0)) for chunk in chunks)
    largest = max(float(chunk.get("bytes", 0)) for chunk in chunks)
    rest = len(chunks) - SHOWN_CHUNKS
    more = f"and {counted(rest, 'chunk')} more; " if rest > 0 else ""
    return f"{more}at most {frames * 0.08:.1f} s of audio, {in_bytes(largest)} of cache"
