"""Evaluates pairs of texts: distortion, classifier accuracy, success of attacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dptext import models
from dptext.attackers.channel import UnigramAttacker
from dptext.attackers.reader import SameKindAttacker
from dptext.errors import UsageError
from dptext.evaluation import OWNER, classify
from dptext.evaluation.attackers import PublicText, learn_kind, text_hash
from dptext.evaluation.classify import LabelTask
from dptext.evaluation.identities import IdentitiesFound, IdentityMeter
from dptext.evaluation.linkage import EXTRA, MOST, LinkageFigures, linkage
from dptext.evaluation.rows import Pair, one_text
from dptext.lexicons import topics
from dptext.measures import context_risk
from dptext.measures.context_risk import ContextAttack, Reading
from dptext.measures.independence import Recurring
from dptext.measures.public import Deniability, measure_deniability, measure_risk
from dptext.metrics import AllMetrics, Batch, Figure
from dptext.metrics.similarity import ENCODER, Similarities
from dptext.models import language
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.run.interface import noun, option
from dptext.run.measures import Measures
from dptext.tokens import kinds
from dptext.tokens.policy import DROP, PERTURB, Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import BudgetKind, Ids, Ints, Lexicon, Record, Words, blocks

_BATCH = 2048
_NEAREST = "guesses that a word was not changed; knows nothing"
COMPOSITE = (
    "alpha * utility + (1 - alpha) * privacy; utility: accuracy on private texts over "
    "accuracy on originals, at most 1; privacy: the mean of PP and 1 - LOW; a measure "
    "of dptext's own, not the PUC of arXiv:2404.03324"
)
_WORDS = (kinds.WORD, kinds.STOP_WORD, kinds.COMMON, kinds.UNKNOWN)
_DEFAULT = Policy()
_MASKED_ASSUMES = (
    "sees the released text and has a masked language model; does not know the "
    "mechanism, ignores the released word itself"
)
_TOGETHER = 32
_WINDOW = 64  # pieces on both sides together
_TOKENS = 256
_GUESSES = 5
# A word that a masked language model guesses from the released text around it: the
# pieces of that text, its position among them, and the original in lower case. It is
# assumed that words are replaced one by one; the model does not know the mechanism, and
# does not look at the released word: a lower limit of the success from context.
HiddenWord = tuple[Sequence[str], int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSettings(Measures):
    """The figures to compute for two files."""

    bayes: bool = True
    #: Public texts of the same kind; one more attacker knows their pairs of words.
    public_text: PublicText | None = None

    @classmethod
    def begin(cls, measures: Measures, **others: Any) -> EvaluationSettings:
        """Build from the metric options of a command."""
        return cls(**(asdict(measures) | others))

    def check(self) -> None:
        """Raise UsageError for missing models, MissingExtra for missing packages."""
        classify.check_classifier(self.classifier)
        if self.labels or self.attributes:
            classify.need_packages(self.classifier)
        elif self.classifier != "tfidf":
            raise UsageError(
                f"{noun('classifier')}: also name the field to predict with "
                f"{option('label')} or {option('attribute')}"
            )
        if self.linkage:
            models.need("sklearn", noun("linkage"), EXTRA)
        if self.encoder is not None:
            models.need_sentence_model(self.encoder, "CS")
        if self.masked_model is not None:
            language.need(self.masked_model, *masked_model())


@dataclass(frozen=True, slots=True)
class AlignedBatch:
    """A batch of texts before and after, with all their words."""

    before: Words
    after: Words
    #: Words that the policy replaces, of texts with equally many words: (m,).
    rows_before: Ints
    #: Their partners, in the same order: (m,).
    rows_after: Ints

    @property
    def ids(self) -> tuple[Ids, Ids]:
        """Return paired words before and after, (m,) each, -1 if unknown."""
        return self.before.ids[self.rows_before], self.after.ids[self.rows_after]


@dataclass(frozen=True, slots=True)
class PairFigures:
    """Figures for pairs of texts.

    A figure is null without words, or with one text where two are needed.
    """

    texts: int
    #: Texts with equally many words before and after.
    compared: int
    #: Number of words that pp and low are computed from.
    words: int
    #: PP, the share of words that changed.
    pp: float | None
    #: LOW, the share of rare words that are still there.
    low: float | None
    #: Mean cosine of an original and its private text: that of metrics, or by a
    #: sentence encoder over all texts.
    mean_cosine: float | None
    #: Name of the encoder of CS.
    encoder: str
    #: Share of words that the lexicon holds, before.
    known_before: float | None
    #: Share of words that the lexicon holds, after.
    known: float | None
    #: Mean cosine of an original and the private text of another row.
    unrelated_cosine: float | None = None
    #: CS, the share of the way from `unrelated_cosine` to equal texts.
    cs: float | None = None
    #: Figures of each metric of the compared texts by its heading, as in the report of
    #: a run.
    metrics: dict[str, dict[str, Figure]] = field(default_factory=dict)


class PairMeter:
    """Computes the metrics of a run over pairs of texts, batch by batch.

    policy: of the run, if known: words that it leaves out have no partner, and
    of the others only replaced words are paired. Words are paired in
    order, in texts with equal word counts before and after. Where words merged
    (two output words that read as one), or another tool wrote the file, the counts
    differ: such texts are left out. Known words are the words of texts that the lexicon
    holds; numbers and identifiers are no words here. Memory does not grow with the
    number of texts but by 8 bytes for each text where an encoder is given.
    """

    def __init__(
        self, lexicon: Lexicon, encoder: str | None = None, policy: Policy = _DEFAULT
    ) -> None:
        # Every kind of word counts here, whatever the policy did with it.
        listed = Policy(keep=policy.keep, mask=policy.mask, forms=policy.forms)
        self._tokenizer = Tokenizer(lexicon, listed, every_word=True)
        self._without_forms = Tokenizer(lexicon, Policy(), every_word=True)
        self._dropped = policy.treatments == DROP
        self._replaced = policy.treatments == PERTURB
        self._metrics = AllMetrics(lexicon)
        self._counted = self._metrics.observe(Batch.empty())
        # Words, and those that the lexicon holds, before and after.
        self._known = np.zeros((2, 2), np.int64)
        self._texts = self._compared = self._words = 0
        self._encoder = encoder
        self._similarities: Similarities | None = None

    def add(self, before: Sequence[str], after: Sequence[str]) -> AlignedBatch:
        """Measure a batch and return its word pairs."""
        one, two = self._tokenizer.words(before), self._tokenizer.words(after)
        kind = one.flags[one.positions] & np.uint8(kinds.KIND)
        remains = ~self._dropped[kind]
        counts = np.bincount(one.texts[remains], minlength=len(before))
        same = counts == np.bincount(two.texts, minlength=len(after))
        rows = np.flatnonzero(remains & same[one.texts])
        use = self._replaced[kind[rows]]
        rows, rows_after = rows[use], np.flatnonzero(same[two.texts])[use]
        self._find_numbers(two, rows_after)
        aligned = AlignedBatch(one, two, rows, rows_after)
        pieces = np.array([*two.pieces, ""], dtype=object)
        paired = one.positions[rows], one.texts[rows], one.ids[rows]
        batch = Batch(
            Words(one.pieces, one.flags, one.ends, *paired),
            written=two.ids[rows_after],
            spelled=pieces[two.positions[rows_after]],
            eps=np.full(len(rows), np.nan),
            first_text=self._texts,
        )
        self._counted = self._metrics.merge(self._counted, self._metrics.observe(batch))
        self._texts += len(before)
        self._compared += int(same.sum())
        self._words += len(rows)
        for known, words in zip(self._known, (one, two), strict=True):
            counted = np.isin(words.flags[words.positions] & kinds.KIND, _WORDS)
            known += counted.sum(), (words.ids[counted] >= 0).sum()
        if self._encoder is not None:
            folder = models.need_sentence_model(self._encoder, "CS")
            encode = models.sentence_model(folder, "cpu").encode
            vectors = (
                np.asarray(encode(list(texts), show_progress_bar=False), np.float64)
                for texts in (before, after)
            )
            later, earlier = Similarities.between(*vectors), self._similarities
            self._similarities = earlier.with_later(later) if earlier else later
        return aligned

    def _find_numbers(self, after: Words, rows: Ints) -> None:
        """Insert the ids of numbers that are written in a recognised form.

        A word was replaced there, so 17:54, for example, is an element of the
        vocabulary.
        """
        for row in rows[after.ids[rows] < 0].tolist():
            position = int(after.positions[row])
            if position in after.formed:
                piece = self._without_forms.words([after.pieces[position].strip()])
                if len(piece.ids) == 1:
                    after.ids[row] = piece.ids[0]

    def result(self) -> PairFigures:
        """Return the figures so far."""
        metrics = self._metrics.results(self._counted)
        near = metrics["CS"]
        if self._encoder is not None:
            near = dict(self._similarities.figures()) if self._similarities else {}
        counts = self._known.tolist()
        before, after = (
            unchanged / words if words else None for words, unchanged in counts
        )
        return PairFigures(
            texts=self._texts,
            compared=self._compared,
            words=self._words,
            pp=_number(metrics["PP"]["share_changed"]),
            low=_number(metrics["LOW"]["share_present"]),
            mean_cosine=_number(near.get("mean_cosine")),
            encoder=self._encoder or ENCODER,
            known_before=before,
            known=after,
            unrelated_cosine=_number(near.get("unrelated_cosine")),
            cs=_number(near.get("share_kept")),
            metrics=metrics,
        )


def _number(figure: Figure) -> float | None:
    assert not isinstance(figure, str)
    return figure


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack on single words."""

    name: str
    #: Share of words guessed right.
    success: float
    words: int
    #: The attacker's knowledge.
    assumes: str
    #: Success that the Bayes risk foretells.
    predicted: float | None = None


