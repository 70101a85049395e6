"""Makes rows of what a tracer saw, after the step and outside the model's time."""

from functools import lru_cache
from typing import Any

import torch

from kvstudio.engine.judging import Judged
from kvstudio.recording.rows import Op

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


def op_rows(judged: Judged, part: int, thread: str, run_began_ns: int) -> list[Op]:
    """One row a call, with what was judged of it."""
    return [
        Op(
            name=call.facts.name,
            part=part,
            module=call.module,
            site=(short_path(call.code.co_filename), call.line, call.code.co_name),
            arguments=_shapes(call.arguments),
            results=_shapes(call.results),
            thread=thread,
            began_ns=call.began - run_began_ns,
            took_ns=call.took,
            nan_in=nan_in,
            nan_out=nan_out,
            touches=judged.touches.get(index, ()),
        )
        for index, (call, (nan_in, nan_out)) in enumerate(
            zip(judged.calls, judged.flags, strict=True)
        )
    ]


def source_files(judged: Judged) -> set[str]:
    """The files whose lines the ops name, as Python knows them."""
    return {call.code.co_filename for call in judged.calls}


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
