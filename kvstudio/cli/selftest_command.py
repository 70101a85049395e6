"""`kvstudio selftest`: plants every fault and looks whether the checks find it."""

import json
import subprocess
import sys
from typing import Annotated, Any

import typer

from kvstudio.recording.errors import KVStudioError
from kvstudio.recording.interpreter import engine_command
from kvstudio.recording.recipes import RECIPES, parse_edit

MISSED = 1
Row = dict[str, Any]


def selftest(
    recipes: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RECIPE|EDIT]...", help="Only these; see `kvstudio faults`."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="In models of every shape, not the demo model alone.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the rows to standard output as one object.")
    ] = False,
) -> None:
    """Plant every fault in the demo model and see whether the checks find it.

    Exit code: 0 all found and nothing else reported, 1 otherwise. Takes some minutes.
    """
    for name in recipes or []:
        if name not in RECIPES:
            parse_edit(name)
    report = measured([*(recipes or []), *(["--all"] if everything else [])])
    sys.stdout.write(json.dumps(report) + "\n" if as_json else words(report["rows"]))
    raise typer.Exit(0 if report["ok"] else MISSED)


def measured(arguments: list[str]) -> dict[str, Any]:
    """What the engine says in a process of its own, its progress on our standard error."""
    command = engine_command()
    done = subprocess.run(
        [command.argv[0], "-m", "kvstudio.engine.selftest", *arguments],
        env=command.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode != 0:
        raise KVStudioError(f"the self-test broke off: exit code {done.returncode}, see above")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def words(rows: list[Row]) -> str:
    """What was missed, and how much was found."""
    lines = [_line(row) for row in rows if not row["ok"]]
    found = sum(row["ok"] for row in rows)
    return "\n".join([*lines, f"{found} of {len(rows)} as expected", ""])


def _line(row: Row) -> str:
    found = ", ".join(dict.fromkeys(row["found"])) or "nothing"
    return (
        f"{row['model']}: {row['recipe']} should give {row['expected']}, gave {found}"
        f" ({row['says']})"
    )
