"""Builds topics from public text: k-means of text vectors, and words for each topic.

Part of the texts is held out, to measure how stable topics are and, if
there are labels, how well a classifier works at each epsilon. Nothing here may see
a private text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dptext import lexicons, views
from dptext.errors import UsageError
from dptext.lexicons import public_rows, topics
from dptext.lexicons.topics import (
    Kept,
    LabelClassifier,
    PublicSource,
    TopicFile,
    TopicsOfSize,
)
from dptext.models import package
from dptext.run.interface import noun
from dptext.settings import digest_of_data
from dptext.tokens import kinds, numbers
from dptext.tokens.language_data import stop_words
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Floats, Ids, Ints, JsonObject, Lexicon, Mask

# Epsilons of a whole text at which the use of topics is measured.
EPSILONS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0)
# Texts of a topic, on average, below which its words are those of few people.
_LEAST = 10
# Share of the texts that is held out, and the most that are measured.
_HELD_OUT, _MOST = 0.2, 5000
# A telling word occurs in so many texts of its topic, unless too few words do.
_OCCURS = 5
_ITERATIONS, _STARTS, _SEED = 25, 3, 1
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class PublicTexts:
    """Public texts with their source and labels, if any."""

    texts: Sequence[str]
    labels: Sequence[str] | None = None
    sources: tuple[PublicSource, ...] = ()


def build(
    name: str,
    public: PublicTexts,
    sizes: Sequence[int],
    view_settings: JsonObject,
) -> TopicFile:
    """Build topics of each size from public texts.

    Raises UsageError for too few texts, or unsuitable sizes.
    """
    _check(public, sizes)
    view = views.prepare(view_settings)
    lexicon = lexicons.find(str(view_settings.get("lexicon", "builtin")))
    vectors = view.vectors(public.texts)
    train, held = _split(public.texts)
    classes, original = _classes(public, vectors, train, held)
    made = {}
    for size in sorted(sizes):
        centres, labels = _centres(public, vectors[train], train, size)
        centres = np.round(centres, _DIGITS)
        arrays = None if classes is None else classes.arrays(labels)
        near = topics.TopicSearch(centres, arrays)
        rows = near.find(vectors)
        counts = np.bincount(rows[train], minlength=size)
        words = _telling(
            lexicon, [public.texts[row] for row in train], rows[train], size
        )
        made[str(size)] = TopicsOfSize(
            centres=tuple(tuple(_round(row)) for row in centres),
            words=words,
            counts=tuple(int(count) for count in np.maximum(counts, 1)),
            labels=labels,
            halves=_halves(view, near, [public.texts[row] for row in held]),
            kept=tuple(
                _kept(
                    public, rows, train=train, held=held, size=size, original=original
                )
            ),
        )
    return TopicFile(
        format=topics.FORMAT,
        name=name,
        language=lexicon.language,
        view=dict(view_settings),
        view_content=dict(view.content),
        public=public.sources,
        sizes=made,
        rows=public_rows.row_digests(public.texts),
        classes=classes,
    )


def _check(public: PublicTexts, sizes: Sequence[int]) -> None:
    count = len(public.texts)
    if not sizes or min(sizes) < 2:
        raise UsageError(f"{noun('sizes')}: give numbers of at least 2, as in 4,16,64")
    if count < _LEAST * max(sizes):
        raise UsageError(
            f"{noun('sizes')}: {max(sizes)} topics need {_LEAST * max(sizes):,} "
            "public texts, "
            f"and there are {count:,}; give more texts or smaller sizes"
        )
    if public.labels is not None and min(sizes) < len(set(public.labels)):
        raise UsageError(
            f"{noun('label')}: there are {len(set(public.labels))} labels, so sizes "
            "must be at least that many"
        )


def _split(texts: Sequence[str]) -> tuple[Ints, Ints]:
    """Split texts into training and held-out rows.

    The split depends on content, so that copies of a text are on one side.
    """
    digests = [digest_of_data(" ".join(text.lower().split())) for text in texts]
    order = np.array([int(each[:12], 16) for each in digests], np.int64)
    is_held = order < np.quantile(order, _HELD_OUT)
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)[:_MOST]


def _centres(
    public: PublicTexts, vectors: Floats, train: Ints, size: int
) -> tuple[Floats, tuple[str, ...]]:
    """Return centres (size, d), and each centre's label if there are labels."""
    if public.labels is None:
        return _k_means(vectors, size), ()
    labels = [public.labels[row] for row in train]
    counts = Counter(labels)
    names = sorted(counts, key=lambda label: (-counts[label], label))
    parts = _shares([counts[label] for label in names], size)
    of_label = np.array(labels, object)
    centres = [
        _k_means(vectors[of_label == label], part)
        for label, part in zip(names, parts, strict=True)
    ]
    repeated = np.repeat(np.array(names, object), parts).tolist()
    return np.concatenate(centres), tuple(map(str, repeated))


def _shares(counts: Sequence[int], size: int) -> list[int]:
    """Divide a number of topics among labels in proportion, at least one each."""
    parts = [1] * len(counts)
    for _ in range(size - len(counts)):
        neediest = max(range(len(counts)), key=lambda row: counts[row] / parts[row])
        parts[neediest] += 1
    return parts


