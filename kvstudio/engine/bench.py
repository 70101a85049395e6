"""Measures what observing costs, as ratios within one run.

    python -m kvstudio.engine.bench     one JSON object: {"rows": [{"name", "value", "unit", ...}]}

Every kind of step starts from the same state and takes turns with the others, so that a machine
that is busy for a while is busy for all; each kind's figure is the fastest quarter's bound.
"""

import contextlib
import copy
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kvstudio.engine import pocket
from kvstudio.engine.gate import Gate, RunStopped
from kvstudio.engine.live_checks import LiveChecks
from kvstudio.engine.module_path import following_modules
from kvstudio.engine.observer import Observer
from kvstudio.engine.random_weights import random_model
from kvstudio.engine.state import StateWatch
from kvstudio.engine.tracer import OpKnowledge, OpTracer
from kvstudio.recording.spec import RunSpec, TraceLevel
from kvstudio.recording.writer import RecordingWriter

GROUPED = "english_2m_2026-10"  # grouped-query, and so small that Python is most of a step
STEPS, ROUNDS, FRAMES = 20, 5, 40
FRAME_MS = 80.0
TEXT = "hello world, this is a test of how long it takes."
SLOTS = 400
Row = dict[str, Any]


class EmptyMode(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's own
    """The least that a dispatch mode can do."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Bench:
    """A model of full size with a voice, ready to be stepped in different ways."""

    def __init__(self, language: str) -> None:
        self.tts = random_model(language)
        samples = torch.randn(1, 2 * int(self.tts.sample_rate)) * 0.1
        self.voice = self.tts.get_state_for_audio_prompt(samples)
        self._base = copy.deepcopy(self.voice)
        tokens = self.tts.flow_lm.conditioner.prepare(TEXT)
        self.tts._expand_kv_cache(self._base, SLOTS)
        self.tts._run_flow_lm_and_increment_step(model_state=self._base, text_tokens=tokens)
        rows = {row.name: row for row in pocket.cache_rows(self.tts) if row.model == "flow_lm"}
        self._watch = StateWatch("flow_lm", rows, look=False)
        self._knowledge = OpKnowledge()

    def flow_lm_steps(self, mode: str) -> list[float]:
        """Milliseconds of some decode steps under `bare`, `empty`, `full`, `logging` or `debug`."""
        state = copy.deepcopy(self._base)
        latent = torch.full((1, 1, self.tts.flow_lm.ldim), float("nan"))
        times = []
        follow = following_modules(self.tts) if mode == "full" else contextlib.nullcontext()
        with follow:
            for _ in range(STEPS):
                manager = self._mode(mode, state)
                began = time.perf_counter()
                with manager:
                    latent, _ = self.tts._run_flow_lm_and_increment_step(
                        model_state=state, backbone_input_latents=latent
                    )
                times.append((time.perf_counter() - began) * 1000)
        return times

    def bare_frames(self) -> list[float]:
        """Milliseconds a frame of FlowLM and Mimi, one after the other on one thread."""
        from pocket_tts.modules.stateful_module import increment_steps, init_states

        state = copy.deepcopy(self._base)
        steps = pocket.mimi_steps_per_latent(self.tts)
        mimi_state = init_states(self.tts.mimi, 1, FRAMES * steps)
        latent = torch.full((1, 1, self.tts.flow_lm.ldim), float("nan"))
        times = []
        for _ in range(FRAMES):
            began = time.perf_counter()
            latent, eos = self.tts._run_flow_lm_and_increment_step(
                model_state=state, backbone_input_latents=latent
            )
            eos.item()
            self.tts.mimi.decode_from_latent(
                latent * self.tts.flow_lm.emb_std + self.tts.flow_lm.emb_mean, mimi_state
            )
            increment_steps(self.tts.mimi, mimi_state, increment=steps)
            times.append((time.perf_counter() - began) * 1000)
        return times

    def held_frames(self, trace: TraceLevel, count: int = FRAMES) -> tuple[list[float], float]:
        """Milliseconds a frame of a held run, everything included, and the recording's KiB."""
        moments: list[float] = []
        gate = Gate()
        gate.run()

        def on_frame(frame: int) -> None:
            moments.append(time.perf_counter())
            if len(moments) > count + 2:
                gate.stop()

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bench.kvrec"
            rates = {"sample_rate": self.tts.sample_rate, "frame_rate": self.tts.mimi.frame_rate}
            writer = RecordingWriter(path, RunSpec(trace=trace), {}, **rates)
            checks = LiveChecks(writer, checking=trace != "off", on_frame=on_frame)
            observer = Observer(self.tts, writer, gate, trace, checks.frame_added)
            with observer.observing(), contextlib.suppress(RunStopped):
                for _ in self.tts.generate_audio_stream(self.voice, TEXT):
                    pass
            checks.finish("stopped")
            writer.finish("stopped")
            kibibytes = path.stat().st_size / 1024
        decode = [(b - a) * 1000 for a, b in pairwise(moments[2:])]
        return decode, kibibytes

    def kibibytes_a_frame(self) -> float:
        """What one more decode step adds to a recording at full trace."""
        short, long = (self.held_frames("full", count)[1] for count in (FRAMES // 4, FRAMES))
        return (long - short) / (FRAMES - FRAMES // 4)

    @contextlib.contextmanager
    def _mode(self, mode: str, state: Any) -> Iterator[None]:
        if mode == "bare":
            yield
        elif mode == "empty":
            with EmptyMode():  # type: ignore[no-untyped-call]
                yield
        elif mode == "full":
            with OpTracer(self._knowledge, self._watch.watched(state).bind()):
                yield
        elif mode == "debug":
            from torch.utils._debug_mode import DebugMode

            with DebugMode():
                yield
        else:
            from pocket_tts.utils.debugging import LoggingMode

            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
                with LoggingMode():
                    yield


def measure(language: str = "english") -> list[Row]:
    """The rows of design section 8 that concern the engine."""
    torch.set_grad_enabled(False)
    bench = Bench(language)
    modes = ("bare", "empty", "full", "logging", "debug")
    steps = _in_turns({mode: partial(bench.flow_lm_steps, mode) for mode in modes})
    frames = _in_turns(
        {
            "bare": bench.bare_frames,
            "off": lambda: bench.held_frames("off")[0],
            "full": lambda: bench.held_frames("full")[0],
        }
    )
    grouped = Bench(GROUPED)
    few_heads = _in_turns({mode: partial(grouped.flow_lm_steps, mode) for mode in modes[1:3]})
    against = [
        _ratio("held, trace off, against the bare loop", frames["off"], frames["bare"], 1.03),
        _ratio("full trace against an empty mode", steps["full"], steps["empty"], 1.25),
        _ratio(
            f"full trace against an empty mode, {GROUPED}",
            few_heads["full"],
            few_heads["empty"],
            1.7,
        ),
        _ratio("full trace against LoggingMode", steps["full"], steps["logging"], 0.9),
        _ratio("full trace against DebugMode", steps["full"], steps["debug"], 0.6),
    ]
    whole = _row("whole frame, full trace", frames["full"], "ms", FRAME_MS)
    size = _row("recording, full trace", bench.kibibytes_a_frame(), "KiB a frame", 150.0)
    floors = [_row(f"FlowLM step, {mode}", figure, "ms", None) for mode, figure in steps.items()]
    return [*against, whole, size, *floors]


def _in_turns(kinds: dict[str, Callable[[], list[float]]]) -> dict[str, float]:
    """The lower quartile of each kind's times, the kinds taking turns."""
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(ROUNDS):
        for kind, run in kinds.items():
            times[kind] += run()[2:]
    return {kind: statistics.quantiles(found, n=4)[0] for kind, found in times.items()}


def _ratio(name: str, value: float, anchor: float, budget: float) -> Row:
    return _row(name, value / anchor, "ratio", budget)


def _row(name: str, value: float, unit: str, budget: float | None) -> Row:
    ok = budget is None or value <= budget
    return {"name": name, "value": round(value, 3), "unit": unit, "budget": budget, "ok": ok}


if __name__ == "__main__":
    sys.stdout.write(json.dumps({"rows": measure()}) + "\n")
