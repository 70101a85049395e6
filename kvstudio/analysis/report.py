"""The report of a recording: all checks, and a verdict that never claims more than was seen."""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from kvstudio.analysis.finding import Finding
from kvstudio.recording.reader import Recording
from kvstudio.recording.recipes import edit_text
from kvstudio.recording.schema import PARTS

Verdict = Literal["clean", "findings", "not verified"]

UNTRACED = {
    "off": "neither K/V values nor ops were seen",
    "cache": "no op was seen: nobody knows which slots were read",
}
FLOW_LM, MIMI = PARTS.index("flow_lm"), PARTS.index("mimi")


@dataclass(frozen=True)
class Report:
    """What the checks say of a recording.

    Attributes:
        verdict: `clean` only if the whole run was seen and nothing was found.
        reason: the verdict in words.
        frames: how many frames were looked at.
    """

    verdict: Verdict
    reason: str
    frames: int
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, object]:
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "frames": self.frames,
            "findings": [finding.to_json() for finding in self.findings],
        }


def report_of(
    recording: Recording, findings: tuple[Finding, ...], checks: int, gap: str | None = None
) -> Report:
    """The report that `findings` make.

    Args:
        recording: all of it was looked at.
        findings: what was found.
        checks: how many checks looked.
        gap: what they could not see, see `Coverage`.
    """
    frames = len(recording.frames)
    if findings:
        return Report("findings", _summary(findings), frames, findings)
    blind = blind_spot(recording, gap)
    if blind is not None:
        return Report("not verified", blind, frames, ())
    reason = f"{frames} frames, {checks} checks, no findings{_missed(recording)}"
    return Report("clean", reason, frames, ())


def blind_spot(recording: Recording, gap: str | None = None) -> str | None:
    """Why the absence of findings proves nothing, in words; None if it does."""
    frames = len(recording.frames)
    if frames == 0:
        return "nothing to check: the recording has no frames"
    if not any(cache.model == "flow_lm" for cache in recording.caches):
        return "nothing to check: no KV cache of FlowLM was found in the model"
    if recording.status != "finished":
        return _unfinished(recording)
    unseen = UNTRACED.get(recording.spec.trace)
    if unseen is not None:
        return (
            f"the run was recorded with trace {recording.spec.trace}, so {unseen}; "
            "record it again with --trace full"
        )
    return _unseen(recording) or gap


def _unseen(recording: Recording) -> str | None:
    """A part of the model of which no op was seen though it ran."""
    counts = recording.op_counts()
    flow_lm = [f for f in recording.frames if f.phase != "voice" and not f.is_codec_alone]
    ran = [(frame.id, FLOW_LM) for frame in flow_lm]
    ran += [(frame, MIMI) for frame, _, _ in recording.audio_frames()]
    unseen = sorted(each for each in ran if not counts.get(each))
    if not unseen:
        return None
    frame, part = unseen[0]
    return (
        f"no op of {'FlowLM' if part == FLOW_LM else 'Mimi'} was seen in frame {frame} "
        f"(frames: {len({frame for frame, _ in unseen})}): it ran where the tracer does not "
        "look, in another thread or compiled"
    )


def _missed(recording: Recording) -> str:
    """Edits that a run was over before: what is said of it is not said of them."""
    last = len(recording.frames) - 1
    never = [edit_text(edit) for edit in recording.spec.edits if edit.frame > last]
    if not never:
        return ""
    return f"; {', '.join(never)} never took place: the last frame was frame {last}"


def _unfinished(recording: Recording) -> str:
    ended = {
        "recording": "the run is still going on",
        "interrupted": "the run was cut short: the process that recorded it is gone",
        "stopped": "the run was stopped before its end",
        "failed": f"the run failed: {recording.facts.reason}",
    }
    return f"{ended[recording.status]}; its {len(recording.frames)} frames have no findings"


def _summary(findings: tuple[Finding, ...]) -> str:
    kinds = Counter(finding.kind for finding in findings)
    words = ", ".join(kind if n == 1 else f"{kind} ({n})" for kind, n in kinds.items())
    return f"{len(findings)} {'finding' if len(findings) == 1 else 'findings'}: {words}"
