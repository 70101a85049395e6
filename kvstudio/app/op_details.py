"""Below the table of ops: all about one op in words, and the source line that called it."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QTextBrowser, QWidget

from kvstudio.app.cache_words import cache_labels
from kvstudio.app.kept_share import KeptShare
from kvstudio.app.op_roles import OpRoles
from kvstudio.app.op_words import details_html, frame_details, op_details
from kvstudio.app.source_view import BARE, SourceView
from kvstudio.app.theme import current_palette
from kvstudio.recording.errors import RecordingError
from kvstudio.recording.reader import Recording

WIDE = 640
ROOM_FOR_WORDS = 110
CHOOSE = "Select an op to see its source line and what it touched."


class OpDetails(QSplitter):
    """Side by side where there is room, else the source above."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self.source = SourceView()
        self.words = QTextBrowser(openLinks=False)
        self.words.setMinimumHeight(1)  # where it is low it gives way
        self.words.setStyleSheet(BARE)
        self.addWidget(self.source)
        self.addWidget(self.words)
        self.setChildrenCollapsible(False)
        self._share = KeptShare(self, "op_details", 0.6)
        self._share.divide()
        self._shown: tuple[Recording, int] | None = None  # recording and op
        self._summed: tuple[Recording, int] | None = None  # recording and frame
        self.clear()

    def show_op(self, recording: Recording, op: int) -> None:
        """Reads the op and shows it; harmless when repeated."""
        if self._shown == (recording, op):
            return
        self._shown, self._summed = (recording, op), None
        self._make_room()
        self.source.show()
        try:
            found = recording.ops.get(op)
            text = recording.source(found.site[0])
            role = OpRoles(recording).role(found).words
        except RecordingError as error:
            self.words.setPlainText(f"Op {op} cannot be read: {error.what}")
            self.source.clear("")
            return
        known = 0 <= found.frame < len(recording.frames)
        frame = recording.frames[found.frame] if known else None
        details = op_details(found, frame, cache_labels(recording.caches), role)
        self.words.setHtml(details_html(details, current_palette().muted_text))
        self.source.show_line(*found.site, text)

    def show_frame(self, recording: Recording, frame: int) -> None:
        """While no op is selected: what the ops of a frame took."""
        if self._summed == (recording, frame):
            return
        self._shown, self._summed = None, (recording, frame)
        self.words.show()
        self.source.hide()
        try:
            shares = recording.ops.shares(frame)
        except RecordingError as error:
            self.words.setPlainText(f"The ops of this frame cannot be read: {error.what}")
            return
        details = [*frame_details(recording.frames[frame], shares), ("", ""), ("", CHOOSE)]
        self.words.setHtml(details_html(details, current_palette().muted_text))

    def clear(self) -> None:
        self._shown = self._summed = None
        self.words.hide()
        self.source.show()
        self.source.clear(CHOOSE)

    def restyle(self) -> None:
        self.source.restyle()
        shown, summed = self._shown, self._summed
        self._shown = self._summed = None
        if shown is not None:
            self.show_op(*shown)
        elif summed is not None:
            self.show_frame(*summed)

    def _make_room(self) -> None:
        """In a low place the source line goes first; the table above has the rest in short."""
        low = self.orientation() == Qt.Orientation.Vertical and self.height() < ROOM_FOR_WORDS
        is_empty = self._shown is None and self._summed is None
        self.words.setHidden(is_empty or (low and self._shown is not None))

    # ---- Qt overrides -------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = Qt.Orientation.Horizontal if self.width() >= WIDE else Qt.Orientation.Vertical
        if wide != self.orientation():
            self.setOrientation(wide)
            self._share.divide()
        self._make_room()
