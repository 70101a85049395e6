"""A hub on loopback that speaks as much of the Hugging Face protocol as a download needs.

    with Hub(tmp_path) as hub:
        publish(hub, "english_2m_2026-10", folder)
        subprocess.run([python, "-c", script], env=hub.environment())

It can be told to serve slowly, to break off, to refuse, and to gate a repository, as the real one
does with the weights that can clone voices.
"""

import hashlib
import os
import re
import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import unquote

from tests.models import packaged_config

GATED = "kyutai/pocket-tts"
VOICE = "alba"
_REQUEST = re.compile(r"/(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)")
_PIECE_SECONDS = 0.02


@dataclass(frozen=True)
class _File:
    path: Path
    commit: str
    etag: str


@dataclass
class Conduct:
    """How the hub treats its callers; may be changed while it serves.

    Attributes:
        bytes_per_second: of each answer; None for as fast as it goes.
        cut_after: bytes of a file after which the connection is closed; no later part is served.
        status: answer everything with this instead.
        gated: repositories whose terms the caller has not accepted.
    """

    bytes_per_second: int | None = None
    cut_after: int | None = None
    status: HTTPStatus | None = None
    gated: set[str] = field(default_factory=set)


class Hub:
    """Serves files under the names that `hf://` paths give them."""

    def __init__(self, home: Path) -> None:
        self.conduct = Conduct()
        self.asked: list[str] = []
        self._home = home
        self._files: dict[str, _File] = {}
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _bound_to(self))
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def add(self, address: str, path: Path) -> None:
        """Serve `path` as `address`, `hf://OWNER/REPO/PATH[@REVISION]`."""
        plain, _, revision = address.removeprefix("hf://").partition("@")
        owner, repo, name = plain.split("/", 2)
        etag = hashlib.sha256(path.read_bytes()).hexdigest()
        commit = revision or "0" * 40
        served = f"/{owner}/{repo}/resolve/{revision or 'main'}/{name}"
        self._files[served] = _File(path, commit, etag)

    def find(self, request: str) -> _File | None:
        return self._files.get(unquote(request.partition("?")[0]))

    def rest(self, seconds: float) -> bool:
        """Wait between two pieces of a slow answer; true when the hub closes meanwhile."""
        return self._closing.wait(seconds)

    def environment(self) -> dict[str, str]:
        """Environment of a child process for which this hub is the only one, and empty so far."""
        ours = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("HF_") and not name.lower().endswith("_proxy")
        }
        return ours | {
            "HF_ENDPOINT": self.endpoint,
            "HF_HOME": str(self._home / "hub"),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
        }

    def close(self) -> None:
        """Stop serving: from now on connections are refused. May be called twice."""
        if self._thread.is_alive():
            self._closing.set()
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def __enter__(self) -> "Hub":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def publish(hub: Hub, language: str, folder: Path) -> None:
    """Serve a model of `models.build` under every name that the packaged config of it uses."""
    from pocket_tts.utils.utils import get_predefined_voice

    config: dict[str, Any] = packaged_config(language)
    hub.add(config["weights_path"], folder / "model.safetensors")
    hub.add(config["weights_path_without_voice_cloning"], folder / "model.safetensors")
    tokenizer = config["flow_lm"]["lookup_table"]["tokenizer_path"]
    name = Path(tokenizer.partition("@")[0]).name
    hub.add(tokenizer, folder / name)
    hub.add(get_predefined_voice(language, VOICE), folder / "voice.safetensors")


def _bound_to(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Bound(_Answer):
        pass

    Bound.hub = hub
    return Bound


class _Answer(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        start = self._answer()
        if start is not None:
            self._send(start[0], start[1])

    def _answer(self) -> tuple[Path, int] | None:
        """Send the head of the answer; returns the file and the first byte to send, if any."""
        self.hub.asked.append(f"{self.command} {self.path}")
        conduct = self.hub.conduct
        if conduct.status is not None:
            self._refuse(conduct.status, "")
            return None
        wanted = _REQUEST.fullmatch(self.path.partition("?")[0])
        if wanted and wanted["repo"] in conduct.gated:
            self._refuse(HTTPStatus.UNAUTHORIZED, "GatedRepo")
            return None
        found = self.hub.find(self.path)
        if found is None:
            self._refuse(HTTPStatus.NOT_FOUND, "EntryNotFound")
            return None
        return found.path, self._accept(found)

    def _refuse(self, status: HTTPStatus, code: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _accept(self, found: _File) -> int:
        size = found.path.stat().st_size
        resumed = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(resumed[1]) if resumed else 0
        self.send_response(HTTPStatus.PARTIAL_CONTENT if resumed else HTTPStatus.OK)
        if resumed:
            self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        self.send_header("ETag", f'"{found.etag}"')
        self.send_header("X-Repo-Commit", found.commit)
        self.send_header("Content-Length", str(size - start))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        return start

    def _send(self, path: Path, start: int) -> None:
        with path.open("rb") as file:
            file.seek(start)
            while piece := file.read(self._piece(file.tell())):
                try:
                    self.wfile.write(piece)
                except OSError:  # the caller has gone away, or was killed
                    self.close_connection = True
                    return
                if self.hub.conduct.bytes_per_second and self.hub.rest(_PIECE_SECONDS):
                    break
            self.close_connection = True

    def _piece(self, position: int) -> int:
        """How many bytes to send next; none once the file is to be cut."""
        conduct = self.hub.conduct
        slow = conduct.bytes_per_second
        piece = max(1, int(slow * _PIECE_SECONDS)) if slow else 1 << 20
        if conduct.cut_after is None:
            return piece
        return max(0, min(piece, conduct.cut_after - position))

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: `asked` has it."""
