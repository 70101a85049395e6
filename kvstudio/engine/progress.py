"""Progress of what takes time: downloads byte by byte, and the steps around them; cancellable."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from kvstudio.recording.protocol import Progress

Emit = Callable[[Progress], None]
TELL_EVERY_S = 0.1
PATIENCE_S = 6.0  # of waiting for a server that does not answer, in all
CONNECT_TIMEOUT_S = 10
PIECE_BYTES = 2**18  # the hub's own 10 MB come too seldom to show progress on a slow line
BAR_CONTEXT = "_get_progress_bar_context"  # of huggingface_hub.file_download


class Cancelled(BaseException):
    """The user cancelled. Not an `Exception`: pocket-tts tries other sources after any of those."""


class GivenUp(ConnectionError):
    """A server that was asked often enough."""


class ProgressReporter:
    """Tells the window how far something is, and raises `Cancelled` where it can be cut short."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._cancel = threading.Event()
        self._told = 0.0
        self._rested = 0.0

    def cancel(self) -> None:
        self._cancel.set()

    def begin(self) -> None:
        """A new piece of work: forgets an earlier cancel."""
        self._cancel.clear()
        self._rested = 0.0

    def check(self) -> None:
        """Raises Cancelled if the user asked for it."""
        if self._cancel.is_set():
            raise Cancelled

    def step(self, what: str) -> None:
        """Names what is being done, where its length is unknown."""
        self.check()
        self._emit(Progress(what=what, done=0, total=None, unit="steps"))

    def rest(self, seconds: float) -> None:
        """Waits before another attempt; raises GivenUp when that has been enough."""
        self._rested += seconds
        if self._rested > PATIENCE_S:
            raise GivenUp("the server did not answer, also when asked again")
        self._cancel.wait(seconds)
        self.check()

    def bytes(self, what: str, done: float, total: float | None, began: float) -> None:
        self.check()
        self._rested = 0.0
        now = time.monotonic()
        finished = total is not None and done >= total
        if now - self._told < TELL_EVERY_S and not finished:
            return
        self._told = now
        left = None
        if total and done:
            left = (now - began) * (total - done) / done
        self._emit(Progress(what=what, done=done, total=total, unit="bytes", seconds_left=left))


@contextmanager
def reported_downloads(reporter: ProgressReporter) -> Iterator[None]:
    """While entered, downloads of the hub and of plain URLs tell their progress to `reporter`."""
    import requests
    from huggingface_hub import constants, file_download
    from huggingface_hub.utils import _http

    with (
        _replaced(_http, "time", lambda clock: _Clock(clock, reporter)),
        _replaced(file_download, "time", lambda clock: _Clock(clock, reporter)),
        _replaced(constants, "DOWNLOAD_CHUNK_SIZE", lambda size: PIECE_BYTES),
        _replaced(file_download, "_ETAG_RETRY_TIMEOUT", lambda seconds: CONNECT_TIMEOUT_S),
        _replaced(requests, "get", lambda get: partial(_download, get, reporter)),
        _replaced(file_download, BAR_CONTEXT, lambda bar: partial(_bar_context, bar, reporter)),
    ):
        yield


@contextmanager
def _replaced(owner: Any, name: str, wrap: Callable[[Any], Any]) -> Iterator[None]:
    original = getattr(owner, name, None)
    if original is None:  # another release of the library: no progress, but it works
        yield
        return
    setattr(owner, name, wrap(original))
    try:
        yield
    finally:
        setattr(owner, name, original)


def _bar_context(original: Callable[..., Any], reporter: ProgressReporter, **kwargs: Any) -> Any:
    return original(**{**kwargs, "tqdm_class": partial(_Bar, reporter)})


class _Clock:
    """Stands for the hub's `time`: its pauses between attempts can be cancelled, and end."""

    def __init__(self, clock: Any, reporter: ProgressReporter) -> None:
        self._clock = clock
        self.sleep = reporter.rest

    def __getattr__(self, name: str) -> Any:
        return getattr(self._clock, name)


class _Bar:
    """Stands where the hub wants a progress bar; draws nothing and tells the window instead."""

    def __init__(
        self,
        reporter: ProgressReporter,
        *,
        desc: str = "download",
        total: float | None = None,
        initial: float = 0,
        **drawing: object,
    ) -> None:
        self._what = desc.rpartition("/")[2]  # the hub cuts paths off in the middle
        self._reporter, self.total, self.n = reporter, total, initial
        self._began = time.monotonic()

    def update(self, n: float = 1) -> None:
        self.n += n
        self._reporter.bytes(self._what, self.n, self.total, self._began)

    def refresh(self) -> None:
        self.update(0)

    def close(self) -> None:
        """There is nothing to take away."""

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _download(
    original: Callable[..., Any], reporter: ProgressReporter, url: str, **kwargs: Any
) -> Any:
    """`requests.get` that reads its body in pieces, so that it can be shown and cancelled."""
    response = original(url, **{"timeout": 30, **kwargs, "stream": True})
    total = float(response.headers.get("Content-Length") or 0) or None
    began, pieces, done = time.monotonic(), [], 0
    for piece in response.iter_content(chunk_size=PIECE_BYTES):
        pieces.append(piece)
        done += len(piece)
        reporter.bytes(url.rsplit("/", 1)[-1], done, total, began)
    response._content = b"".join(pieces)
    response._content_consumed = True
    return response
