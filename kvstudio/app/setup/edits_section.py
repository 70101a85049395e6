"""Setup, Edits: what is done to the run on purpose, each a recipe of the catalogue."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QVBoxLayout, QWidget

from kvstudio.app.setup.edit_card import EditCard
from kvstudio.app.setup.edit_form import EditForm
from kvstudio.app.setup.fields import Note, Section
from kvstudio.app.words import counted
from kvstudio.recording.recipes import GROUPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvstudio.app.setup.form import SetupForm
    from kvstudio.recording.recipes import Recipe

NOTHING = "None: the run is as the model makes it."


class EditsSection(Section):
    """A card for each edit, and a menu of all recipes.

    Signals:
        card_unfolded: (card) a new one, to be brought into view.
    """

    card_unfolded = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Edits", parent)
        self.cards: list[EditCard] = []
        self.note = Note("muted")
        self.add = QPushButton("Add an edit")
        self.add.setToolTip("Break the run on purpose, or poke slots, at a frame of your choice")
        self.menu = self._make_menu()
        self.add.setMenu(self.menu)
        self._cards = QVBoxLayout()
        self._cards.setSpacing(2)
        self.rows.addLayout(self._cards)
        self.rows.addWidget(self.note)
        self.rows.addWidget(self.add)
        self._show_count()

    def fill(self, form: SetupForm) -> None:
        if form.edits != self.forms:
            for card in tuple(self.cards):
                self._drop(card)
            for each in form.edits:
                self._append(each)
            self._show_count()

    def read(self, form: SetupForm) -> SetupForm:
        return replace(form, edits=self.forms)

    def show_problems(self, problems: Mapping[str, str]) -> None:
        """Each card tells its own."""

    @property
    def forms(self) -> tuple[EditForm, ...]:
        return tuple(card.form for card in self.cards)

    # ---- private ------------------------------------------------------------------------------

    def _make_menu(self) -> QMenu:
        menu = QMenu(self)
        for title, recipes in GROUPS:
            group = menu.addMenu(title)
            group.setToolTipsVisible(True)
            for recipe in recipes:
                group.addAction(self._action(recipe, group))
        return menu

    def _action(self, recipe: Recipe, group: QMenu) -> QAction:
        action = QAction(recipe.name, group)
        action.setToolTip(recipe.says)
        action.triggered.connect(lambda: self._on_recipe_chosen(recipe))
        return action

    def _append(self, form: EditForm) -> EditCard:
        card = EditCard(form)
        card.edited.connect(self.edited)
        card.remove_requested.connect(lambda: self._on_card_remove_requested(card))
        self.cards.append(card)
        self._cards.addWidget(card)
        return card

    def _drop(self, card: EditCard) -> None:
        self.cards.remove(card)
        self._cards.removeWidget(card)
        card.hide()
        card.deleteLater()

    def _show_count(self) -> None:
        count = len(self.cards)
        self.aside.setText(counted(count, "edit") if count else "")
        self.note.say("" if count else NOTHING)

    def _on_recipe_chosen(self, recipe: Recipe) -> None:
        for card in self.cards:
            card.unfold(False)
        card = self._append(EditForm.of_recipe(recipe))
        card.unfold(True)
        self._show_count()
        self.edited.emit()
        self.card_unfolded.emit(card)

    def _on_card_remove_requested(self, card: EditCard) -> None:
        self._drop(card)
        self._show_count()
        self.edited.emit()
