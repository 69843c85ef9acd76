"""Risk in context: how often readers guess words of texts, from new draws of them.

A reader knows the mechanism, a public language model and all that is released of a
text, and guesses each word. Words are drawn anew, and what is read are the draws: who
decodes them can find no more in what is written (docs/guarantees.md, 6). Words outside
the vocabulary are not attacked. A better reader finds more: a figure is a lower limit.

Figures of public corpora are looked up by all that decides them: mechanism, lexicon,
epsilon and which words are replaced; the decoder has no part in them. Those of the
built-in lexicon ship; an adapted lexicon keeps its own beside its data. Other settings
have none: `dptext evaluate` measures them on one's own texts. A ladder says which of
these figures belong to one profile at several risks: by it an epsilon is chosen for
what a reader finds (`--reader-risk`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import cache
from dptext.errors import UsageError
from dptext.lexicons.word_classes import SPECIAL, classes_of_lexicon
from dptext.measures import calibrate
from dptext.measures.bayes_risk import Share
from dptext.measures.independence import Units, totals
from dptext.measures.sampled_risk import BAND_NAMES, bands_of
from dptext.readers import Reader, ngrams
from dptext.readers.channel import ALONE as ALONE
from dptext.readers.channel import UnigramReader
from dptext.readers.pairs import PairReader, SameKindReader
from dptext.tokens.language_data import stop_words
from dptext.types import Ids, Ints, Lexicon, Record, Rows, Words

if TYPE_CHECKING:
    from dptext.pipeline import Pipeline
    from dptext.randomness import Randomness

Count = Annotated[int, Meta(ge=0)]
# Classes of words; rare ones are those beyond the thousand most frequent.
ALL, CONTENT, RARE = "all words", "content words", BAND_NAMES[-1]
# Those of special categories of personal data (dptext.lexicons.word_classes).
SPECIAL_WORDS = "words of special categories"
CATEGORIES = {each: f"words of {each}" for each in SPECIAL}
SAME_KIND = SameKindReader.name
# The kind of a public text that the user gave, to measure by or to adapt a lexicon to.
PUBLIC_TEXT = "public text"
# Of a normal distribution, what holds 95% to both sides.
_WIDE = 1.959964


@dataclass(frozen=True, slots=True)
class Success:
    """Share of words of a class that are guessed; low to high holds it at 95%.

    The interval takes units for drawn one by one, and words of a unit for alike: a unit
    is a record, or the records that recur (dptext.measures.independence).
    """

    name: str
    words: Count
    success: Share
    low: Share
    high: Share


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reader finds: of all words and by class (`word_classes`).

    Content words are those that are no stop words. assumes says what the reader has.
    """

    reader: str
    assumes: str
    texts: Count
    classes: tuple[Success, ...]

    @property
    def success(self) -> float:
        """Return the share of all words that are guessed."""
        return self.classes[0].success

    @property
    def high(self) -> float:
        """Return the upper limit of that share."""
        return self.classes[0].high


def word_classes(lexicon: Lexicon) -> dict[str, NDArray[np.bool_]]:
    """Return for each class of words, by name, which rows are in it: (V + 1,).

    The first class holds all words: an overall figure is read from it. The last ones
    are those of special categories of personal data, and all of them together.
    """
    words = lexicon.words
    function_words = stop_words(lexicon.language)
    stop = np.array([word.lower() in function_words for word in words])
    rows = np.arange(len(words))
    bands = [(begin <= rows) & (rows < end) for begin, end in bands_of(len(words))]
    listed = classes_of_lexicon(lexicon)
    return {
        ALL: rows >= 0,
        CONTENT: ~stop,
        **dict(zip(BAND_NAMES, bands, strict=False)),
        SPECIAL_WORDS: listed.special > 0,
        **{CATEGORIES[each]: listed.in_category(each) for each in SPECIAL},
    }


class ContextAttack:
    """Draws texts anew under a pipeline and lets readers guess, batch by batch."""

    def __init__(self, pipeline: Pipeline, readers: Sequence[Reader]) -> None:
        self._pipeline, self._readers = pipeline, readers
        self._classes = word_classes(pipeline.lexicon)
        # Of each record the words of each class, and for each reader those guessed.
        self._units, self._texts = Units(), 0
        self._words: list[Ints] = []
        self._right: list[list[Ints]] = [[] for _ in readers]

    def add(self, records: Sequence[Record], randomness: Randomness) -> None:
        """Attack the texts of a batch of records."""
        if not self._readers:
            return
        draws = self._pipeline.draws(records, randomness)
        words = draws.words
        if not len(words.ids):
            return
        for record in records:
            self._units.add(record.texts)
        self._texts += len(words.ends)
        counts = [len(record.texts) for record in records]
        record_of_text = np.repeat(np.arange(len(records)), counts)
        records_of_words = record_of_text[words.texts], len(records)
        self._words.append(self._counted(words, words.ids, *records_of_words))
        released = self._pipeline.released(words, draws.drawn, draws.eps)
        for reader, right in zip(self._readers, self._right, strict=True):
            guess = reader.guess(released)
            right.append(self._counted(words, guess, *records_of_words))

    def _counted(self, words: Words, guess: Ids, records: Ints, size: int) -> Ints:
        """Count in each record the known words that are guessed: (records, classes)."""
        right = (words.ids == guess) & (words.ids >= 0)
        columns = [
            np.bincount(records[right & inside[words.ids]], minlength=size)
            for inside in self._classes.values()
        ]
        return np.stack(columns, axis=1)

    def result(self) -> tuple[Reading, ...]:
        """Return what each reader finds; none without words."""
        if not any(each[:, 0].any() for each in self._words):
            return ()
        units = self._units.labels()
        words = totals(np.concatenate(self._words), units)
        readings = []
        for reader, parts in zip(self._readers, self._right, strict=True):
            right = totals(np.concatenate(parts), units)
            classes = tuple(
                success(name, right[:, column], words[:, column])
                for column, name in enumerate(self._classes)
                if words[:, column].any()
            )
            readings.append(Reading(reader.name, reader.assumes, self._texts, classes))
        return tuple(readings)


