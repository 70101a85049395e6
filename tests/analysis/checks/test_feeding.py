"""What decode steps were fed."""

from pathlib import Path

import pytest

from kvstudio.analysis.checks.feeding import FeedingCheck
from tests.analysis.checks.evidence import begun
from tests.analysis.checks.running import findings_of, texts
from tests.fakes import FakeRun
from tests.recording.reading import tamper


def fed(folder: Path, *what: str | None) -> Path:
    """Decode steps, frames 2 on, that were fed so."""
    run = begun(FakeRun(folder / "run.kvrec"), steps=0)
    for each in what:
        run.evidence = {"fed": each}
        run.decode()
    run.writer.finish("finished", "EOS")
    return run.path


@pytest.mark.parametrize("what", [("marker", "latent", "latent"), (None, None)])
def test_a_healthy_run(tmp_path: Path, what: tuple[str | None, ...]) -> None:
    assert findings_of(FeedingCheck, fed(tmp_path, *what)) == []


@pytest.mark.parametrize(
    ("first", "words"),
    [
        ("zero", "zeros"),
        ("nan", "NaN itself, which nothing replaced"),
        ("other", "some other vector"),
        ("latent", "the latent of the frame before"),
    ],
)
def test_a_first_step_without_the_start_marker(tmp_path: Path, first: str, words: str) -> None:
    (found,) = findings_of(FeedingCheck, fed(tmp_path, first, "latent"))
    assert (found.kind, found.frame, found.phase) == ("marker-missing", 2, "decode")
    assert f"It was fed {words} instead" in found.message


@pytest.mark.parametrize("what", ["other", "zero", "nan", "marker"])
def test_a_later_step_that_was_fed_something_else(tmp_path: Path, what: str) -> None:
    path = fed(tmp_path, "marker", "latent", what, what, "latent")
    (found,) = findings_of(FeedingCheck, path)
    assert (found.kind, found.frame, found.count) == ("foreign-state", 4, 2)
    assert texts(found)[0].endswith("instead of the last latent")


def test_what_becomes_of_a_latent_that_is_nan_is_another_finding(tmp_path: Path) -> None:
    path = fed(tmp_path, "marker", "latent", "marker")
    tamper(path, "UPDATE latent SET \"values\" = x'0000c07f0000c07f' WHERE frame = 3")
    assert findings_of(FeedingCheck, path) == []


def test_chunks_that_are_spoken_in_turns_each_go_on_with_their_own(tmp_path: Path) -> None:
    """What one was fed is not held against the other's last latent, which may be NaN."""
    run = begun(FakeRun(tmp_path / "run.kvrec"), steps=0)
    for fed in ("marker", "other"):
        run.evidence = {"fed": fed}
        run.decode()
    run.begin_chunk()
    run.evidence = {"fed": "other"}
    run.decode()
    run.writer.finish("finished", "EOS")
    tamper(run.path, "UPDATE frame SET step = 1 WHERE id = 4")
    (found,) = findings_of(FeedingCheck, run.path)
    assert (found.frame, found.count) == (3, 1), "of the new chunk's latents none was seen"
