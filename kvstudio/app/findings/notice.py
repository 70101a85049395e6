"""Makes the user look when something is found, without standing in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from kvstudio.app.findings.jump import jump, origin
from kvstudio.recording import protocol as p

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDockWidget

    from kvstudio.analysis.finding import Finding
    from kvstudio.app.banner import Banner, Message
    from kvstudio.app.panels.findings import FindingsPanel
    from kvstudio.app.workspace import Workspace


class FindingNotice(QObject):
    """The verdict flashes; a run that holds because of a finding shows where it begins."""

    def __init__(
        self, workspace: Workspace, panel: FindingsPanel, dock: QDockWidget, banner: Banner
    ) -> None:
        super().__init__(dock)
        self._workspace, self._panel, self._dock, self._banner = workspace, panel, dock, banner
        self._news: list[p.Found] = []
        self._message: Message | None = None

    def take_event(self, event: object) -> None:
        if isinstance(event, p.Found):
            self._news.append(event)
            self._draw_attention(event)
        elif isinstance(event, p.Started):
            self._dismiss()
        elif isinstance(event, p.State):
            if event.state == "held" and holds_for(event.words, self._news):
                self._show_origin(holds_for(event.words, self._news)[0])
            self._news.clear()

    # ---- private ------------------------------------------------------------------------------

    def _draw_attention(self, news: p.Found) -> None:
        if not self._dock.isHidden():
            self._dock.raise_()
            self._panel.verdict.flash()
        elif self._message is None or self._message not in self._banner.messages:
            self._message = self._banner.show_message(
                self._words(news), tone="note", action=("Show findings", self._open)
            )

    def _words(self, news: p.Found) -> str:
        return "Something was found." if self._panel.withholds else f"Found: {found_words(news)}."

    def _open(self) -> None:
        self._dock.show()
        self._dock.raise_()

    def _dismiss(self) -> None:
        if self._message is not None:
            self._banner.dismiss(self._message)
            self._message = None

    def _show_origin(self, news: p.Found) -> None:
        watch = self._workspace.findings
        self._workspace.refresh()
        finding = next((each for each in watch.findings if _is_about(each, news)), None)
        if finding is not None:
            watch.choose(finding)
            jump(self._workspace, origin(finding))


def holds_for(words: str, news: list[p.Found]) -> list[p.Found]:
    """Those of the news that a run is held for, as the engine's words name their kinds."""
    _, _, kinds = words.partition(": ")
    named = kinds.split(", ")
    return [each for each in news if each.kind in named]


def found_words(news: p.Found) -> str:
    """Such as `unwritten-read in frame 17`."""
    return news.kind if news.frame is None else f"{news.kind} in frame {news.frame}"


def _is_about(finding: Finding, news: p.Found) -> bool:
    return (finding.kind, finding.frame) == (news.kind, news.frame)
