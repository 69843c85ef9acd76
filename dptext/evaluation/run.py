"""Evaluate pairs of texts: what is kept, what a classifier gains, what attacks find."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from dptext import models
from dptext.errors import UsageError
from dptext.evaluation import OWNER, classify
from dptext.evaluation.classify import Baseline, Task, check_classifier, make_classifier
from dptext.evaluation.rows import Pair, one_text
from dptext.measures import attacks, context_risk
from dptext.measures.attacks import Guessed, Guesses
from dptext.measures.context_risk import ContextAttack, Reading, available
from dptext.measures.kept import Kept, PairMeter
from dptext.measures.public import Deniability, deniability_of
from dptext.pipeline import Pipeline
from dptext.randomness import Randomness, RunKey
from dptext.types import Lexicon, Record

_BATCH = 2048
ALPHAS = (0.25, 0.5, 0.75)
COMPOSITE = (
    "alpha * utility + (1 - alpha) * privacy; utility: accuracy on private texts over "
    "accuracy on originals, at most 1; privacy: the mean of PP and 1 - LOW; a measure "
    "of dptext's own, not the PUC of arXiv:2404.03324"
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What to evaluate besides the texts; labels and attributes are field names.

    readers, whether those that send nothing attack; reader, the name of one more.
    """

    labels: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    classifier: str = "tfidf"
    splits: int = 3
    alphas: tuple[float, ...] = ALPHAS
    encoder: str | None = None
    masked_model: str | None = None
    masked_words: int = 2000
    bayes: bool = True
    readers: bool = True
    reader: str | None = None

    def check(self) -> None:
        """Raise UsageError for models that are not there, before the work begins."""
        check_classifier(self.classifier)
        if self.classifier != "tfidf" and not (self.labels or self.attributes):
            raise UsageError(
                "--classifier: name the field that it learns, with --label or "
                "--attribute"
            )
        if self.encoder is not None:
            models.need_sentence_model(self.encoder, "CS")
        if self.masked_model is not None:
            attacks.need_model(self.masked_model)


@dataclass(frozen=True, slots=True)
class Composite:
    """One weighing of utility and privacy."""

    alpha: float
    value: float


@dataclass(frozen=True, slots=True)
class Result:
    """All figures; trade_off is the change in utility plus the change in privacy.

    That is accuracy gained or lost on the first label plus what the adaptive attack on
    the first attribute has lost. meanings says what the scores of a task stand for.
    """

    audience: str
    kept: Kept
    deniability: Deniability | None
    utility: tuple[Task, ...]
    attribute_attacks: tuple[Task, ...]
    word_attacks: tuple[attacks.Attack, ...]
    in_context: tuple[Reading, ...]
    masked_word: Guessed | None
    trade_off: float | None
    composite: tuple[Composite, ...]
    composite_formula: str = field(default=COMPOSITE)
    meanings: dict[str, str] = field(default_factory=lambda: dict(classify.MEANINGS))


@dataclass(frozen=True)
class Evaluation:
    """The originals prepared: baselines are trained once for all private versions."""

    lexicon: Lexicon
    settings: Settings
    texts: tuple[tuple[str, ...], ...]
    utility: tuple[Baseline, ...]
    attributes: tuple[Baseline, ...]

    @classmethod
    def of(
        cls,
        lexicon: Lexicon,
        settings: Settings,
        texts: Sequence[tuple[str, ...]],
        values: Sequence[Sequence[str | None]],
    ) -> Evaluation:
        """Train the baselines on records; values: of labels, then attributes, of each.

        A record without a value has no part in that field's task.
        """
        settings.check()
        make = make_classifier(settings.classifier, lexicon)
        named = (*settings.labels, *settings.attributes)
        lines = [one_text(each) for each in texts]
        baselines = []
        for number, name in enumerate(named):
            column = [row[number] for row in values]
            baselines.append(
                Baseline.of(
                    name, lines, column, settings.classifier, make, settings.splits
                )
            )
        cut = len(settings.labels)
        return cls(
            lexicon,
            settings,
            tuple(texts),
            tuple(baselines[:cut]),
            tuple(baselines[cut:]),
        )

    def against(
        self, private: Sequence[tuple[str, ...]], writer: Pipeline | None = None
    ) -> Result:
        """Evaluate one private version; writer is what wrote it, if that is known."""
        lines = [one_text(each) for each in private]
        return _result(
            zip(self.texts, private, strict=True),
            self.lexicon,
            self.settings,
            writer,
            tuple(each.against(lines) for each in self.utility),
            tuple(each.against(lines) for each in self.attributes),
        )


