"""Risk in context: how often attackers guess words of texts, from new draws.

The simplest attacker takes each written word as the original (`AS_WRITTEN`): the
words are drawn and decoded anew, as in a run. Other attackers know the mechanism,
a public language model and everything released of a text, and guess each word. They
read the draws, as the written words contain no more for an attacker who decodes
(docs/guarantees.md, 6). Words outside the vocabulary are not attacked. A better
attacker guesses more: a figure is a lower limit.

Figures for public corpora are looked up by the settings they depend on: mechanism,
lexicon, epsilon and the classes of replaced words (a keep list aside), and for written
words the decoder. Figures for the built-in lexicon ship; an adapted lexicon stores its
own with its data. For other settings `dptext evaluate` measures the user's own texts.
A ladder lists the figures of a profile at several risks. It gives an epsilon for the
share that an attacker guesses (`budget.attacker_risk`), and for a risk between two
measured ones the figures of the smaller risk, as a lower limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import cache
from dptext.attackers import Attacker, ngrams
from dptext.attackers.channel import ALONE as ALONE
from dptext.attackers.channel import UnigramAttacker
from dptext.attackers.reader import Reader, SameKindAttacker
from dptext.errors import UsageError
from dptext.guarantees import binomial
from dptext.lexicons.word_classes import SPECIAL, classes_of_lexicon
from dptext.measures import calibrate
from dptext.measures.bayes_risk import Share
from dptext.measures.independence import Units, totals
from dptext.measures.sampled_risk import BAND_NAMES, frequency_bands
from dptext.run.interface import option
from dptext.tokens.language_data import stop_words
from dptext.types import Ids, Ints, Lexicon, Record, Rows, Words, records_of_texts

if TYPE_CHECKING:
    from dptext.pipeline import Pipeline
    from dptext.randomness import Randomness

Count = Annotated[int, Meta(ge=0)]
# Classes of words; rare ones are those beyond the thousand most frequent.
ALL, CONTENT, RARE = "all words", "content words", BAND_NAMES[-1]
# Those of special categories of personal data (dptext.lexicons.word_classes).
SPECIAL_WORDS = "words of special categories"
CATEGORIES = {each: f"words of {each}" for each in SPECIAL}
SAME_KIND = SameKindAttacker.name
# The attacker who takes each written word for the original.
AS_WRITTEN = "as written"
_TAKES = "takes each written word as it stands; knows nothing and reads no context"
# The kind of a public text that the user gave, to measure by or to adapt a lexicon to.
PUBLIC_TEXT = "public text"
_ERROR = 0.05
# A deviation below it is one of rounding alone.
_NONE = 1e-12
# Of fewer words a share of special categories says little.
_ENOUGH = 50
# Right or wrong words that the limits of a normal distribution need.
_FEW = 10
AT_LEAST = (
    "Attackers were measured on draws of public texts. The figures are lower bounds: "
    "an attacker with more public text of the same kind, a better language model or "
    "knowledge of the text finds more."
)
# Figures of a risk differ by their rounding.
_NEARLY = 1.0 + 2e-3


@dataclass(frozen=True, slots=True)
class Success:
    """Share of correctly guessed words in a class, with its 95% interval.

    The interval treats units as independent, and words within a unit as dependent: a
    unit is a record, or a group of repeated records (dptext.measures.independence).
    """

    name: str
    words: Count
    success: Share
    low: Share
    high: Share


@dataclass(frozen=True, slots=True)
class Reading:
    """What one attacker guesses: of all words and by class (`word_classes`).

    Content words are all but stop words. assumes describes the attacker's knowledge.
    """

    attacker: str
    assumes: str
    texts: Count
    classes: tuple[Success, ...]

    @property
    def success(self) -> float:
        """Return the share of correctly guessed words among all words."""
        return self.classes[0].success

    @property
    def high(self) -> float:
        """Return the upper confidence limit of that share."""
        return self.classes[0].high


def word_classes(lexicon: Lexicon) -> dict[str, NDArray[np.bool_]]:
    """Return masks over rows for each named class of words: (V + 1,) each.

    The first class holds all words, for overall figures. The last ones
    are the special categories of personal data, and all of these together.
    """
    words = lexicon.words
    function_words = stop_words(lexicon.language)
    stop = np.array([word.lower() in function_words for word in words])
    rows = np.arange(len(words))
    bands = [
        (begin <= rows) & (rows < end) for begin, end in frequency_bands(len(words))
    ]
    listed = classes_of_lexicon(lexicon)
    return {
        ALL: rows >= 0,
        CONTENT: ~stop,
        **dict(zip(BAND_NAMES, bands, strict=False)),
        SPECIAL_WORDS: listed.special > 0,
        **{CATEGORIES[each]: listed.in_category(each) for each in SPECIAL},
    }


class ContextAttack:
    """Redraws texts with a pipeline and lets attackers guess, batch by batch.

    written: whether to decode the draws too, and to count words as written.
    """

    def __init__(
        self, pipeline: Pipeline, attackers: Sequence[Attacker], *, written: bool = True
    ) -> None:
        self._pipeline, self._attackers = pipeline, attackers
        self._classes = word_classes(pipeline.lexicon)
        # A third party writes other words each time, and is sent nothing for a figure.
        is_local = pipeline.decoder.used is None and not pipeline.rewrites
        self._writes = written and is_local
        # Of each record the words of each class, and for each attacker those found.
        self._units, self._texts = Units(), 0
        self._words: list[Ints] = []
        self._unchanged: list[Ints] = []
        self._right: list[list[Ints]] = [[] for _ in attackers]

    def add(self, records: Sequence[Record], randomness: Randomness) -> None:
        """Attack the texts of a batch of records."""
        if not self._attackers and not self._writes:
            return
        words, drawn, eps, bits = self._pipeline.draws(records, randomness)
        if not len(words.ids):
            return
        for record in records:
            self._units.add(record.texts)
        self._texts += len(words.ends)
        records_of_words = records_of_texts(records)[words.texts], len(records)
        self._words.append(self._count(words, words.ids, *records_of_words))
        if self._writes:
            decoded = self._pipeline.decode(words, drawn, eps)
            joined = self._pipeline.joiner.join(words, decoded, bits)
            unchanged = self._count(words, joined.written, *records_of_words)
            self._unchanged.append(unchanged)
        released = self._pipeline.released(words, drawn, eps)
        for attacker, right in zip(self._attackers, self._right, strict=True):
            guess = attacker.guess(released)
            right.append(self._count(words, guess, *records_of_words))

    def _count(self, words: Words, guess: Ids, records: Ints, size: int) -> Ints:
        """Count the correctly guessed known words per record: (records, classes)."""
        right = (words.ids == guess) & (words.ids >= 0)
        columns = [
            np.bincount(records[right & inside[words.ids]], minlength=size)
            for inside in self._classes.values()
        ]
        return np.stack(columns, axis=1)

    def result(self) -> tuple[Reading, ...]:
        """Return each attacker's success, empty if there were no words."""
        readings = [
            self._reading(attacker.name, attacker.assumes, parts)
            for attacker, parts in zip(self._attackers, self._right, strict=True)
        ]
        return tuple(each for each in readings if each is not None)

    def written(self) -> Reading | None:
        """Return how many written words are the original, None if there are no words.

        Also None if a third party writes them.
        """
        return self._reading(AS_WRITTEN, _TAKES, self._unchanged)

    def _reading(
        self, name: str, assumes: str, parts: Sequence[Ints]
    ) -> Reading | None:
        """Return an attacker's success from batch counts, None without words."""
        if not parts or not any(each[:, 0].any() for each in self._words):
            return None
        units = self._units.labels()
        words, right = (
            totals(np.concatenate(each), units) for each in (self._words, parts)
        )
        classes = tuple(
            success(each, right[:, column], words[:, column])
            for column, each in enumerate(self._classes)
            if words[:, column].any()
        )
        return Reading(name, assumes, self._texts, classes)


