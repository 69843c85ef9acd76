"""What of marked values, of words and of meaning is left in private texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks import perplexity
from benchmarks.identities.corpora import Marked, chance_of_equal
from dptext import models
from dptext.attackers import ngrams
from dptext.attackers.reader import SameKindAttacker
from dptext.evaluation.identities import Identities, IdentityMeter, folded_words
from dptext.evaluation.rows import Pair
from dptext.lexicons import find
from dptext.measures.context_risk import SAME_KIND, ContextAttack
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Record

_TOGETHER = 2048
_CORPORA = {"reviews": "customer reviews", "news": "news"}


def standing(
    given: Marked, private: Sequence[str], common: Collection[str], *, computed: bool
) -> dict[str, Any]:
    """Count the values of each kind that stand in private texts.

    computed: with the mean chance that a random value of the same form is equal.
    """
    kinds: defaultdict[str, list[tuple[str, str | None]]] = defaultdict(list)
    for number, kind, value in given.values:
        kinds[kind].append((value, str(number)))
    pairs = [
        Pair((before,), (after,), (), str(number))
        for number, (before, after) in enumerate(
            zip(given.texts, private, strict=True), 1
        )
    ]
    found = {}
    for kind, values in kinds.items():
        meter = IdentityMeter(Identities.prepare(values, common))
        for begin in range(0, len(pairs), _TOGETHER):
            meter.add(pairs[begin : begin + _TOGETHER])
        result = meter.result()
        found[kind] = {
            "values": result.occurrences,
            "whole": rounded(asdict(result.whole)),
            "in_part": rounded(asdict(result.in_part)),
        }
        if computed:
            each = (chance_of_equal(kind, value) for value, _ in values)
            chances = [chance for chance in each if chance is not None]
            mean = float(f"{np.mean(chances):.2g}") if chances else None
            found[kind]["random_equal"] = mean
    return found


def rounded(figures: dict[str, Any]) -> dict[str, Any]:
    """Round shares to hundredths of a percent."""
    return {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in figures.items()
    }


def words_unchanged(before: Sequence[str], after: Sequence[str]) -> float:
    """Return the share of words that stand in the private texts in the same order."""
    same = total = 0
    for one, two in zip(before, after, strict=True):
        words = folded_words(one)
        same += common_length(words, folded_words(two))
        total += len(words)
    return round(same / max(total, 1), 4)


def common_length(one: Sequence[str], two: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, all rows of bits at once.

    Hyyro 2004: bit n of `open_` is 0 where the nth word of one has a partner.
    """
    places: defaultdict[str, int] = defaultdict(int)
    for position, word in enumerate(one):
        places[word] |= 1 << position
    full = (1 << len(one)) - 1
    open_ = full
    for word in two:
        here = open_ & places.get(word, 0)
        open_ = (open_ + here | open_ - here) & full
    return len(one) - open_.bit_count()


def perplexities(texts: Sequence[str], model: str) -> dict[str, float | None]:
    """Return the perplexity per word by pairs of words, and by a causal model."""
    by_network = perplexity.by_network(texts, model) if model else None
    return {
        "by_pairs": round(perplexity.by_pairs(texts), 1),
        "by_model": None if by_network is None else round(by_network, 1),
    }


def cosines(before: Sequence[str], after: Sequence[str]) -> dict[str, float] | None:
    """Return the mean cosine of texts and their private versions, and of other rows.

    By all-MiniLM-L6-v2; None where it is not installed.
    """
    if models.sentence_path(models.PACKAGE) is None:
        return None
    folder = models.need_sentence_model(models.PACKAGE, "the cosine")
    encode = models.sentence_model(folder, "cpu").encode
    one, two = (
        np.asarray(encode(list(each), normalize_embeddings=True), np.float64)
        for each in (before, after)
    )
    same = float((one * two).sum(axis=1).mean())
    others = float((one * np.roll(two, 1, axis=0)).sum(axis=1).mean())
    return {"same": round(same, 3), "other_rows": round(others, 3)}


def accuracy(texts: Sequence[str], labels: Sequence[Any]) -> float:
    """Return the accuracy of TF-IDF and logistic regression, on the last quarter."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    split = len(texts) * 3 // 4
    words = TfidfVectorizer(min_df=2, sublinear_tf=True)
    features = words.fit_transform(texts[:split])
    model = LogisticRegression(C=3.0, max_iter=300).fit(features, labels[:split])
    return round(float(model.score(words.transform(texts[split:]), labels[split:])), 4)


def reader_of_the_kind(
    pipeline: Pipeline, name: str, texts: Sequence[str], seed: int
) -> dict[str, Any] | None:
    """Return how many of the replaced words the reader of the kind finds.

    None for mechanisms without an output distribution.
    """
    from tools.attackers import KINDS, counted

    if not pipeline.mechanism.has_log_probs:
        return None
    shipped = ngrams.find_model(ngrams.ENGLISH, pipeline.channel)
    kind = counted(KINDS[_CORPORA[name]], pipeline).kind(shipped)
    reader = SameKindAttacker(pipeline.channel, kind)
    attack = ContextAttack(pipeline, [reader])
    records = [Record(number, (text,), None) for number, text in enumerate(texts)]
    attack.add(records, pipeline.randomness(RunKey.from_seed(seed)))
    for reading in attack.result():
        if reading.attacker == SAME_KIND:
            first = reading.classes[0]
            figures = {"found": first.success, "low": first.low, "high": first.high}
            return rounded({**figures, "words": first.words})
    return None


def lexicon_digest() -> str:
    """Return the digest of the built-in lexicon, which tells the common words."""
    return find("builtin").digest[:12]