@dataclass(frozen=True, slots=True)
class PublicTextUse:
    """A public text as counted by an attacker, and its overlap with private text."""

    file: str
    sha256: str
    #: Number of words with pairs that the attacker knows.
    counted: int
    #: All private texts.
    texts: int
    #: Those that recur in the public text, or nearly: no attacker reads these.
    repeated: int


@dataclass(frozen=True, slots=True)
class Result:
    """All figures from an evaluation."""

    audience: str
    kept: PairFigures
    deniability: Deniability | None
    utility: tuple[LabelTask, ...]
    attribute_attacks: tuple[LabelTask, ...]
    word_attacks: tuple[Attack, ...]
    in_context: tuple[Reading, ...]
    masked_word: MaskedWordFigures | None = None
    #: Accuracy gained or lost on the first label, plus accuracy lost by the adaptive
    #: attack on the first attribute.
    trade_off: float | None = None
    #: Utility and privacy weighed, by alpha.
    composite: dict[str, float] = field(default_factory=dict)
    composite_formula: str = COMPOSITE
    #: The data that each score of a task was trained and tested on.
    meanings: dict[str, str] = field(default_factory=lambda: dict(classify.MEANINGS))
    public_text: PublicTextUse | None = None
    #: Who recognises the row of a text, where that was asked for.
    linkage: tuple[LinkageFigures, ...] = ()
    identities: IdentitiesFound | None = None