def success(name: str, right: Rows, words: Rows) -> Success:
    """Return the share of correct guesses with an interval; (units,) counts."""
    total, count = int(words.sum()), int((words > 0).sum())
    share = float(right.sum()) / total
    if count < 2:
        return Success(name=name, words=total, success=share, low=0.0, high=1.0)
    off = right - share * words
    deviation = float(np.sqrt((off**2).sum() * count / (count - 1))) / total
    reach = binomial.student(count - 1, _ERROR) * deviation
    low, high = share - reach, share + reach
    if deviation < _NONE or min(share, 1.0 - share) * total < _FEW:
        # These limits are too narrow, of no word at all and of texts with one share a
        # point: exact limits for as many independent words as have this deviation (Korn
        # and Graubard 1998), and where it is 0 for as many as there are texts.
        alike = share * (1.0 - share) / deviation**2 if deviation >= _NONE else count
        trials = min(float(total), alike)
        low, high = binomial.limits(share * trials, trials, _ERROR)
    return Success(
        name=name, words=total, success=share, low=max(low, 0.0), high=min(high, 1.0)
    )


def attack_records(
    pipeline: Pipeline,
    attackers: Sequence[Attacker],
    records: Iterable[Sequence[tuple[str, ...]]],
    randomness: Randomness,
) -> ContextAttack:
    """Attack batches of records, each a list of texts per field."""
    attack, number = ContextAttack(pipeline, attackers), 0
    for batch in records:
        numbered = [Record(number + n, texts, None) for n, texts in enumerate(batch)]
        attack.add(numbered, randomness)
        number += len(batch)
    return attack


