"""Links lead to what they are about, and nowhere if that does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvstudio.analysis.finding import Link
from kvstudio.app.findings.jump import jump, origin
from kvstudio.app.workspace import Cursor, Workspace
from tests.app.findings.made import NO_EOS, READ_OP, UNWRITTEN, faulty

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot


@pytest.fixture
def workspace(qtbot: QtBot, tmp_path: Path) -> Iterator[Workspace]:
    workspace = Workspace()
    workspace.open(faulty(tmp_path / "a.kvrec").path)
    yield workspace
    workspace.close()


def test_the_origin_has_frame_op_slot_and_second(workspace: Workspace) -> None:
    assert jump(workspace, origin(UNWRITTEN))
    assert workspace.cursor == Cursor(frame=3, op=READ_OP, cache=1, slot=13, second=0.1)


def test_a_link_takes_along_only_what_it_names(workspace: Workspace) -> None:
    jump(workspace, origin(UNWRITTEN))
    jump(workspace, UNWRITTEN.chain[2])
    assert workspace.cursor == Cursor(frame=4, op=None, cache=1, slot=13, second=None)
    jump(workspace, UNWRITTEN.chain[0])
    assert workspace.cursor.frame == 1


def test_an_op_brings_its_own_frame(workspace: Workspace) -> None:
    jump(workspace, Link("that op", op=READ_OP))
    assert (workspace.cursor.frame, workspace.cursor.op) == (3, READ_OP)


def test_a_finding_without_a_slot_leads_to_its_frame(workspace: Workspace) -> None:
    assert jump(workspace, origin(NO_EOS))
    assert workspace.cursor.frame == 5


@pytest.mark.parametrize(
    "link",
    [
        Link("words alone"),
        Link("no such frame", frame=99),
        Link("no such op", op=10**9),
        Link("far beyond", op=2**70),
        Link("no such cache", cache=7, slot=3),
        Link("a slot of nothing", slot=3),
        Link("before the beginning", frame=-1, cache=-1, second=-1.0),
    ],
    ids=lambda link: link.text,
)
def test_a_link_to_nothing_leads_nowhere(workspace: Workspace, link: Link) -> None:
    before = workspace.cursor
    assert not jump(workspace, link)
    assert workspace.cursor == before
