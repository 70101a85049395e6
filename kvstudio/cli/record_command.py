"""`kvstudio record`: a run without a window."""

import sys
from pathlib import Path
from typing import Annotated

import typer

import kvstudio
from kvstudio.cli.check_command import words
from kvstudio.cli.engine_run import require_new, run_engine
from kvstudio.cli.options import RunOptions, with_run_options
from kvstudio.recording.errors import KVStudioError


@with_run_options
def record(
    options: RunOptions,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="OUT.kvrec", help="The recording to write.")
    ],
    wav: Annotated[
        Path | None, typer.Option(metavar="OUT.wav", help="Also write the audio, as 32-bit float.")
    ] = None,
) -> None:
    """Run a model and record it, and tell what the checks found.

    Exit code: 0 done, 2 bad usage or input, 3 the run failed.
    """
    if wav is not None:
        require_new(wav)
        if wav.resolve() == out.resolve():
            raise KVStudioError(f"{wav} cannot be both the recording and the audio")
    code = run_engine(options.spec, out, options.python)
    if out.exists():
        sys.stderr.write(words(kvstudio.check(out)))
        if wav is not None:
            write_wav(out, wav)
    raise typer.Exit(code)


def write_wav(recording_path: Path, wav: Path) -> None:
    """The audio of a recording as it is, NaN included: a 16-bit file would make that silence."""
    import soundfile

    from kvstudio.recording.reader import Recording

    with Recording.open(recording_path) as recording:
        samples, rate = recording.audio(), recording.facts.sample_rate
    try:
        soundfile.write(wav, samples, rate, subtype="FLOAT", format="WAV")
    except (soundfile.LibsndfileError, OSError) as error:
        raise KVStudioError(f"cannot write {wav}: {error}") from error
