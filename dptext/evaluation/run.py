"""Evaluate pairs of texts: what is kept, what a classifier gains, what attacks find."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from dptext import models
from dptext.errors import UsageError
from dptext.evaluation import OWNER, classify
from dptext.evaluation.classify import Baseline, Task, check_classifier, make_classifier
from dptext.evaluation.readers import Pairs, PublicText
from dptext.evaluation.rows import Pair, one_text
from dptext.measures import context_risk, masked_word
from dptext.measures.attacks import Attack, Guesses
from dptext.measures.context_risk import ContextAttack, Reading, available
from dptext.measures.kept import Kept, PairMeter
from dptext.measures.masked_word import Guessed, Hidden
from dptext.measures.public import Deniability, deniability_of
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
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

    readers, whether those that send nothing attack; reader, the name of one more;
    public_text, public texts of the same kind, whose pairs of words one more knows.
    """

    labels: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    classifier: str = "tfidf"
    splits: int = 3
    alphas: tuple[float, ...] = ALPHAS
    encoder: str | None = None
    masked_model: str | None = None
    bayes: bool = True
    readers: bool = True
    reader: str | None = None
    public_text: PublicText | None = None

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
            masked_word.need_model(self.masked_model)


@dataclass(frozen=True, slots=True)
class Known:
    """What a reader counted of a public text, and how much of it is private text.

    counted, words whose pairs the reader knows; of all private texts those that occur
    in the public text are repeated: no reader reads these.
    """

    file: str
    sha256: str
    counted: int
    texts: int
    repeated: int


@dataclass(frozen=True, slots=True)
class Result:
    """All figures; meanings says what the scores of a task stand for.

    trade_off is accuracy gained or lost on the first label plus what the adaptive
    attack on the first attribute has lost; composite weighs utility and privacy, by
    alpha.
    """

    audience: str
    kept: Kept
    deniability: Deniability | None
    utility: tuple[Task, ...]
    attribute_attacks: tuple[Task, ...]
    word_attacks: tuple[Attack, ...]
    in_context: tuple[Reading, ...]
    masked_word: Guessed | None = None
    trade_off: float | None = None
    composite: dict[str, float] = field(default_factory=dict)
    composite_formula: str = COMPOSITE
    meanings: dict[str, str] = field(default_factory=lambda: dict(classify.MEANINGS))
    public_text: Known | None = None


@dataclass(frozen=True)
class Evaluation:
    """The originals prepared: baselines are trained once for all private versions."""

    lexicon: Lexicon
    settings: Settings
    texts: tuple[tuple[str, ...], ...]
    baselines: tuple[Baseline, ...]

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
        name, splits = settings.classifier, settings.splits
        make = make_classifier(name, lexicon)
        lines = [one_text(each) for each in texts]
        baselines = tuple(
            Baseline.of(field, lines, [row[n] for row in values], name, make, splits)
            for n, field in enumerate((*settings.labels, *settings.attributes))
        )
        return cls(lexicon, settings, tuple(texts), baselines)

    def against(
        self, private: Sequence[tuple[str, ...]], writer: Pipeline | None = None
    ) -> Result:
        """Evaluate one private version; writer is what wrote it, if that is known."""
        lines = [one_text(each) for each in private]
        tasks = tuple(each.against(lines) for each in self.baselines)
        both = zip(self.texts, private, strict=True)
        return _result(both, self.lexicon, self.settings, writer, tasks)


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
    tasks: tuple[Task, ...] = (),
) -> Result:
    labels = len(settings.labels)
    utility, attributes = tasks[:labels], tasks[labels:]
    policy = writer.profile.tokens if writer else None
    meter = PairMeter(lexicon, settings.encoder, policy)
    guesses = Guesses(writer if settings.bayes else None)
    hidden: list[Hidden] = []
    readers = None if writer is None else _Readers(settings, writer)
    while batch := list(islice(records, _BATCH)):
        before = [text for texts, _ in batch for text in texts]
        after = [text for _, texts in batch for text in texts]
        aligned = meter.add(before, after)
        guesses.add(aligned)
        if settings.masked_model is not None:
            hidden += masked_word.hidden(aligned)
        if readers is not None:
            readers.add([texts for texts, _ in batch])
    kept, model = meter.result(), settings.masked_model
    trade_off, composite = None, {}
    if utility and attributes:
        gained = utility[0].private.accuracy - utility[0].original.accuracy
        lost = attributes[0].original.accuracy - attributes[0].private.accuracy
        trade_off = gained + lost
    if utility and kept.perturbed is not None and kept.low is not None:
        useful = min(1.0, utility[0].private.accuracy / utility[0].original.accuracy)
        private = (kept.perturbed + 1.0 - kept.low) / 2.0
        composite = {f"{a:g}": a * useful + (1 - a) * private for a in settings.alphas}
    return Result(
        audience=OWNER,
        kept=kept,
        deniability=deniability_of(writer) if writer else None,
        utility=utility,
        attribute_attacks=attributes,
        word_attacks=guesses.attacks(),
        in_context=() if readers is None else readers.attack.result(),
        masked_word=None if model is None else masked_word.attack(model, hidden),
        trade_off=trade_off,
        composite=composite,
        public_text=None if readers is None else readers.known(),
    )


class _Readers:
    """Lets readers attack new draws of the originals, batch by batch.

    Texts that occur in the public text are left out: one reader has counted them.
    """

    def __init__(self, settings: Settings, writer: Pipeline) -> None:
        readers = available(writer) if settings.readers else []
        if settings.reader not in (None, *(each.name for each in readers)):
            readers.append(context_risk.named(writer, str(settings.reader)))
        self._public, self._counted = settings.public_text, 0
        if self._public is not None:
            pairs = Pairs.of(writer, self._public, self._public.texts)
            readers, self._counted = [*readers, pairs.reader(writer)], pairs.words
        self._occurring = None if self._public is None else self._public.known()
        self._any = bool(readers)
        self.attack = ContextAttack(writer, readers)
        self._randomness = writer.randomness(RunKey.fresh())
        self._records = self._texts = self._repeated = 0

    def add(self, records: Sequence[tuple[str, ...]]) -> None:
        """Attack the texts of further records."""
        if not self._any:
            return
        batch = []
        for number, texts in enumerate(records, self._records):
            unknown = texts
            if self._occurring is not None:
                repeated = self._occurring.hold(texts)
                self._texts += len(texts)
                self._repeated += int(repeated.sum())
                unknown = tuple(
                    text for text, seen in zip(texts, repeated, strict=True) if not seen
                )
            batch.append(Record(number, unknown, None))
        self._records += len(batch)
        self.attack.add(batch, self._randomness)

    def known(self) -> Known | None:
        """Return what one of them knows, if there is a public text."""
        if self._public is None:
            return None
        counts = self._counted, self._texts, self._repeated
        return Known(self._public.name, self._public.digest, *counts)
