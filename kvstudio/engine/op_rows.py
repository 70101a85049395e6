"""Makes rows of what a tracer saw, after the step and outside the model's time."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import torch

from kvstudio.engine.geometry import CacheGeometry, covered_slots
from kvstudio.engine.tracer import OpTracer, RawTouch, TensorMeta
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
    flags = _nan_flags(tracer.sums)
    nan_out: list[int | None] = []
    rows = []
    for call in tracer.calls:
        facts, began, took, code, line, module, arguments, results, origins, touches, total = call
        known = [nan_out[origin] for origin in origins if origin >= 0]
        nan_in = _worst(known)
        out = flags[total] if total >= 0 else (nan_in if facts.view else FINITE)
        nan_out.append(out)
        rows.append(
            Op(
                name=facts.name,
                part=part,
                module=module,
                site=(short_path(code.co_filename), line, code.co_name),
                arguments=shape_words(arguments),
                results=shape_words(results),
                thread=tracer.thread,
                began_ns=began - run_began_ns,
                took_ns=took,
                nan_in=nan_in,
                nan_out=out,
                touches=_touches(touches, caches) if touches else (),
            )
        )
    return rows


def source_files(tracer: OpTracer) -> set[str]:
    """The files whose lines the ops name, as Python knows them."""
    return {call[3].co_filename for call in tracer.calls}


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


@lru_cache(maxsize=65536)
def shape_words(metas: tuple[TensorMeta, ...]) -> str:
    """Such as `f32[1,16,1,64], i64[1]`."""
    return ", ".join(_one(tuple(shape), dtype) for shape, dtype in metas)


def _one(shape: tuple[int, ...], dtype: torch.dtype) -> str:
    word = DTYPE_WORDS.get(dtype, str(dtype).removeprefix("torch."))
    return f"{word}[{','.join(map(str, shape))}]"


def _nan_flags(sums: Sequence[torch.Tensor]) -> list[int]:
    """For each sum: finite, NaN or Inf; one look at all of them, closer only if one fails."""
    if not sums:
        return []
    with torch.no_grad():
        together = torch.stack([each.detach().to("cpu", torch.float64) for each in sums])
        if bool(torch.isfinite(together).all()):
            return [FINITE] * len(sums)
        nan = torch.isnan(together).tolist()
        inf = torch.isinf(together).tolist()
    return [NAN if n else INF if i else FINITE for n, i in zip(nan, inf, strict=True)]


def _worst(flags: Iterable[int | None]) -> int:
    known = {flag for flag in flags if flag}
    return NAN if NAN in known else INF if INF in known else FINITE


def _touches(raw: Sequence[RawTouch], caches: Mapping[str, WatchedCache]) -> list[Touch]:
    touches = []
    for key, written, offset, shape, stride in raw:
        number, geometry = caches[key]
        for kv, first, last in covered_slots(geometry, offset, tuple(shape), tuple(stride)):
            if written or last > first:
                touches.append(Touch(number, kv, first, last, written))
    return touches