def evaluate(
    pairs: Iterable[Pair],
    lexicon: Lexicon,
    settings: EvaluationSettings,
    writer: Pipeline | None = None,
    identities: IdentityMeter | None = None,
    key: RunKey | None = None,
) -> Result:
    """Evaluate private versions of texts; writer is the pipeline, if known.

    key determines the draws that attackers get, None for fresh ones. identities
    searches for values that must not occur in the private texts. Texts are held in
    memory only for labels, attributes and the masked-word attack, and the first ones
    for linkage.
    """
    settings.check()
    tasks: list[LabelTask] = []
    if settings.labels or settings.attributes:
        pairs = list(pairs)
        tasks += _learn(pairs, lexicon, settings)
    released_by = writer
    if writer is not None and topics.topic_meta(writer.lexicon) is not None:
        writer = None  # no word of an output stands for one of an original
    policy = writer.profile.tokens if writer else Policy()
    meter = PairMeter(lexicon, settings.encoder, policy)
    word_attacks = _WordAttacks(writer if settings.bayes else None)
    attackers = _Attackers(settings, writer, key or RunKey.fresh()) if writer else None
    hidden: list[HiddenWord] = []
    sample: list[Pair] = []
    remaining = iter(pairs)
    while batch := list(islice(remaining, _BATCH)):
        aligned = meter.add(
            [text for pair in batch for text in pair.before],
            [text for pair in batch for text in pair.after],
        )
        word_attacks.add(aligned)
        if settings.linkage:
            sample += batch[: MOST - len(sample)]
        if identities is not None:
            identities.add(batch)
        if settings.masked_model is not None:
            hidden += hidden_words(aligned)
        if attackers is not None:
            attackers.add([pair.before for pair in batch])
    kept, model = meter.result(), settings.masked_model
    utility, attributes = tasks[: len(settings.labels)], tasks[len(settings.labels) :]
    trade_off, composite = _weigh(utility, attributes, kept, settings.alphas)
    return Result(
        audience=OWNER,
        kept=kept,
        deniability=measure_deniability(writer) if writer else None,
        utility=tuple(utility),
        attribute_attacks=tuple(attributes),
        word_attacks=word_attacks.results(),
        in_context=attackers.readings() if attackers else (),
        masked_word=None if model is None else guess_masked(model, hidden),
        trade_off=trade_off,
        composite=composite,
        public_text=attackers.public_text_use() if attackers else None,
        linkage=linkage(sample, released_by),
        identities=identities.result() if identities else None,
    )


