"""Poke this slot: put something else into it, and see and hear what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QInputDialog, QMenu, QWidget

from kvstudio.recording.spec import Edit

if TYPE_CHECKING:
    from kvstudio.recording.rows import Cache

TIP = (
    "Runs the same again, same seed, with one more edit before the next frame; this recording stays"
)
ONLY_FLOW_LM = "Slots of FlowLM's layers can be poked, those of Mimi cannot"
NO_SLOT = "Select a slot first"


class PokeMenu(QMenu):
    """Knows the slot that is selected.

    Signals:
        poke_requested: (edit) an `Edit` that puts something else into the slot.
    """

    poke_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("&Poke this slot", parent)
        self._edit: Edit | None = None
        self.setToolTipsVisible(True)
        self.addAction("&NaN", lambda: self._poke("poke-nan"))
        self.addAction("&Zero", lambda: self._poke("poke-zero"))
        self.addAction("Another &slot's value…", self.ask_source)
        self.addAction("Another &voice's value", lambda: self._poke("poke-voice"))
        self.setToolTip(TIP)

    def aim(self, cache: Cache | None, slot: int | None, frame: int | None) -> None:
        """Which slot, after which frame; None if there is none."""
        aims = cache is not None and slot is not None and frame is not None
        self._edit = None
        if cache is not None and slot is not None and frame is not None:
            if cache.model == "flow_lm":
                target = {"layer": str(cache.layer), "slot": str(slot)}
                self._edit = Edit("poke-nan", frame + 1, target)
        self.menuAction().setEnabled(self._edit is not None)
        self.menuAction().setToolTip(TIP if self._edit else ONLY_FLOW_LM if aims else NO_SLOT)
        self.setTitle(f"&Poke slot {slot}" if self._edit else "&Poke this slot")

    def ask_source(self) -> QInputDialog:
        """Asks for the slot to copy; the answer arrives later, the window goes on."""
        edit = self._edit
        dialog = QInputDialog(self.parentWidget())
        dialog.setWindowTitle("Another Slot's Value")
        dialog.setLabelText("Copy the K and V of this slot of the layer:")
        dialog.setInputMode(QInputDialog.InputMode.IntInput)
        dialog.setIntRange(0, 1_000_000)
        dialog.setOkButtonText("Run again")
        dialog.intValueSelected.connect(lambda source: self._poke("poke-copy", edit, source))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog

    # ---- private ------------------------------------------------------------------------------

    def _poke(self, recipe: str, edit: Edit | None = None, source: int | None = None) -> None:
        edit = edit or self._edit
        if edit is None:
            return
        arguments = {**edit.arguments}
        if source is not None:
            arguments["source"] = str(source)
        if recipe == "poke-voice":
            arguments["count"] = "1"
        self.poke_requested.emit(Edit(recipe, edit.frame, arguments))
