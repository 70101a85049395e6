"""Texts to learn from and texts to be tested on, made by templates from a seed."""

import random
import re
from collections.abc import Callable, Sequence

from train import words as w
from train.frequent import most_frequent, pronounceable
from train.plan import Plan

LONGEST = 58  # characters; pocket-tts splits at 50 tokens, and a token is a character
TEST_SEED = 12
VOWELS = "aeiou"

Chance = random.Random


def training_texts(plan: Plan) -> list[str]:
    """Texts to learn from; none contains a sentence of the test."""
    chance = Chance(plan.seed)
    held_out = set(test_sentences(plan.test_sentences))
    frequent = Frequent(chance, most_frequent(plan.vocabulary))
    texts: list[str] = list(w.FIXED)
    seen = set(texts)
    while len(texts) < plan.texts:
        text = _training_text(chance, frequent)
        known = text in seen or not held_out.isdisjoint(sentences_of(text))
        if len(text) <= LONGEST and not known:
            seen.add(text)
            texts.append(text)
    chance.shuffle(texts)
    return texts[: plan.texts]


def test_sentences(count: int) -> list[str]:
    """Sentences of four words and more that no training text contains."""
    chance = Chance(TEST_SEED)
    sentences: dict[str, None] = {}
    while len(sentences) < count:
        sentence = template(chance)
        if len(sentence.split()) >= 4 and sentence not in w.FIXED:
            sentences[sentence] = None
    return list(sentences)


def one_word_variants(sentence: str, count: int, vocabulary: int) -> list[str]:
    """Other sentences that differ from `sentence` in one word of the same class."""
    chance = Chance(sentence)
    spoken = sentence.split()
    variants: dict[str, None] = {}
    while len(variants) < count:
        place = chance.randrange(len(spoken))
        word = re.sub(r"[^a-z']", "", spoken[place])
        pool = next((c for c in w.CLASSES if word in c), None) or most_frequent(vocabulary)
        other = chance.choice(pool)
        if other != word:
            changed = [*spoken[:place], spoken[place].replace(word, other), *spoken[place + 1 :]]
            variants[" ".join(changed)] = None
    return list(variants)


def test_vocabulary() -> list[str]:
    """Every word a test sentence can have, as far as the recogniser knows it."""
    phrases = [*w.ADVERBS, *w.FIXED, *w.CONJUNCTIONS, *w.GLUE]
    spoken = {word for phrase in phrases for word in re.findall(r"[a-z']+", phrase)}
    return sorted((spoken | {word for c in w.CLASSES for word in c}) & pronounceable())


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, each with its mark.

    >>> sentences_of("hello world. is it you?")
    ['hello world.', 'is it you?']
    """
    return re.findall(r"[^.!?]+[.!?]", text.replace(". ", ".").replace("? ", "?"))


def as_written(text: str) -> str:
    """The text with the capitals that espeak-ng needs to make pauses between sentences."""
    text = re.sub(r"(^|[.!?] )([a-z])", lambda m: m[1] + m[2].upper(), text)
    return re.sub(r"\bi\b", "I", text)


class Frequent:
    """Draws frequent words, the most frequent more often."""

    def __init__(self, chance: Chance, vocabulary: Sequence[str]) -> None:
        self._chance = chance
        self._vocabulary = vocabulary
        self._weights = [(rank + 60) ** -0.6 for rank in range(len(vocabulary))]

    def draw(self, count: int) -> str:
        return " ".join(self._chance.choices(self._vocabulary, self._weights, k=count))


def _training_text(chance: Chance, frequent: Frequent) -> str:
    text = _kind_of_text(chance, frequent)
    return text[:-1] + "!" if text.endswith(".") and chance.random() < 0.04 else text


def _kind_of_text(chance: Chance, frequent: Frequent) -> str:
    share = chance.random()
    if share < 0.06:
        return frequent.draw(1) + "."
    if share < 0.16:
        return frequent.draw(2) + "."
    if share < 0.30:
        return frequent.draw(chance.choice([3, 4, 5])) + "."
    if share < 0.40:
        return _template_of_frequent(chance, frequent)
    if share < 0.50:
        return f"{_template_or_fixed(chance)} {_template_or_fixed(chance)}"
    if share < 0.54:
        return f"{template(chance)[:-1]}, {chance.choice(w.CONJUNCTIONS)} {template(chance)}"
    return template(chance)


def _template_or_fixed(chance: Chance) -> str:
    return chance.choice(w.FIXED) if chance.random() < 0.35 else template(chance)


def _template_of_frequent(chance: Chance, frequent: Frequent) -> str:
    verb = chance.choice([*w.INTRANSITIVE, *w.TRANSITIVE])
    first, second = chance.choice(w.DETERMINERS), chance.choice(w.DETERMINERS)
    return _with_an(f"{first} {frequent.draw(1)} {verb} {second} {frequent.draw(1)}.")


def template(chance: Chance) -> str:
    """One sentence from one of the templates, in lower case."""
    return _with_an(chance.choice(TEMPLATES)(chance))


def _with_an(text: str) -> str:
    return re.sub(rf"\ba ([{VOWELS}])", r"an \1", text)


def _thing(chance: Chance) -> str:
    parts = [chance.choice(w.DETERMINERS)]
    if chance.random() < 0.5:
        parts.append(chance.choice(w.ADJECTIVES))
    return " ".join([*parts, chance.choice(w.NOUNS)])


def _question(chance: Chance) -> str:
    start = f"{chance.choice(w.AUXILIARIES)} {chance.choice(w.PRONOUNS)}"
    return f"{start} {chance.choice(w.PLAIN_VERBS)} {_thing(chance)}?"


def _count(chance: Chance) -> str:
    return " ".join(chance.choice(w.NUMBERS) for _ in range(3)) + "."


def _act(chance: Chance) -> str:
    verb = chance.choice([*w.PLAIN_VERBS, *w.PAST_VERBS])
    return f"{chance.choice(w.PRONOUNS)} {verb} {_thing(chance)}."


TEMPLATES: tuple[Callable[[Chance], str], ...] = (
    lambda c: f"{_thing(c)} {c.choice(w.INTRANSITIVE)}.",
    lambda c: f"{_thing(c)} {c.choice(w.INTRANSITIVE)} {c.choice(w.ADVERBS)}.",
    lambda c: f"{_thing(c)} {c.choice(w.TRANSITIVE)} {_thing(c)}.",
    lambda c: f"{_thing(c)} is {c.choice(w.ADJECTIVES)}.",
    lambda c: f"i am {_thing(c)}.",
    lambda c: f"{_thing(c)} is {c.choice(w.PREPOSITIONS)} {_thing(c)}.",
    lambda c: f"hello {c.choice(w.NOUNS)}.",
    lambda c: f"i am a {c.choice(w.ADJECTIVES)} {c.choice(w.NOUNS)}.",
    _question,
    _act,
    _count,
)