def _learn(
    pairs: Sequence[Pair], lexicon: Lexicon, settings: EvaluationSettings
) -> Iterator[LabelTask]:
    """Yield the accuracy of a classifier on each label, then on each attribute."""
    before = [one_text(pair.before) for pair in pairs]
    after = [one_text(pair.after) for pair in pairs]
    make = classify.make_classifier(settings.classifier, lexicon)
    how = settings.classifier, make, settings.splits
    for number, name in enumerate((*settings.labels, *settings.attributes)):
        values = [pair.values[number] for pair in pairs]
        yield classify.learn(name, values, before, after, *how)


def _weigh(
    utility: Sequence[LabelTask],
    attributes: Sequence[LabelTask],
    kept: PairFigures,
    alphas: Sequence[float],
) -> tuple[float | None, dict[str, float]]:
    """Return the trade-off and the composite by alpha; None and empty if undefined."""
    trade_off, composite = None, {}
    if utility and attributes:
        gained = utility[0].private.accuracy - utility[0].original.accuracy
        difference = attributes[0].original.accuracy - attributes[0].private.accuracy
        trade_off = gained + difference
    # Where originals teach nothing, there is no share of it to keep.
    best = utility[0].original.accuracy if utility else 0.0
    if best and kept.pp is not None and kept.low is not None:
        useful = min(1.0, utility[0].private.accuracy / best)
        private = (kept.pp + 1.0 - kept.low) / 2.0
        composite = {f"{a:g}": a * useful + (1 - a) * private for a in alphas}
    return trade_off, composite


class _WordAttacks:
    """Counts how often a written word alone reveals its original, batch by batch.

    Nearest guess: the written word is taken as the original. Bayes: the most likely
    original of a drawn word, as for the Bayes risk; it needs a writer with exact
    log-probabilities and one epsilon that writes the drawn words. Words outside the
    vocabulary are not attacked, and all numbers of an element are one word.
    """

    def __init__(self, writer: Pipeline | None) -> None:
        exact = (
            writer is not None
            and writer.mechanism.has_log_probs
            and not writer.profile.decoder.params.reads
            and writer.budget.description.kind is BudgetKind.WORD
        )
        self._writer = writer if exact else None
        self._words = self._same = self._right = 0
        if self._writer is not None:
            channel = self._writer.channel
            epsilon, prior = channel.budget.high, np.append(channel.prior, 0.0)
            rows = channel.candidates(epsilon, 1, prior).rows[:, 0]
            # Words that are never drawn, as another tool may write, are guessed wrong.
            self._guesses: Ids = np.full(len(channel.prior), -1, np.int32)
            self._guesses[: len(rows)] = rows

    def add(self, aligned: AlignedBatch) -> None:
        """Attack a batch."""
        pairs = np.stack(aligned.ids)
        before, after = pairs[:, (pairs >= 0).all(axis=0)]
        self._words += len(before)
        self._same += int((before == after).sum())
        if self._writer is not None:
            self._right += int((self._guesses[after] == before).sum())

    def results(self) -> tuple[Attack, ...]:
        """Return the success rates of the attacks, empty without words."""
        words = self._words
        if not words:
            return ()
        attacks = [Attack("nearest guess", self._same / words, words, _NEAREST)]
        if self._writer is not None:
            risk, _ = measure_risk(self._writer)
            right, assumes = self._right / words, UnigramAttacker.assumes
            attack = Attack("Bayes", right, words, assumes)
            attacks.append(replace(attack, predicted=risk.success if risk else None))
        return tuple(attacks)


