"""Measures of perturbed texts, from N_w to accuracy."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.private_rows import DATA
from benchmarks.published.corpora import Corpus, Ids

WORDS, RUNS, ENCODED = 50, 100, 80
Row = dict[str, Any]
Change = Callable[[Ids, float], Ids]


def rarest(texts: Sequence[Ids]) -> list[int]:
    """Return the 1000 least frequent words, ties by first appearance."""
    times = Counter(word for text in texts for word in text.tolist())
    return sorted(times, key=lambda word: times[word])[:1000]


def split(flat: Ids, texts: Sequence[Ids]) -> list[Ids]:
    """Divide the draws for all texts into texts."""
    return np.split(flat, np.cumsum([len(text) for text in texts])[:-1])


@functools.cache
def english() -> frozenset[str]:
    """Return NLTK's list of English words."""
    folder = DATA / "nltk_data" / "corpora" / "words"
    return frozenset(
        word
        for name in ("en", "en-basic")
        for word in (folder / name).read_text("utf-8").split()
    )


@functools.cache
def encoder(folder: Path) -> Any:
    """Load the sentence encoder of a folder."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu")


@functools.cache
def encoded(folder: Path, texts: tuple[str, ...]) -> np.ndarray[Any, Any]:
    """Return the directions of texts."""
    return np.asarray(encoder(folder).encode(list(texts), normalize_embeddings=True))


def deniability(corpus: Corpus, change: Change, epsilon: float) -> Row:
    """Return N_w and S_w over 50 random words with vectors, 100 runs each.

    spread is the standard deviation that a mean over 25 words has.
    """
    rng = np.random.default_rng(1)
    words = rng.choice(np.flatnonzero(corpus.known), WORDS, replace=False)
    drawn = change(np.repeat(words, RUNS), epsilon).reshape(WORDS, RUNS)
    same = 100.0 * (drawn == words[:, None]).mean(axis=1)
    others = [
        len(set(row.tolist()) - {word})
        for row, word in zip(drawn, words.tolist(), strict=True)
    ]
    return {
        "N_w": float(same.mean()),
        "N_w_spread": float(same.std() / 5.0),
        "S_w": float(np.mean(others)),
        "S_w_spread": float(np.std(others) / 5.0),
    }


def joined_texts(words: Sequence[str], texts: Sequence[Ids]) -> list[str]:
    """Write texts; a word that is not in the training texts is written as one sign."""
    return [" ".join(words[row] if row >= 0 else "?" for row in text) for text in texts]


def measure_texts(
    corpus: Corpus, words: Sequence[str], after: list[Ids], model: Path | None
) -> Row:
    """Return PP, LOW by both readings, the English share and CS of training texts."""
    before, flat = np.concatenate(corpus.train), np.concatenate(after)
    rare, rare_after = set(rarest(corpus.train)), set(rarest(after))
    listed = english()
    share = np.mean([words[row] in listed for row in flat.tolist()])
    row: Row = {
        "PP": 100.0 * float((before != flat).mean()),
        "LOW": 100.0 * len(rare & rare_after) / len(rare),
        "present": 100.0 * len(rare & set(flat.tolist())) / len(rare),
        "english": 100.0 * float(share),
    }
    if model:
        one = encoded(model, tuple(joined_texts(corpus.words, corpus.train[:ENCODED])))
        other = encoder(model).encode(
            joined_texts(words, after[:ENCODED]), normalize_embeddings=True
        )
        cosines = np.einsum("rd,rd->r", one, np.asarray(other))
        row |= {"CS": 100.0 * float(cosines.mean())}
        row |= {"CS_spread": 100.0 * float(cosines.std() / ENCODED**0.5)}
    return row


def accuracy(corpus: Corpus, words: Sequence[str], change: list[list[Ids]]) -> Row:
    """Return the accuracy of logistic regression trained and tested on the draws.

    TF-IDF of words, and mean GloVe vectors.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    train, test = (joined_texts(words, texts) for texts in change)
    features = TfidfVectorizer(min_df=2, sublinear_tf=True)
    model = LogisticRegression(C=3.0, max_iter=300)
    model.fit(features.fit_transform(train), corpus.labels[0])
    tfidf = model.score(features.transform(test), corpus.labels[1])
    # Outputs other than the corpus's words, and unknown words, have no vector.
    table = np.zeros((len(words) + 1, corpus.vectors.shape[1]))
    table[: len(corpus.vectors)] = corpus.vectors
    one, other = (np.array([table[t].mean(axis=0) for t in part]) for part in change)
    centre, scale = one.mean(axis=0), one.std(axis=0) + 1e-9
    model = LogisticRegression(C=0.3, max_iter=300)
    model.fit((one - centre) / scale, corpus.labels[0])
    means = model.score((other - centre) / scale, corpus.labels[1])
    return {"tfidf": 100.0 * float(tfidf), "means": 100.0 * float(means)}
