"""How a splitter's place is divided, remembered from session to session."""

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QSplitter

from kvstudio.app.settings import Settings


class KeptShare(QObject):
    """The share of a splitter's first part, one for each way it lies; of two parts.

    Args:
        key: the name under which it is remembered.
        share: of the first part, until the user says otherwise.
    """

    def __init__(self, splitter: QSplitter, key: str, share: float) -> None:
        super().__init__(splitter)
        self._splitter, self._key, self._share = splitter, f"split_{key}", share
        splitter.splitterMoved.connect(self._on_splitter_moved)

    @property
    def share(self) -> float:
        kept = Settings().remembered(self._key).get(self._way)
        return float(kept) if isinstance(kept, float) and 0 < kept < 1 else self._share

    def divide(self) -> None:
        """Gives each part its share of the room there is."""
        across = self._splitter.orientation() == Qt.Orientation.Horizontal
        room = max(1000, self._splitter.width() if across else self._splitter.height())
        first = round(room * self.share)
        self._splitter.setSizes([first, room - first])

    # ---- private ------------------------------------------------------------------------------

    @property
    def _way(self) -> str:
        return "across" if self._splitter.orientation() == Qt.Orientation.Horizontal else "down"

    def _on_splitter_moved(self) -> None:
        sizes = self._splitter.sizes()
        if len(sizes) == 2 and all(sizes):
            facts = Settings().remembered(self._key)
            Settings().remember(self._key, {**facts, self._way: sizes[0] / sum(sizes)})
