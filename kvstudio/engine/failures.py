"""Puts foreign exceptions into words: what was wrong, where, and what to do.

This is the one seam at which errors of pocket-tts, torch, the hub and the file system become ours.
They are told by class name, so that nothing heavy is imported to explain an error.
"""

import os
import traceback
from collections.abc import Callable
from urllib.parse import urlsplit

from kvstudio.recording.errors import KVStudioError

Explainer = Callable[[BaseException, str], "str | None"]


def explain(error: BaseException, doing: str) -> tuple[str, str]:
    """(message, detail): a sentence for the user, and the traceback for the log.

    Args:
        error: what was raised.
        doing: what was being done, such as `loading the model english`.
    """
    detail = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    if isinstance(error, KVStudioError):
        return str(error), detail
    for each in _chain(error):
        for explainer in EXPLAINERS:
            message = explainer(each, doing)
            if message:
                return f"{doing[:1].upper()}{doing[1:]} failed: {message}", detail
    text = str(error).strip() or type(error).__name__
    return f"{doing[:1].upper()}{doing[1:]} failed: {type(error).__name__}: {text}", detail


def _chain(error: BaseException) -> list[BaseException]:
    """The error, then what caused it, then what that happened in."""
    chain: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in chain:
        chain.append(each)
        each = each.__cause__ or each.__context__
    return chain


def _names(error: BaseException) -> set[str]:
    return {each.__name__ for each in type(error).__mro__}


def _network(error: BaseException, doing: str) -> str | None:
    offline = {"LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectionError", "ConnectError"}
    timeout = {"Timeout", "TimeoutException", "ConnectTimeout", "ReadTimeout"}
    hub = os.environ.get("HF_ENDPOINT", "the Hugging Face hub")
    names = _names(error)
    if names & {"GatedRepoError", "RepositoryNotFoundError"}:
        return (
            f"{hub} refuses access to the weights. Accept their terms on the hub, log in with "
            "`hf auth login`, or choose a model on this machine"
        )
    if names & {"EntryNotFoundError", "RevisionNotFoundError"} and not names & offline:
        return f"{hub} has no such file: {_address(error)}. Check the path and revision"
    refusal = _refusal(error) if names & offline else None
    if refusal is not None:
        return f"{hub} answers only with an error: {_first_line(refusal)}"
    if names & offline:
        where = _host(error) or hub
        errors = ", or answers only with errors" if "GivenUp" in names else ""
        return (
            f"{where} cannot be reached{errors}. Check the network, or choose a model on this "
            "machine"
        )
    if names & timeout:
        return f"{hub} did not answer in time. Try again"
    if "HTTPError" in names or "HTTPStatusError" in names:
        return f"the server refused: {_first_line(error)}"
    return None


def _pickle(error: BaseException, doing: str) -> str | None:
    if "UnpicklingError" not in _names(error):
        return None
    return (
        "the checkpoint holds more than weights: it is a pickle that would run code when opened, "
        "so it was refused and nothing of it was run. Save it again as plain tensors, or as "
        "safetensors with a config"
    )


def _config(error: BaseException, doing: str) -> str | None:
    text = str(error)
    if "argument after ** must be a mapping" in text:
        return "the config is empty, or is no list of keys with values"
    if "Config should be a path to a YAML" in text:
        return "the config must be a YAML file whose name ends with .yaml"
    if "ValidationError" not in _names(error) or not hasattr(error, "errors"):
        return None
    found = [
        f"{'.'.join(map(str, each['loc']))}: {str(each['msg']).lower()}" for each in error.errors()
    ]
    return f"the config does not fit this release of pocket-tts: {'; '.join(found[:4])}"


def _yaml(error: BaseException, doing: str) -> str | None:
    if isinstance(error, UnicodeDecodeError) and "model" in doing:
        return f"the config is not a text file: {error}"
    if "YAMLError" not in _names(error):
        return None
    return f"the config is not YAML: {' '.join(str(error).split())}"


def _voice(error: BaseException, doing: str) -> str | None:
    if "redefined voice" in str(error):
        return (
            "predefined voices are made for the models that pocket-tts ships. With this one choose "
            "an audio file, or a .safetensors state made with it"
        )
    return None


def _weights(error: BaseException, doing: str) -> str | None:
    names, text = _names(error), str(error)
    if "SafetensorError" in names:
        return f"the weights file is damaged or is not safetensors: {_first_line(error)}"
    if "loading state_dict" in text:
        wrong = [line.strip() for line in text.splitlines()[1:3] if line.strip()]
        return f"the weights do not fit the config: {' '.join(wrong)[:300]}"
    if "no 'model' weights" in text or "PytorchStreamReader" in text:
        return f"this is not a training checkpoint of pocket-tts: {_first_line(error)}"
    return None


def _files(error: BaseException, doing: str) -> str | None:
    if isinstance(error, FileNotFoundError):
        told = _first_line(error).removeprefix("No such file or directory: ")
        return f"there is no such file: {error.filename or told}"
    if isinstance(error, IsADirectoryError):
        return f"{error.filename} is a folder, not a file"
    if isinstance(error, PermissionError):
        return f"no permission to read {error.filename}"
    return None


def _memory(error: BaseException, doing: str) -> str | None:
    text = str(error).lower()
    if isinstance(error, MemoryError) or "allocate memory" in text or "out of memory" in text:
        return "there is not enough memory. Close other programs, or use a smaller model or text"
    return None


def _host(error: BaseException) -> str:
    """The server of a failed plain download, whose errors know their request."""
    if not type(error).__module__.startswith("requests"):
        return ""
    return urlsplit(str(getattr(getattr(error, "request", None), "url", ""))).netloc


def _address(error: BaseException) -> str:
    """The address in an error of the hub, which names it in one of its lines."""
    lines = [line for line in str(error).splitlines() if "url: " in line]
    return lines[0].rpartition("url: ")[2].rstrip(".") if lines else _first_line(error)


def _refusal(error: BaseException) -> BaseException | None:
    """The answer of a server that is there, behind an error that says it is not."""
    for each in _chain(error):
        if getattr(getattr(each, "response", None), "status_code", None) is not None:
            return each
    return None


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


EXPLAINERS: tuple[Explainer, ...] = (
    _network,
    _pickle,
    _config,
    _yaml,
    _voice,
    _weights,
    _files,
    _memory,
)
