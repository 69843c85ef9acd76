"""Evaluate pairs of texts: what is kept, what a classifier gains, what attacks find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from dptext.adversaries import masked_word, prior, words
from dptext.evaluation import OWNER, classify
from dptext.evaluation.classify import Baseline, Task
from dptext.evaluation.rows import Pair
from dptext.evaluation.words import Kept, Meter
from dptext.pipeline import Pipeline
from dptext.report.assemble import deniability_of
from dptext.report.document import Deniability
from dptext.tokens import kinds
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Ids, Lexicon

_BATCH = 2048
COMPOSITE = (
    "alpha * utility + (1 - alpha) * privacy; utility: accuracy on private texts over "
    "accuracy on originals, at most 1; privacy: the mean of PP and 1 - LOW"
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What to evaluate besides the texts; labels and attributes are field names."""

    labels: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    classifier: str = "tfidf"
    splits: int = 3
    alphas: tuple[float, ...] = (0.25, 0.5, 0.75)
    encoder: str | None = None
    masked_model: str | None = None
    attack_words: int = 20_000
    bayes: bool = True


@dataclass(frozen=True, slots=True)
class Composite:
    """One weighing of utility and privacy."""

    alpha: float
    value: float


@dataclass(frozen=True, slots=True)
class Result:
    """All figures; trade_off is the change in utility plus the change in privacy.

    That is accuracy gained or lost on the first label plus what the adaptive attack on
    the first attribute has lost (the sensitivity thesis's measure).
    """

    audience: str
    kept: Kept
    deniability: Deniability | None
    utility: tuple[Task, ...]
    attribute_attacks: tuple[Task, ...]
    word_attacks: tuple[words.Attack, ...]
    masked_word: masked_word.Guessed | None
    trade_off: float | None
    composite: tuple[Composite, ...]
    composite_formula: str = field(default=COMPOSITE)


@dataclass(frozen=True)
class Evaluation:
    """The originals made ready: baselines are trained once for all private versions."""

    lexicon: Lexicon
    settings: Settings
    texts: tuple[str, ...]
    utility: tuple[Baseline, ...]
    attributes: tuple[Baseline, ...]

    @classmethod
    def of(
        cls,
        lexicon: Lexicon,
        settings: Settings,
        texts: Sequence[str],
        values: Sequence[Sequence[str | None]],
    ) -> Evaluation:
        """Train the baselines; values of each text: of its labels, then attributes."""
        make = classify.classifier(settings.classifier, lexicon)
        named = (*settings.labels, *settings.attributes)
        found = []
        for number, name in enumerate(named):
            column = [str(row[number]) for row in values]
            found.append(
                Baseline.of(
                    name, texts, column, settings.classifier, make, settings.splits
                )
            )
        cut = len(settings.labels)
        return cls(
            lexicon, settings, tuple(texts), tuple(found[:cut]), tuple(found[cut:])
        )

    def against(self, private: Sequence[str], made: Pipeline | None = None) -> Result:
        """Evaluate one private version; made is what wrote it, if that is known."""
        meter = Meter(self.lexicon, self.settings.encoder)
        both = zip(self.texts, private, strict=True)
        while batch := list(islice(both, _BATCH)):
            meter.add([b for b, _ in batch], [a for _, a in batch])
        kept = meter.result()
        utility = tuple(each.against(private) for each in self.utility)
        attacks = tuple(each.against(private) for each in self.attributes)
        return Result(
            audience=OWNER,
            kept=kept,
            deniability=deniability_of(made) if made else None,
            utility=utility,
            attribute_attacks=attacks,
            word_attacks=_word_attacks(self, private, made),
            masked_word=_masked(self, private),
            trade_off=_trade_off(utility, attacks),
            composite=_composite(self.settings, kept, utility),
        )


def evaluate(
    pairs: Sequence[Pair],
    lexicon: Lexicon,
    settings: Settings,
    made: Pipeline | None = None,
) -> Result:
    """Evaluate a private version of texts."""
    texts = [pair.before for pair in pairs]
    values = [pair.values for pair in pairs]
    ready = Evaluation.of(lexicon, settings, texts, values)
    return ready.against([pair.after for pair in pairs], made)


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


def _aligned(
    evaluation: Evaluation, private: Sequence[str], policy: Policy
) -> tuple[Ids, Ids]:
    """Return the rows of words before and after, of texts with equally many words.

    Words that the policy replaces and that the vocabulary holds, before and after.
    """
    tokenizer = Tokenizer(evaluation.lexicon, Policy())
    before: list[Ids] = []
    after: list[Ids] = []
    done = 0
    replaced = [policy.treatment(kind) == 0 for kind in range(8)]
    for begin in range(0, len(private), _BATCH):
        one = tokenizer.words(evaluation.texts[begin : begin + _BATCH])
        two = tokenizer.words(private[begin : begin + _BATCH])
        counts = [np.bincount(w.texts, minlength=len(w.ends)) for w in (one, two)]
        same = counts[0] == counts[1]
        kind = one.flags[one.places] & kinds.KIND
        mine, other = same[one.texts], same[two.texts]
        use = np.array(replaced)[kind[mine]]
        x, y = one.ids[mine][use], two.ids[other][use]
        known = (x >= 0) & (y >= 0)
        before.append(x[known])
        after.append(y[known])
        done += int(known.sum())
        if done >= evaluation.settings.attack_words:
            break
    most = evaluation.settings.attack_words
    none = [np.empty(0, np.int32)]
    return (
        np.concatenate(before or none)[:most],
        np.concatenate(after or none)[:most],
    )


def _word_attacks(
    evaluation: Evaluation, private: Sequence[str], made: Pipeline | None
) -> tuple[words.Attack, ...]:
    policy = made.profile.tokens if made else Policy()
    before, after = _aligned(evaluation, private, policy)
    if not len(before):
        return ()
    found = [words.nearest(before, after)]
    if not evaluation.settings.bayes or made is None:
        return tuple(found)
    exact = made.channel.exact and made.spending.kind == "word"
    if exact and made.lexicon is evaluation.lexicon:
        public = prior.replaced(made.lexicon, policy)
        epsilon = made.spending.high
        found.append(words.bayes(made.channel, epsilon, public, before, after))
    return tuple(found)


def _masked(
    evaluation: Evaluation, private: Sequence[str]
) -> masked_word.Guessed | None:
    folder = evaluation.settings.masked_model
    if folder is None:
        return None
    both = zip(evaluation.texts, private, strict=True)
    split = [(b.split(), a.split()) for b, a in both]
    return masked_word.attack(folder, split, evaluation.settings.attack_words)
