"""Finds the strand that a call is of: by its thread, its state, or the latent that it decodes."""

import threading

import torch

from kvstudio.engine import pocket
from kvstudio.engine.links import Link
from kvstudio.engine.script_book import ScriptBook
from kvstudio.engine.script_shared import Shared
from kvstudio.engine.state import ModelState
from kvstudio.engine.strands import Driven, Strand, is_beginning

# States that nobody generates with at the moment; each may be large.
KEPT = 3  # that `generate_audio` has done with
KEPT_OF_SCRIPTS = 8  # a script that takes the loop apart may drive several by turns


class StrandFinder:
    """Knows the states that a script drives, and makes a strand for each that is new.

    Attributes:
        latest: the strand of the last call.
    """

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._driven: list[Driven] = []
        self._uses = 0
        self.latest: Strand | None = None

    @property
    def strands(self) -> list[Strand]:
        """All strands, those of the newest state first."""
        return [strand for driven in reversed(self._driven) for strand in driven.strands]

    def turn_to(self, strand: Strand, *, begins: bool = False) -> None:
        """A call of this strand is next; what the one before has finished is written first.

        When a chunk begins, nobody is taken to decode the latent of the step before any more.
        """
        before, self.latest = self.latest, strand
        if before is None or before is strand:
            return
        if not before.alive and (begins or not before.awaits_decode):
            before.flush()

    def of_state(self, state: ModelState, link: Link | None, *, begins: bool = False) -> Strand:
        """The strand that drives a state in this thread.

        Args:
            state: of FlowLM.
            link: the `_generate` call that this thread works for, if it does.
            begins: whether a chunk begins.
        """
        with self._shared.lock:
            if link is not None and link.strand is not None and link.strand.driven.state is state:
                return found(link)
            driven = self._driven_of(state)
            if link is not None:
                return self._taken_over(driven, link)
            thread = threading.current_thread()
            known = [each for each in driven.strands if not each.alive]
            mine = [each for each in known if each.owner is thread]
            # A fork may make latents in a thread of which we cannot tell that it does.
            strays = [each for each in driven.strands if each.alive and not _has_generator(each)]
            for strand in (mine or known or ([] if begins else strays))[-1:]:
                return strand
            return Strand(self._shared, driven, None)

    def of_codec(self, state: ModelState, latent: torch.Tensor, link: Link | None) -> Strand:
        """The strand whose latent is decoded, or that decoded with this state of Mimi before."""
        if link is not None and link.strand is not None:
            return found(link)
        with self._shared.lock:
            waiting = [each for each in self.strands if each.awaits_decode]
            makers = [each for each in waiting if each.made(latent)]
            bound = [each for each in self.strands if each.codec_state is state]
            if bound and (bound[0] in waiting or not is_beginning(state)):
                makers += bound
            free = [each for each in (self.latest,) if each and each.codec_state is None]
            for strand in makers or (waiting if len(waiting) == 1 else free):
                return strand
            return Strand(self._shared, self._driven_of({}), None)

    def call_begins(self, state: ModelState) -> None:
        """`generate_audio` is about to speak with this very state, not with a copy."""
        with self._shared.lock:
            for driven in self._driven:
                if driven.state is state:
                    driven.book.call_begins = True

    # ---- private ------------------------------------------------------------------------------

    def _taken_over(self, driven: Driven, link: Link) -> Strand:
        """An idle strand of the state, which knows who wrote what is in its slots."""
        for strand in driven.strands:
            if not strand.alive:
                strand.take_over(link)
                return strand
        return Strand(self._shared, driven, link)

    def _driven_of(self, state: ModelState) -> Driven:
        self._uses += 1
        for driven in self._driven:
            if driven.state is state:
                driven.used = self._uses
                return driven
        shared = self._shared
        rows = {row.name: row for row in pocket.cache_rows(shared.tts) if row.model == "flow_lm"}
        book = ScriptBook(
            shared.tts,
            shared.writer,
            rows,
            keep_values=shared.trace != "off",
            numbering=shared.numbering,
            lock=shared.lock,
        )
        self._drop_old()
        self._driven.append(Driven(state, book, used=self._uses))
        return self._driven[-1]

    def _drop_old(self) -> None:
        """Makes room for one more of those that were used least lately, of either kind."""
        idle = sorted((each for each in self._driven if not each.alive), key=lambda it: it.used)
        generated = [each for each in idle if any(own.link for own in each.strands)]
        by_hand = [each for each in idle if each not in generated]
        old = generated[: -KEPT + 1] + by_hand[: -KEPT_OF_SCRIPTS + 1]
        for driven in old:
            for strand in driven.strands:
                strand.flush()
            self._driven.remove(driven)


def found(link: Link) -> Strand:
    assert isinstance(link.strand, Strand)
    return link.strand


def _has_generator(strand: Strand) -> bool:
    return strand.link is not None and strand.link.generator is not None
