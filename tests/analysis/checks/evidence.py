"""Evidence as an engine would leave it, with everything that a test does not care about filled in.

FakeRun's layers come first among the caches; each decode frame has 20 ops, and op n of a frame
lies at line 10 + n.
"""

from kvstudio.recording.evidence import Attention, Fill, Misuse, MisuseKind, Surprise
from tests.fakes import FakeRun

BOTH = 2


def misuse(
    kind: MisuseKind,
    cache: int,
    slots: tuple[int, int],
    *,
    op: int = 3,
    kv: int = BOTH,
    heads: tuple[int, int] = (0, 2),
    masked: bool | None = None,
    fill: Fill = "nan",
    writer: int | None = None,
) -> Misuse:
    return Misuse(op, cache, kind, kv, *slots, *heads, masked, fill, writer)


def healthy(
    cache: int, position: int, *, queries: int = 1, context: int | None = None
) -> Attention:
    """What a healthy attention op looks at."""
    newest = position + queries - 1
    oldest = 0 if context is None else max(0, newest - context + 1)
    return Attention(
        op=cache,
        cache=cache,
        queries=queries,
        keys=newest + 1,
        position=position,
        slot=position,
        rope=position,
        oldest=oldest,
        newest=newest,
        attended=newest - oldest + 1,
        future=0,
        outside=0,
        missing=0,
    )


def changed(entry: int, slots: tuple[int, int], *, model: str = "flow_lm") -> Surprise:
    """Slots of a layer's cache that changed between two steps."""
    return Surprise(model, name_of(entry, model), "cache", "changed", *slots)


def moved(entry: int, *, model: str = "flow_lm") -> Surprise:
    return Surprise(model, name_of(entry, model), "offset", "changed")


def name_of(layer: int, model: str = "flow_lm") -> str:
    prefix = "" if model == "flow_lm" else "decoder_transformer."
    return f"{prefix}transformer.layers.{layer}.self_attn"


def begun(run: FakeRun, steps: int = 2) -> FakeRun:
    """A voice of 5 slots, a text of 6, and decode steps: the offset is 11 + steps, frames 2 on."""
    run.begin_chunk()
    run.prefill()
    for _ in range(steps):
        run.decode()
    return run


def ended(run: FakeRun, steps: int = 2) -> FakeRun:
    """Goes on to EOS and closes."""
    for step in range(steps):
        run.decode(eos=step == steps - 1)
    run.writer.finish("finished", "EOS")
    return run