@dataclass(frozen=True, slots=True)
class ClassifierFigures:
    """Accuracy of a classifier, by its training and test data."""

    classifier: str
    #: Share of the most frequent label.
    chance: Share
    #: Trained and tested on originals.
    original: Share
    #: Trained and tested on private texts.
    private: Share
    #: Trained on originals, tested on private texts.
    static: Share


@dataclass(frozen=True, slots=True)
class InContext:
    """Attacker success and classifier accuracy on a public corpus."""

    corpus: str
    #: Digest of the n-gram model that ships.
    model: str
    readings: tuple[Reading, ...]
    #: The kind of the texts, as in "reviews".
    kind: str = ""
    #: Number of other words of that kind with pairs known to the attacker `same-kind`.
    counted: Count = 0
    #: For written texts, after decoding.
    learned: tuple[ClassifierFigures, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class AttackerFigures:
    """Success of an attacker on public texts of a kind, to four digits."""

    attacker: Annotated[str, Meta(description="Name of the attacker.")] = AS_WRITTEN
    kind: Annotated[str, Meta(description="Kind of text.")] = ""
    success: Annotated[Share, Meta(description="Share of all words that are found.")]
    low: Annotated[Share, Meta(description="Lower 95% limit of this share.")]
    high: Annotated[Share, Meta(description="Upper 95% limit of this share.")]
    content: Annotated[
        Share | None,
        Meta(
            description="Share of words other than stop words; null if there are none."
        ),
    ] = None
    rare: Annotated[
        Share | None,
        Meta(
            description=(
                "Share of words beyond the thousand most frequent; null if there are "
                "none."
            )
        ),
    ] = None
    counted: Annotated[
        Count,
        Meta(
            description=(
                "Number of other words of this kind whose pairs the attacker has "
                "counted."
            )
        ),
    ] = 0
    corpus: Annotated[
        str,
        Meta(
            description="The texts that were read; empty in a public report of a kind."
        ),
    ] = ""
    words: Annotated[
        Count, Meta(description="Number of words that were read; 0 in a public report.")
    ] = 0
    special: Annotated[
        Share | None,
        Meta(
            description=(
                "Share of words of special categories of personal data, if there are "
                "at least 50."
            )
        ),
    ] = None
    categories: Annotated[
        dict[str, Share],
        Meta(description="The same for each category; not in a public report."),
    ] = field(default_factory=dict)

    @classmethod
    def from_measured(
        cls, measured: Sequence[InContext]
    ) -> tuple[AttackerFigures, ...]:
        """Return one row per corpus, largest share first."""
        rows = []
        for corpus in measured:
            if not corpus.readings:
                continue
            best = max(corpus.readings, key=lambda reading: reading.success)
            shares = {each.name: round(each.success, 4) for each in best.classes}
            (every,) = (each for each in best.classes if each.name == ALL)
            enough = {each.name for each in best.classes if each.words >= _ENOUGH}
            row = cls(
                attacker=best.attacker,
                corpus=corpus.corpus,
                words=every.words,
                success=shares[ALL],
                low=round(every.low, 4),
                high=round(every.high, 4),
                content=shares.get(CONTENT),
                rare=shares.get(RARE),
                kind=corpus.kind,
                counted=corpus.counted if best.attacker == SAME_KIND else 0,
                special=shares[SPECIAL_WORDS] if SPECIAL_WORDS in enough else None,
                categories={
                    name: shares[label]
                    for name, label in CATEGORIES.items()
                    if label in enough
                },
            )
            rows.append(row)
        return tuple(sorted(rows, key=lambda row: -row.success))

    def category(self, name: str) -> float | None:
        """Return the share for a special category or "any", None if unknown."""
        return self.special if name == "any" else self.categories.get(name)

    def in_short(self) -> AttackerFigures:
        """Return the row for public reports, by kind of text if known."""
        corpus = "" if self.kind else self.corpus
        return replace(self, corpus=corpus, words=0, categories={})


def available(pipeline: Pipeline) -> list[Attacker]:
    """Return a pipeline's attackers, empty without a channel.

    They are the one who sees single words, the one with the shipped n-gram model if it
    fits the lexicon, and the decoder's, which may know more. The attacker who
    sends draws to a third party is only available from `named`.
    """
    channel = pipeline.channel
    if not channel.mechanism.has_log_probs:
        return []
    attackers: list[Attacker] = [UnigramAttacker(channel)]
    decoder_attacker = pipeline.decoder.attacker
    if decoder_attacker is None or decoder_attacker.name != Reader.name:
        model = ngrams.shipped_model(channel)
        if model is not None:
            attackers.append(Reader(channel, model))
    return attackers if decoder_attacker is None else [*attackers, decoder_attacker]


def named(pipeline: Pipeline, name: str) -> Attacker:
    """Return an attacker by name. Raises UsageError if it is not available."""
    attackers, on_server = available(pipeline), pipeline.decoder.server_attacker
    if on_server is not None:
        attackers.append(on_server)
    for attacker in attackers:
        if attacker.name == name:
            return attacker
    names = ", ".join(attacker.name for attacker in attackers)
    known = f"known: {names}" if names else "their output distribution is not known"
    raise UsageError(
        f"there is no attacker {name!r} for these settings; {known} (the attacker of a "
        f"decoder: {option('decode', 'NAME')} with its settings)"
    )


def key_of(pipeline: Pipeline) -> str:
    """Return the key under which a pipeline's attacker figures are stored."""
    return cache.key_of("in context", 1, *_drawn_by(pipeline))


def written_key(pipeline: Pipeline) -> str:
    """Return the key for written words, which also depend on decoder and model."""
    recipe = pipeline.profile
    plain: dict[str, Any] = recipe.settings()
    settings = {**plain["decoder"]}
    # The content of a model counts, not where it lies.
    content = dict(pipeline.decoder.content)
    for name in (*content, *recipe.decoder.params.unkeyed):
        settings.pop(name, None)
    # Whether to decode at all is decided: the draws are written by "none".
    settings.pop("optional", None)
    return cache.key_of("written", 1, *_drawn_by(pipeline), settings, content)


def _drawn_by(pipeline: Pipeline) -> tuple[object, ...]:
    """Return everything that draws of public texts depend on."""
    recipe, budget = pipeline.profile, asdict(pipeline.budget.description)
    tokens = calibrate.measured_tokens(recipe.tokens.settings())
    return (*pipeline.mechanism.identity, budget, tokens, str(recipe.strategy))


def measured(pipeline: Pipeline) -> tuple[InContext, ...]:
    """Return the attacker figures for exactly these settings, empty if unmeasured."""
    return _known(pipeline, "attackers", key_of(pipeline))


def measured_written(pipeline: Pipeline) -> tuple[InContext, ...]:
    """Return how many written words are the original, empty if unmeasured."""
    return _known(pipeline, "written", written_key(pipeline))


def _known(pipeline: Pipeline, part: str, key: str) -> tuple[InContext, ...]:
    figures = calibrate.attacker_figures(pipeline.lexicon, part, key)
    try:
        return msgspec.convert(figures or [], tuple[InContext, ...])
    except msgspec.ValidationError:  # kept by another version of dptext
        return ()


def measured_ladder(pipeline: Pipeline) -> Mapping[float, calibrate.Rung]:
    """Return the measured risks of settings differing only in risk or epsilon."""
    key = calibrate.ladder_key(_settings_before_aim(pipeline), pipeline.lexicon)
    return calibrate.rungs(pipeline.lexicon, key)


def risk_for(pipeline: Pipeline, target: float) -> float:
    """Return the risk that meets a limit on whole-text attackers.

    Raises UsageError like `calibrate.risk_for`.
    """
    return calibrate.risk_for(_settings_before_aim(pipeline), pipeline.lexicon, target)


def _settings_before_aim(pipeline: Pipeline) -> dict[str, Any]:
    """Return a pipeline's settings, the mechanism's as before meeting a risk."""
    settings: dict[str, Any] = pipeline.profile.settings()
    settings["mechanism"] |= pipeline.mechanism.settings_before_aim
    return settings


def measured_below(
    pipeline: Pipeline, risk: float
) -> tuple[float | None, tuple[InContext, ...]]:
    """Return the largest measured risk that is smaller, and its figures.

    risk: of a single draw with the pipeline. Attackers guess less if both risk
    and epsilon are smaller, so those figures are lower limits. None and () if no
    such risk was measured, or if settings differ in more than risk and epsilon.
    """
    epsilon = pipeline.budget.description.high
    rungs = {
        at: rung
        for at, rung in measured_ladder(pipeline).items()
        if at <= risk * _NEARLY and rung.epsilon <= epsilon * _NEARLY
    }
    if not rungs:
        return None, ()
    at = max(rungs)
    return at, _known(pipeline, "attackers", rungs[at].attackers)
