"""The sentence in place of a panel that shows caches, while there is none to show."""

from kvstudio.app.cache_words import cache_title
from kvstudio.app.workspace import Workspace
from kvstudio.recording.rows import Cache

NO_RECORDING = "No recording. Press F10 to make the first step, or open a recording."
NO_FRAME = "The run has made no step yet. Press F10 for the first one."
NO_CACHE = "The model of this run has no KV cache that the recording knows of."


def why_empty(workspace: Workspace) -> str:
    """Empty if there is a frame with caches to look at."""
    if workspace.recording is None:
        return NO_RECORDING
    if workspace.cursor.frame is None:
        return NO_FRAME
    return "" if workspace.recording.caches else NO_CACHE


def unallocated_words(cache: Cache) -> str:
    when = "the text prefill" if cache.model == "flow_lm" else "the first decode step"
    return f"{cache_title(cache)} has no cache yet; it is allocated at {when}."