def success(name: str, right: Rows, words: Rows) -> Success:
    """Return the share that is right, with an interval over units: (units,) each."""
    total, count = int(words.sum()), int((words > 0).sum())
    share = float(right.sum()) / total
    if count < 2:
        return Success(name, total, share, 0.0, 1.0)
    off = right - share * words
    deviation = float(np.sqrt((off**2).sum() * count / (count - 1))) / total
    low, high = share - _WIDE * deviation, share + _WIDE * deviation
    return Success(name, total, share, max(low, 0.0), min(high, 1.0))


def measure(
    pipeline: Pipeline,
    readers: Sequence[Reader],
    records: Iterable[Sequence[tuple[str, ...]]],
    randomness: Randomness,
) -> tuple[Reading, ...]:
    """Attack batches of records, each the texts of its fields."""
    attack, number = ContextAttack(pipeline, readers), 0
    for batch in records:
        numbered = [Record(number + n, texts, None) for n, texts in enumerate(batch)]
        attack.add(numbered, randomness)
        number += len(batch)
    return attack.result()


AT_LEAST = (
    "Measured on draws of public texts; at least: a reader with more public text of "
    "the same kind, a better language model or knowledge of the text finds more."
)


@dataclass(frozen=True, slots=True)
class Learned:
    """Accuracy of a classifier, by what it was trained and tested on.

    original: originals, both; private: private texts, both; static: trained on
    originals, tested on private texts. chance: the most frequent label.
    """

    classifier: str
    chance: Share
    original: Share
    private: Share
    static: Share


@dataclass(frozen=True, slots=True)
class InContext:
    """What readers find in a public corpus, and what classifiers keep of its labels.

    model is the digest of the n-gram model that ships. kind says what texts these are;
    counted, of how many other words of that kind the reader `same-kind` knows the
    pairs. learned is about texts as they are written, after decoding.
    """

    corpus: str
    model: str
    readings: tuple[Reading, ...]
    kind: str = ""
    counted: Count = 0
    learned: tuple[Learned, ...] = ()


def available(pipeline: Pipeline) -> list[Reader]:
    """Return the readers that there are for a pipeline: none without a channel.

    The one who sees a word alone, the one with the n-gram model that ships where it
    fits the lexicon, and that of the decoder, which may know more. The reader who sends
    draws to a third party is not among them: `named` gives it.
    """
    channel = pipeline.channel
    if not channel.mechanism.has_log_probs:
        return []
    readers: list[Reader] = [UnigramReader(channel)]
    theirs = pipeline.decoder.reader
    if theirs is None or theirs.name != PairReader.name:
        model = ngrams.shipped(channel)
        if model is not None:
            readers.append(PairReader.strongest(channel, model))
    return readers if theirs is None else [*readers, theirs]


def named(pipeline: Pipeline, name: str) -> Reader:
    """Return a reader by its name. Raises UsageError where it is not available."""
    readers, attacker = available(pipeline), pipeline.decoder.attacker
    readers += [] if attacker is None else [attacker]
    for reader in readers:
        if reader.name == name:
            return reader
    names = ", ".join(reader.name for reader in readers)
    known = f"known: {names}" if names else "their output distribution is not known"
    raise UsageError(
        f"no reader named {name!r} for these settings; {known} (the reader of a "
        "decoder: --decode NAME with its settings)"
    )


def key_of(pipeline: Pipeline) -> str:
    """Return the name under which the figures of a pipeline ship."""
    recipe, budget = pipeline.profile, asdict(pipeline.budget.description)
    rest = budget, recipe.tokens.settings(), str(recipe.strategy)
    return cache.key_of("in context", 1, *pipeline.mechanism.identity, *rest)


def measured(pipeline: Pipeline) -> tuple[InContext, ...]:
    """Return what readers were found to find under the same settings, if measured."""
    figures = calibrate.reader_figures(pipeline.lexicon, "readers", key_of(pipeline))
    return msgspec.convert(figures or [], tuple[InContext, ...])
