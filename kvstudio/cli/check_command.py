"""`kvstudio check`: the report of a recording, or of a run made for the purpose."""

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kvstudio.cli.engine_run import BAD_INPUT, run_engine
from kvstudio.cli.options import RunOptions, with_run_options
from kvstudio.recording.errors import SpecError

if TYPE_CHECKING:
    from kvstudio.analysis.finding import Finding
    from kvstudio.analysis.report import Report

EXIT_CODES = {"clean": 0, "findings": 1, "not verified": 3}


@with_run_options
def check(
    options: RunOptions,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE.kvrec", help="The recording to check.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the report to standard output as one object.")
    ] = False,
) -> None:
    """Check a recording, or run a model and check that.

    Exit code: 0 clean, 1 findings, 2 bad usage or input, 3 not verified.
    """
    if file is not None and options.asked:
        raise SpecError("give either a recording or a run to make, not both")
    if file is None and not options.asked:
        raise SpecError("give a recording, or say what to run, such as --demo")
    report = _report(file) if file is not None else _report_of_run(options)
    sys.stdout.write(json.dumps(report.to_json()) + "\n" if as_json else words(report))
    raise typer.Exit(EXIT_CODES[report.verdict])


def _report_of_run(options: RunOptions) -> "Report":
    with tempfile.TemporaryDirectory(prefix="kvstudio-check-") as folder:
        path = Path(folder) / "run.kvrec"
        if run_engine(options.spec, path, options.python) == BAD_INPUT:
            raise typer.Exit(BAD_INPUT)
        return _report(path)


def _report(path: Path) -> "Report":
    import kvstudio

    return kvstudio.check(path)


def words(report: "Report") -> str:
    """The report for a reader."""
    lines = [line for finding in report.findings for line in _finding_lines(finding)]
    verdict = "" if report.findings else f"{report.verdict}: "
    return "\n".join([*lines, f"{verdict}{report.reason}", ""])


def _finding_lines(finding: "Finding") -> list[str]:
    from kvstudio.analysis.finding import often_words

    often = often_words(finding)
    times = f", {often.lower()}; the first:" if often else ""
    lines = [f"{finding.severity}: {finding.kind}{times}", f"  {finding.message}"]
    if finding.op is not None:
        lines.append(f"  op {finding.op} at {finding.site}")
    return [*lines, *(f"    -> {link.text}" for link in finding.chain), ""]