class _Attackers:
    """Runs attackers on new draws of the originals, batch by batch.

    Texts that recur in the public text, even nearly, are left out: one attacker has
    counted them.
    """

    def __init__(
        self, settings: EvaluationSettings, writer: Pipeline, key: RunKey
    ) -> None:
        attackers = context_risk.available(writer) if settings.attackers else []
        if settings.attacker not in (None, *(each.name for each in attackers)):
            attackers.append(context_risk.named(writer, str(settings.attacker)))
        self._public, self._counted = settings.public_text, 0
        self._occurring: frozenset[int] = frozenset()
        self._recurring = Recurring()
        if self._public is not None:
            kind, self._counted = learn_kind(writer, self._public, self._public.texts)
            attackers.append(SameKindAttacker(writer.channel, kind))
            self._occurring = self._public.hashes()
            self._recurring = self._public.recurring()
        # Drawing anew costs as much as the run did: only where attackers attack.
        self.attack = ContextAttack(writer, attackers, written=bool(attackers))
        self._randomness = writer.randomness(key)
        self._records = self._texts = self._repeated = 0

    def add(self, records: Sequence[tuple[str, ...]]) -> None:
        """Attack the texts of more records."""
        batch = []
        for number, texts in enumerate(records, self._records):
            unknown = texts
            if self._occurring:
                recurs = self._recurring.among(texts)
                unknown = tuple(
                    text
                    for text, known in zip(texts, recurs, strict=True)
                    if not known and text_hash(text) not in self._occurring
                )
            self._texts += len(texts)
            self._repeated += len(texts) - len(unknown)
            batch.append(Record(number, unknown, None))
        self._records += len(batch)
        self.attack.add(batch, self._randomness)

    def readings(self) -> tuple[Reading, ...]:
        """Return the success of attackers; the first takes words as written."""
        written = self.attack.written()
        readings = self.attack.result()
        return readings if written is None else (written, *readings)

    def public_text_use(self) -> PublicTextUse | None:
        """Return how the public text was used, or None."""
        if self._public is None:
            return None
        counts = self._counted, self._texts, self._repeated
        return PublicTextUse(self._public.name, self._public.digest, *counts)


@dataclass(frozen=True, slots=True)
class MaskedWordFigures:
    """Success of a masked language model at guessing the originals of words."""

    model: str
    #: Share of words that its first guess hits.
    first: float
    #: Share of words that one of its first five guesses hits.
    first_five: float
    #: Words that were asked for. A word of several tokens of the model counts as
    #: missed.
    words: int
    assumes: str = _MASKED_ASSUMES


def hidden_words(aligned: AlignedBatch) -> list[HiddenWord]:
    """Return the words to guess, with their contexts."""
    before, after = aligned.before, aligned.after
    starts = [0, *after.ends.tolist()]
    pieces = [after.pieces[begin:end] for begin, end in pairwise(starts)]
    at = before.positions[aligned.rows_before], after.positions[aligned.rows_after]
    texts = after.texts[aligned.rows_after]
    return [
        (pieces[text], new - starts[text], before.pieces[old].strip(" ").lower())
        for old, new, text in np.stack((*at, texts), axis=1).tolist()
    ]


def masked_model() -> tuple[str, str, language.ModelHead]:
    """Return the option, feature and head of the masked language model, for errors."""
    return noun("masked-model"), "the masked-word attack", language.MASKED


def guess_masked(
    folder: str, words: Sequence[HiddenWord], most: int = 2000
) -> MaskedWordFigures | None:
    """Attack at most `most` evenly chosen words; None if there are no words.

    folder: a local Hugging Face model; nothing is downloaded. Raises UsageError
    if there is no model, MissingExtra without the library.
    """
    setting, feature, head = masked_model()
    torch = models.package("torch", feature, "semantic")
    folder = language.need(folder, setting, feature, head)
    tokenizer = language.load_tokenizer(folder, setting, head)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = language.load_network(folder, setting, device, head)
    chosen = np.linspace(0, len(words) - 1, min(most, len(words))).astype(int)
    asked = [
        (_masked_text(tokenizer.mask_token, pieces, position), word)
        for pieces, position, word in (words[n] for n in np.unique(chosen))
    ]
    if not asked:
        return None
    asked.sort(key=lambda item: len(item[0]))
    first = five = 0
    for part in blocks(len(asked), _TOGETHER):
        texts, truth = zip(*asked[part], strict=True)
        options = {"padding": True, "truncation": True, "max_length": _TOKENS}
        encoded = tokenizer([*texts], **options, return_tensors="pt").to(model.device)
        with torch.inference_mode():
            logits = model(**encoded).logits
        masks = (encoded["input_ids"] == tokenizer.mask_token_id).int()
        rows = torch.arange(len(texts), device=model.device)
        best = logits[rows, masks.argmax(dim=1)].topk(_GUESSES, dim=1).indices.tolist()
        inside = masks.sum(1).tolist()  # a mask may be cut off
        for tokens, shown, word in zip(best, inside, truth, strict=True):
            guesses = [tokenizer.decode([t]).strip().lower() for t in tokens if shown]
            first += guesses[:1] == [word]
            five += word in guesses
    return MaskedWordFigures(
        Path(folder).name, first / len(asked), five / len(asked), len(asked)
    )


def _masked_text(mask: str, pieces: Sequence[str], position: int) -> str:
    begin = max(0, min(position - _WINDOW // 2, len(pieces) - _WINDOW))
    shown = list(pieces[begin : begin + _WINDOW])
    # A piece holds the space in front of it.
    space = " " if shown[position - begin].startswith(" ") else ""
    shown[position - begin] = space + mask
    return "".join(shown)
