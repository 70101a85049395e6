"""What of a run was seen: a check that finds nothing proves something only if it could look."""

from kvstudio.analysis.finding import frame_words, layers_words, within
from kvstudio.analysis.frame_view import FrameView
from kvstudio.recording.rows import Frame


class Coverage:
    """Whether it was seen how every layer attended to its cache, frame by frame."""

    def __init__(self) -> None:
        self._frames = 0
        self._first = ""
        self._matters = False

    def look(self, view: FrameView) -> None:
        if view.frame.problem is not None:
            return  # the step did not come to its end
        attended = {each.cache for each in view.attentions}
        unseen = [step.cache for step in view.steps if step.cache.id not in attended]
        # In an empty cache there was nothing to be read yet.
        self._matters |= any(step.before for step in view.steps if step.cache in unseen)
        if unseen:
            self._frames += 1
            model = unseen[0].model
            layers = layers_words([cache for cache in unseen if cache.model == model])
            self._first = self._first or _words(view.frame, layers)

    def gap(self) -> str | None:
        """What was not seen, in words; for a run that was traced in full."""
        return f"{self._first} (frames: {self._frames})" if self._matters else None


def _words(frame: Frame, layers: str) -> str:
    return (
        f"it was not seen which slots {within(layers)} read in {frame_words(frame)}: "
        "the attention ran where the tracer does not look, in a form that it does not know, or on "
        "K and V that are kept elsewhere than in the state's `cache`"
    )
