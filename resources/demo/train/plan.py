"""How large a run is: every number that decides how long it takes and what comes out."""

from dataclasses import dataclass

RATE = 24_000  # samples per second
FRAME = 1_920  # samples per latent: 80 ms
HOP = 120  # samples between two analyses of the spectrum: 5 ms
HOPS = FRAME // HOP
DELAY = 240  # samples by which the decoder lags; a latent tells little of its frame's last 10 ms


@dataclass(frozen=True)
class Voice:
    """One way to say what espeak-ng said.

    Attributes:
        period: samples between two pulses of the voice; divides a frame, so that every frame
            begins with a pulse.
        stretch: factor on the frequency axis of the spectral envelope; more is a smaller head.
    """

    name: str
    period: int
    stretch: float

    @property
    def pitch(self) -> float:
        """Fundamental frequency in Hz."""
        return RATE / self.period


VOICES = (Voice("low", 240, 0.95), Voice("mid", 160, 1.0), Voice("high", 120, 1.12))


@dataclass(frozen=True)
class Plan:
    """Sizes of one run. Steps, not minutes, decide the schedules, so a seed reproduces."""

    seed: int = 0
    texts: int = 6_000
    codec_texts: int = 2_400  # the codec learns sounds, and needs fewer texts than the rest
    validation_texts: int = 60
    vocabulary: int = 4_000  # most frequent English words that random texts draw from
    encoder_steps: int = 3_400
    decoder_steps: int = 8_000
    flow_lm_steps: int = 12_000
    flow_lm_positions: int = 1_700  # slots per batch
    test_sentences: int = 200
    variants: int = 9  # of each test sentence, differing from it in one word
    faults: int | None = None  # of those in `damage`; None is all
    workers: int = 2


FULL = Plan()
SMOKE = Plan(
    texts=48,
    codec_texts=48,
    validation_texts=8,
    vocabulary=300,
    encoder_steps=12,
    decoder_steps=10,
    flow_lm_steps=20,
    flow_lm_positions=700,
    test_sentences=3,
    variants=2,
    faults=1,
)
