"""A finding in words: what is wrong, and each step from its origin to what is heard."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, QUrl, Signal
from PySide6.QtWidgets import QFrame, QTextBrowser

from kvstudio.analysis.finding import often_words
from kvstudio.app.findings.words import link_target
from kvstudio.app.theme import current_palette

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtWidgets import QWidget

    from kvstudio.analysis.finding import Finding, Link
    from kvstudio.app.theme import Palette

SCHEME = "link"
SMALLEST = QSize(160, 44)


class ChainView(QTextBrowser):
    """Tab goes from link to link, Enter follows one.

    Signals:
        link_chosen: the number of a link of the finding's chain.
    """

    link_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._finding: Finding | None = None
        self._labels: Mapping[int, str] = {}
        self._current: int | None = None
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName("The finding in words")
        self.document().setDocumentMargin(4)
        self.anchorClicked.connect(self._on_anchor_clicked)

    def show_finding(self, finding: Finding | None, labels: Mapping[int, str]) -> None:
        """Shows a finding; `labels` gives the short name of a cache by id."""
        if (finding, labels) != (self._finding, self._labels):
            same = finding is not None and self._finding is not None
            top = self.verticalScrollBar().value() if same and self._is_grown(finding) else 0
            self._finding, self._labels = finding, labels
            self._current = self._current if top else None
            self.restyle()
            self.verticalScrollBar().setValue(top)

    def mark(self, link: int | None) -> None:
        """Sets off the link that was followed last."""
        if link != self._current:
            self._current = link
            top = self.verticalScrollBar().value()
            self.restyle()
            self.verticalScrollBar().setValue(top)

    def restyle(self) -> None:
        palette = current_palette()
        if self._finding is None:
            self.clear()
        else:
            self.setHtml(chain_html(self._finding, self._labels, palette, self._current))

    # ---- private ------------------------------------------------------------------------------

    def _is_grown(self, finding: Finding | None) -> bool:
        """Whether it is the same one as before, with more behind it."""
        before = self._finding
        return (
            finding is not None
            and before is not None
            and (finding.kind, finding.frame, finding.cache)
            == (before.kind, before.frame, before.cache)
        )

    def _on_anchor_clicked(self, url: QUrl) -> None:
        number = url.path()
        if url.scheme() == SCHEME and number.isdecimal():
            self.link_chosen.emit(int(number))

    # ---- Qt overrides -------------------------------------------------------------------------

    def minimumSizeHint(self) -> QSize:
        return SMALLEST


def chain_html(
    finding: Finding, labels: Mapping[int, str], palette: Palette, current: int | None
) -> str:
    """What the file says is never taken for markup."""
    words = f'<p style="margin:0 0 6px 0">{escape(finding.message)}</p>'
    often = often_words(finding)
    if often:
        muted = f"margin:0 0 6px 0; color:{palette.muted_text}"
        words += f'<p style="{muted}">{often}.</p>'
    rows = "".join(
        _row(number, link, labels, palette, is_current=number == current)
        for number, link in enumerate(finding.chain)
    )
    return f'{words}<table cellspacing="0" cellpadding="3" width="100%">{rows}</table>'


def _row(
    number: int, link: Link, labels: Mapping[int, str], palette: Palette, *, is_current: bool
) -> str:
    target = link_target(link, labels)
    text = escape(link.text)
    if target:
        plain = f"color:{palette.text}; text-decoration:none"
        there = f"color:{palette.accent}; text-decoration:none"
        text = (
            f'<a href="{SCHEME}:{number}" style="{plain}">{text}</a><br>'
            f'<a href="{SCHEME}:{number}" style="{there}"><small>{escape(target)} →</small></a>'
        )
    ground = f' bgcolor="{palette.selection}"' if is_current else ""
    return (
        f'<tr{ground}><td width="18" align="right" style="color:{palette.muted_text}">'
        f"{number + 1}</td><td>{text}</td></tr>"
    )
