"""Makes rows of what a tracer saw, after the step and outside the model's time."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch

from kvstudio.engine.geometry import CacheGeometry, covered_slots
from kvstudio.engine.tracer import OpTracer, RawCall, RawTouch
from kvstudio.recording.rows import Op, Touch

DTYPE_WORDS = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "bool",
}
FINITE, NAN, INF = 0, 1, 2
WatchedCache = tuple[int, CacheGeometry]


def op_rows(
    tracer: OpTracer, part: int, caches: Mapping[str, WatchedCache], run_began_ns: int
) -> list[Op]:
    """One row a call. `caches`: id and geometry of each watched cache, by the tracer's key."""
    calls = tracer.calls
    flags = nan_flags(calls, tracer.sums, tracer.met)
    return [
        Op(
            name=call.facts.name,
            part=part,
            module=call.module,
            site=(short_path(call.code.co_filename), call.line, call.code.co_name),
            arguments=_shapes(call.arguments),
            results=_shapes(call.results),
            thread=tracer.thread,
            began_ns=call.began - run_began_ns,
            took_ns=call.took,
            nan_in=nan_in,
            nan_out=nan_out,
            touches=_touches(call.touches, caches) if call.touches else (),
        )
        for call, (nan_in, nan_out) in zip(calls, flags, strict=True)
    ]


def source_files(tracer: OpTracer) -> set[str]:
    """The files whose lines the ops name, as Python knows them."""
    return {call.code.co_filename for call in tracer.calls}


@lru_cache(maxsize=1024)
def short_path(file: str) -> str:
    """The path from the package on, such as `pocket_tts/modules/attention.py`."""
    parts = file.replace("\\", "/").split("/")
    for anchor in ("site-packages", "dist-packages"):
        if anchor in parts:
            return "/".join(parts[parts.index(anchor) + 1 :])
    if "pocket_tts" in parts[:-1]:
        return "/".join(parts[parts.index("pocket_tts") :])
    return file


def _shapes(noted: tuple[Any, ...]) -> str:
    """In words, of id, shape, dtype, id, shape, dtype, ..."""
    return shape_words(tuple(value for n, value in enumerate(noted) if n % 3))


@lru_cache(maxsize=65536)
def shape_words(metas: tuple[Any, ...]) -> str:
    """Of shape, dtype, shape, dtype, ...: such as `f32[1,16,1,64], i64[1]`."""
    return ", ".join(
        _one(shape, dtype) for shape, dtype in zip(metas[::2], metas[1::2], strict=True)
    )


def _one(shape: tuple[int, ...], dtype: torch.dtype) -> str:
    word = DTYPE_WORDS.get(dtype, str(dtype).removeprefix("torch."))
    return f"{word}[{','.join(map(str, shape))}]"


def nan_flags(
    calls: Sequence[RawCall], sums: Sequence[torch.Tensor], met: Mapping[int, torch.Tensor]
) -> list[tuple[int, int]]:
    """(in, out) of every call: finite, NaN or Inf. A view is as finite as what it looks at."""
    totals = _sum_flags([*sums, *met.values()])
    if not any(totals):
        return [(FINITE, FINITE)] * len(calls)
    # By id of the Python object; later ops take over recycled ids.
    state = dict(zip(met, totals[len(sums) :], strict=True))
    flags = []
    for call in calls:
        coming_in = _worst(state.get(identity, FINITE) for identity in call.arguments[::3])
        out = totals[call.total] if call.total >= 0 else FINITE
        if call.facts.view:
            out = coming_in
        state.update(dict.fromkeys(call.results[::3], out))
        flags.append((coming_in, out))
    return flags


def _sum_flags(sums: Sequence[torch.Tensor]) -> list[int]:
    """For each sum: finite, NaN or Inf; one look at all of them, closer only if one fails."""
    if not sums:
        return []
    with torch.no_grad():
        together = torch.stack([_as_double(each) for each in sums])
        if bool(torch.isfinite(together).all()):
            return [FINITE] * len(sums)
        nan, inf = torch.isnan(together).tolist(), torch.isinf(together).tolist()
    return [NAN if n else INF if i else FINITE for n, i in zip(nan, inf, strict=True)]


def _as_double(number: torch.Tensor) -> torch.Tensor:
    if number.device.type == "meta":
        return torch.zeros((), dtype=torch.float64)
    return number.detach().to("cpu", torch.float64)


def _worst(flags: Iterable[int]) -> int:
    known = set(flags)
    return NAN if NAN in known else INF if INF in known else FINITE


def _touches(raw: Sequence[RawTouch], caches: Mapping[str, WatchedCache]) -> list[Touch]:
    touches = []
    for touch in raw:
        number, geometry = caches[touch.cache]
        covered = covered_slots(geometry, touch.offset, tuple(touch.shape), tuple(touch.stride))
        for kv, first, last in covered:
            if touch.written or last > first:
                touches.append(Touch(number, kv, first, last, touch.written))
    return touches