def evaluate(
    pairs: Iterable[Pair],
    lexicon: Lexicon,
    settings: Settings,
    writer: Pipeline | None = None,
) -> Result:
    """Evaluate a private version of texts.

    Texts are held in memory only for labels, attributes and the masked-word attack.
    """
    settings.check()
    if not settings.labels and not settings.attributes:
        both = ((pair.before, pair.after) for pair in pairs)
        return _result(both, lexicon, settings, writer)
    held = list(pairs)
    texts = [pair.before for pair in held]
    ready = Evaluation.of(lexicon, settings, texts, [pair.values for pair in held])
    return ready.against([pair.after for pair in held], writer)


def _result(
    records: Iterator[tuple[tuple[str, ...], tuple[str, ...]]],
    lexicon: Lexicon,
    settings: Settings,
    writer: Pipeline | None,
    utility: tuple[Task, ...] = (),
    attributes: tuple[Task, ...] = (),
) -> Result:
    policy = writer.profile.tokens if writer else None
    meter = PairMeter(lexicon, settings.encoder, policy)
    guesses = Guesses(
        writer,
        bayes=settings.bayes,
        masked_model=settings.masked_model,
        masked_words=settings.masked_words,
    )
    attack, randomness = _attack(settings, writer)
    number = 0
    while batch := list(islice(records, _BATCH)):
        before = [text for texts, _ in batch for text in texts]
        after = [text for _, texts in batch for text in texts]
        guesses.add(meter.add(before, after))
        if attack is not None and randomness is not None:
            texts = enumerate((texts for texts, _ in batch), number)
            attack.add([Record(n, each, None) for n, each in texts], randomness)
            number += len(batch)
    kept = meter.result()
    return Result(
        audience=OWNER,
        kept=kept,
        deniability=deniability_of(writer) if writer else None,
        utility=utility,
        attribute_attacks=attributes,
        word_attacks=guesses.attacks(),
        in_context=attack.result() if attack is not None else (),
        masked_word=guesses.masked(),
        trade_off=_trade_off(utility, attributes),
        composite=_composite(settings, kept, utility),
    )


def _attack(
    settings: Settings, writer: Pipeline | None
) -> tuple[ContextAttack, Randomness] | tuple[None, None]:
    """Return what readers attack by, new draws of the originals, if there are any."""
    readers = available(writer) if writer and settings.readers else []
    if writer and settings.reader not in (None, *(each.name for each in readers)):
        readers.append(context_risk.named(writer, str(settings.reader)))
    if writer is None or not readers:
        return None, None
    return context_risk.ContextAttack(writer, readers), writer.randomness(
        RunKey.fresh()
    )


def _trade_off(utility: Sequence[Task], attacks: Sequence[Task]) -> float | None:
    if not utility or not attacks:
        return None
    gained = utility[0].private.accuracy - utility[0].original.accuracy
    hidden = attacks[0].original.accuracy - attacks[0].private.accuracy
    return gained + hidden


def _composite(
    settings: Settings, kept: Kept, utility: Sequence[Task]
) -> tuple[Composite, ...]:
    if not utility or kept.perturbed is None or kept.low is None:
        return ()
    useful = min(1.0, utility[0].private.accuracy / utility[0].original.accuracy)
    private = (kept.perturbed + 1.0 - kept.low) / 2.0
    return tuple(
        Composite(alpha, alpha * useful + (1.0 - alpha) * private)
        for alpha in settings.alphas
    )
