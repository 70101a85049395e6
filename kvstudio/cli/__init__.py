"""The command line.

    kvstudio                                        open the window
    kvstudio --demo                                 ... with the demo model ready to step
    kvstudio run.kvrec                              open a recording
    kvstudio record --demo --text "Hi." -o hi.kvrec run and record, without a window
    kvstudio check hi.kvrec [--json]                what is wrong with it
    kvstudio faults [--json]                        what can be broken on purpose, with --edit
    kvstudio selftest [--json]                      every fault against every check

Nothing heavy is imported before it is known to be needed: the window must be seen within a second,
and help within none.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kvstudio.cli.bench_command import bench
from kvstudio.cli.check_command import check
from kvstudio.cli.faults_command import faults
from kvstudio.cli.record_command import record
from kvstudio.cli.selftest_command import selftest
from kvstudio.recording.errors import KVStudioError, SpecError

BAD_USAGE = 2
RUN_COMMANDS = ("record", "check", "faults", "selftest", "bench")


class Commands(TyperGroup):
    """Takes a first word that is no command for a file to open in the window."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 -- click's types
        if args and self.get_command(ctx, args[0]) is None:
            args = ["open", *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="kvstudio",
    cls=Commands,
    help="A step debugger for the KV cache of pocket-tts. Without a command, opens the window; "
    "the name of a recording opens that.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(record)
app.command()(check)
app.command()(faults)
app.command()(selftest)
app.command()(bench)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line; `arguments` are those of the process unless given."""
    try:
        app(args=None if arguments is None else list(arguments))
    except KVStudioError as error:
        sys.stderr.write(f"kvstudio: {error}\n")
        sys.exit(BAD_USAGE)


def _show_version(wanted: bool) -> None:
    if wanted:
        import kvstudio

        typer.echo(f"kvstudio {kvstudio.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def window(
    context: typer.Context,
    demo: Annotated[
        bool, typer.Option("--demo", help="Load the embedded demo model, ready to step.")
    ] = False,
    python: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Run the engine in this interpreter or virtual environment."
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    context.obj = (demo, python)
    if (demo or python) and context.invoked_subcommand in RUN_COMMANDS:
        name = context.invoked_subcommand
        raise SpecError(f"give options of {name} after it: kvstudio {name} --demo ...")
    if context.invoked_subcommand is None:
        _open_window(None, demo, python)


@app.command("open", hidden=True)
def open_file(context: typer.Context, file: Path) -> None:
    """Open a recording in the window."""
    demo, python = context.obj
    if not file.is_file():
        raise SpecError(f"there is neither a command nor a file called {file}; see kvstudio --help")
    if demo:
        raise SpecError("give either --demo or a recording to open, not both")
    _open_window(file, False, python)


def _open_window(file: Path | None, demo: bool, python: str | None) -> None:
    from kvstudio.app import start

    raise typer.Exit(start.run(file, demo, python))
