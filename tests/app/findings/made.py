"""Findings as the engine leaves them, and a recording that has some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvstudio.analysis.finding import Finding, Link
from kvstudio.recording.spec import Edit, RunSpec
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from pathlib import Path

READ_OP = 26
"""An op of frame 3, if a frame has 20 ops and the text prefill one."""

UNWRITTEN = Finding(
    kind="unwritten-read",
    severity="error",
    message="Frame 3 read slot 13 of layer 1: nobody had written it.",
    frame=3,
    phase="decode",
    layer=1,
    kv="K",
    slots=(13, 14),
    op="aten.matmul.default",
    site="pocket_tts/modules/attention.py:11",
    chain=(
        Link("slot 13 was never written", frame=1, cache=1, slot=13),
        Link("matmul reads it", frame=3, op=READ_OP),
        Link("the stop logit is NaN", frame=4),
        Link("it can be heard from second 0.10 on", frame=3, second=0.1),
        Link("look at the source"),
    ),
    count=42,
    cache=1,
    caches=(0, 1),
)
NO_EOS = Finding(
    kind="no-eos", severity="warning", message="It did not end.", frame=5, phase="decode"
)
FOUND = (UNWRITTEN, NO_EOS)


def faulty(path: Path, findings: tuple[Finding, ...] = FOUND, *, finish: bool = True) -> FakeRun:
    """Six frames: voice, text, and four decode steps, with an edit at frame 2."""
    run = FakeRun(path, spec=RunSpec(edits=(Edit("off-by-one-read", 2, {"layer": "1"}),)))
    run.begin_chunk()
    run.prefill()
    for _ in range(4):
        run.decode()
    run.writer.set_findings([each.to_row() for each in findings])
    if finish:
        run.writer.finish("finished", "maximum length")
    return run