def _k_means(vectors: Floats, size: int) -> Floats:
    """Cluster vectors by k-means; return the centres: (n, d) -> (size, d)."""
    if size == 1:
        return np.asarray(vectors.mean(axis=0, keepdims=True))
    import faiss

    rows = np.ascontiguousarray(vectors, np.float32)
    model = faiss.Kmeans(
        rows.shape[1],
        size,
        niter=_ITERATIONS,
        nredo=_STARTS,
        seed=_SEED,
        min_points_per_centroid=1,
        max_points_per_centroid=max(256, -(-len(rows) // size)),
    )
    model.train(rows)
    return np.asarray(model.centroids, np.float64)


def _classes(
    public: PublicTexts, vectors: Floats, train: Ints, held: Ints
) -> tuple[LabelClassifier | None, float]:
    """Train a classifier of the labels; return it and its held-out accuracy."""
    if public.labels is None:
        return None, 0.0
    labels = np.array(public.labels, object)
    linear = package("sklearn.linear_model", noun("label"), "evaluate")
    model = linear.LogisticRegression(max_iter=1000, C=10.0)
    model.fit(vectors[train], labels[train].astype(str))
    names = [str(name) for name in model.classes_]
    weights = np.asarray(model.coef_, np.float64)
    constants = np.asarray(model.intercept_, np.float64)
    if len(names) == 2:  # one row tells the second class from the first
        weights = np.vstack((-weights, weights))
        constants = np.concatenate((-constants, constants))
    accuracy = float(model.score(vectors[held], labels[held].astype(str)))
    rows = tuple(tuple(_round(row)) for row in weights)
    return LabelClassifier(tuple(names), rows, tuple(_round(constants))), accuracy


def _round(row: Floats) -> list[float]:
    """Round to six decimal places, to keep the file small."""
    rounded: list[float] = np.round(row, _DIGITS).tolist()
    return rounded


def _telling(
    lexicon: Lexicon, texts: Sequence[str], rows: Ids, size: int
) -> tuple[tuple[str, ...], ...]:
    """Choose words to describe each topic, with no two topics described alike.

    They maximise p(w | topic) ln(p(w | topic) / p(w)) among content words found in
    several texts of the topic.
    """
    counts = _occurrences(lexicon, texts, rows, size)
    counts[:, ~_usable(lexicon)] = 0.0
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    overall = counts.sum(axis=0) / max(counts.sum(), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = shares * np.log(shares / overall)
    worth = np.where(counts >= _OCCURS, worth, np.nan_to_num(worth) * 1e-6)
    worth[~np.isfinite(worth)] = 0.0
    chosen: list[tuple[str, ...]] = []
    used: set[str] = set()
    for topic in range(size):
        order = np.argsort(-worth[topic], kind="stable")
        first = [lexicon.words[row] for row in order[: topics.TELLING].tolist()]
        # Where a topic has few words, as an empty one has, any other will do.
        later = (lexicon.words[row] for row in order[topics.TELLING :].tolist())
        while ", ".join(first).lower() in used:
            first[-1] = next(later)
        used.add(", ".join(first).lower())
        chosen.append(tuple(first))
    return tuple(chosen)


def _usable(lexicon: Lexicon) -> Mask:
    """Return a mask of descriptive words: no stop words, numbers or letters."""
    stop = stop_words(lexicon.language)
    usable = [
        len(word) > 2 and word.isalpha() and word.lower() not in stop
        for word in lexicon.words
    ]
    rows = np.array(usable, bool)
    rows[numbers.rows(lexicon)] = False
    return rows


def _occurrences(
    lexicon: Lexicon, texts: Sequence[str], rows: Ids, size: int
) -> Floats:
    """Count the texts of each topic that contain each word: (size, V)."""
    tokenizer = Tokenizer(lexicon, Policy())
    counts = np.zeros((size, len(lexicon.words)))
    for begin in range(0, len(texts), 512):
        words = tokenizer.words(texts[begin : begin + 512])
        flags = words.flags[words.positions] & kinds.KIND
        known = (words.ids >= 0) & (flags != kinds.NUMBER)
        pairs = np.stack((words.texts[known], words.ids[known]), axis=1)
        pairs = np.unique(pairs, axis=0)
        np.add.at(counts, (rows[begin + pairs[:, 0]], pairs[:, 1]), 1.0)
    return counts


def _halves(view: views.View, near: topics.TopicSearch, texts: Iterable[str]) -> float:
    """Return how often both halves of a text have the same topic."""
    first, second = [], []
    for text in texts:
        words = text.split()
        first.append(" ".join(words[::2]))
        second.append(" ".join(words[1::2]))
    if not first:
        return 0.0
    same = near.find(view.vectors(first)) == near.find(view.vectors(second))
    return float(same.mean())


def channel(size: int, epsilon: float) -> Floats:
    """Return P(written topic | nearest topic) under randomised response: (K, K)."""
    odds = np.exp(epsilon)
    law = np.full((size, size), 1.0 / (odds + size - 1.0))
    np.fill_diagonal(law, odds / (odds + size - 1.0))
    return law


def _kept(
    public: PublicTexts,
    rows: Ids,
    train: Ints,
    held: Ints,
    size: int,
    original: float,
) -> Iterable[Kept]:
    """Yield an attacker's exact accuracy on the labels at each epsilon.

    The attacker has labelled public texts and knows the draw probabilities.
    """
    if public.labels is None:
        return
    names, codes = np.unique(
        np.array(public.labels, object).astype(str), return_inverse=True
    )
    joint = np.zeros((size, len(names)))
    np.add.at(joint, (rows[train], codes[train]), 1.0)
    chance = float(np.bincount(codes[held]).max() / len(held))
    for epsilon in EPSILONS:
        law = channel(size, epsilon)
        best = (law.T @ joint).argmax(axis=1)
        right = law[rows[held]][best[None, :] == codes[held][:, None]].sum()
        yield Kept(epsilon, original, float(right / len(held)), chance)
