"""The evidence that a run leaves: written with its frame, read back as it was."""

from pathlib import Path

import numpy as np

from kvstudio.recording.evidence import Attention, FindingRow, Misuse, Prefix, Surprise
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Chunk, Frame, FrameRecord, Op
from kvstudio.recording.spec import RunSpec
from kvstudio.recording.writer import RecordingWriter
from tests.fakes import VERSIONS

MISUSE = Misuse(1, 0, "unwritten-read", 2, 5, 7, 0, 4, True, "nan", None)
ATTENTION = Attention(1, 0, 1, 8, 7, 7, 7, 0, 7, 8, 0, 0, 0)
SURPRISE = Surprise("mimi", "decoder.0", "previous", "fresh")
FINDING = FindingRow(
    "hole", "error", "a hole", 3, "decode", "2", 2, "[2]", "K", 5, 7, None, None, 1, "[]"
)


def frame(number: int) -> Frame:
    return Frame(number, 0, "decode", number, 0.5, 0.0, False, 2, 1, 1, 0)


def op(name: str) -> Op:
    return Op(name, 2, "flow_lm", ("a.py", 1, "f"), "f32[1]", "f32[1]", "main", 0, 1)


def recorded(path: Path) -> Recording:
    writer = RecordingWriter(path, RunSpec(), VERSIONS, sample_rate=24000, frame_rate=12.5)
    writer.begin_chunk(Chunk(0, "Hi.", (), 1, 1, 1, 3, 1, 3, None, 16, 0.0), ())
    writer.add_prefix(Prefix(0, True, 0, None, 19))
    for number in range(2):
        writer.add_frame(
            FrameRecord(
                frame=frame(number),
                ops=[op("aten.slice.Tensor"), op("aten.copy_.default")],
                latent=np.zeros(4, np.float32),
                misuses=[MISUSE],
                attentions=[ATTENTION],
                surprises=[SURPRISE],
                fed="latent",
            )
        )
    writer.set_findings([FINDING, FINDING])
    writer.set_findings([FINDING])
    writer.finish("finished")
    return Recording.open(path)


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    with recorded(tmp_path / "run.kvrec") as recording:
        evidence = recording.evidence
        (misuse,) = evidence.misuses(frame=1)
        assert (misuse.kind, misuse.first, misuse.last, misuse.masked) == (
            "unwritten-read",
            5,
            7,
            True,
        )
        assert recording.ops.get(misuse.op).name == "aten.copy_.default"
        assert recording.ops.get(misuse.op).frame == misuse.frame == 1
        assert len(evidence.misuses()) == len(evidence.attentions()) == 2
        assert evidence.attentions(frame=0)[0].attended == 8
        assert evidence.surprises(frame=0)[0].found == "fresh"
        assert evidence.prefixes()[0].marker_slot == 0
        assert evidence.fed() == {0: "latent", 1: "latent"}


def test_findings_are_replaced_as_a_whole(tmp_path: Path) -> None:
    with recorded(tmp_path / "run.kvrec") as recording:
        assert recording.evidence.findings() == [FINDING]
