"""Opens a recording in an Audio panel, presses Play, and quits when all has been heard.

Arguments: the recording. Writes to standard output what the panel said when it was over.
"""

import sys

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from kvstudio.app.panels.audio import AudioPanel
from kvstudio.app.workspace import Workspace

PATIENCE_MS = 30_000


def main(path: str) -> None:
    application = QApplication([])
    workspace = Workspace()
    panel = AudioPanel(workspace)
    panel.bar.slider.setValue(100)
    panel.resize(900, 200)
    panel.show()
    workspace.open(path)
    panel.refresh_now()
    panel.playback.player.finished.connect(application.quit)
    panel.playback.failed.connect(application.quit)
    QTimer.singleShot(PATIENCE_MS, application, application.quit)
    play = panel.bar.buttons["play"]
    QTimer.singleShot(0, play, lambda: QTest.mouseClick(play, Qt.MouseButton.LeftButton))
    application.exec()
    sys.stdout.write(panel.bar.words.sentence)
    panel.close()
    workspace.close()


if __name__ == "__main__":
    main(sys.argv[1])
