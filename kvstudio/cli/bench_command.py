"""`kvstudio bench`: what observing costs and how quick the window is, held against the budgets."""

import json
import subprocess
import sys
from typing import Annotated, Any

import typer

from kvstudio.recording.errors import KVStudioError
from kvstudio.recording.interpreter import engine_command

MEASURED = {
    "the engine, on the full-size model (some minutes)": "kvstudio.engine.bench",
    "the window (half a minute)": "kvstudio.app.bench",
}
Row = dict[str, Any]


def bench(
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the rows to standard output as one object.")
    ] = False,
) -> None:
    """Measure what observing costs, on this machine, in this hour.

    Ratios are of steps that took turns within one run. Close other programs first.
    """
    rows = [row for what, module in MEASURED.items() for row in measure(what, module)]
    sys.stdout.write(json.dumps({"rows": rows}) + "\n" if as_json else table(rows))


def measure(what: str, module: str) -> list[Row]:
    """The rows that a module measures in a process of its own."""
    sys.stderr.write(f"measuring {what}\n")
    sys.stderr.flush()
    command = engine_command()
    done = subprocess.run(
        [command.argv[0], "-m", module],
        env=command.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode != 0:
        raise KVStudioError(f"could not measure {what}: exit code {done.returncode}, see above")
    rows: list[Row] = json.loads(done.stdout)["rows"]
    return rows


def table(rows: list[Row]) -> str:
    """The rows for a reader, one a line."""
    wide = max(len(row["name"]) for row in rows)
    lines = []
    for row in rows:
        budget = "" if row["budget"] is None else f"  at most {row['budget']:g}"
        late = "" if row["ok"] else "  MISSED"
        lines.append(f"{row['name']:<{wide}}  {row['value']:>9.3f} {row['unit']}{budget}{late}\n")
    return "".join(lines)
