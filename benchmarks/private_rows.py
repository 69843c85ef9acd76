"""Rows of the test data, made private, and what classifiers and taggers find in them.

Shared by the scripts here. Reads text/ and nltk_data/ of the test data
(DPTEXT_TEST_DATA, else ../shared/data).
"""

from __future__ import annotations

import functools
import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext import pipeline
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Ids, Record

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("DPTEXT_TEST_DATA", ROOT.parent / "shared" / "data"))
TEXTS = DATA / "text"
# Texts; the words (n,) that stand in them, -1 for unknown; the text (n,) of each.
Words = tuple[list[str], NDArray[Any], NDArray[Any]]


@functools.cache
def read_rows(file: str) -> list[dict[str, Any]]:
    """Read a text file of the test data, in a fixed mixed order."""
    with gzip.open(TEXTS / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    order = np.random.default_rng(0).permutation(len(rows))
    return [rows[position] for position in order.tolist()]


def privatized(
    sanitizer: Pipeline, texts: Sequence[str], seed: int, *, written: bool = False
) -> Words:
    """Return private texts, and the drawn words with the text that each stands in.

    With `written` the words are instead the written ones, decoded and in agreement.
    """
    ids: list[Ids] = []
    positions: list[NDArray[np.int64]] = []
    before = 0

    out: list[str] = []
    records = (Record(number, (text,), None) for number, text in enumerate(texts))
    randomness = sanitizer.randomness(RunKey.from_seed(seed))
    for batch in pipeline.batches(records):
        private = sanitizer.privatize(batch, randomness)
        ids.append(np.array(private.joined.written if written else private.drawn))
        positions.append(private.words.texts + before)
        before += len(private.words.ends)
        out += [text for (text,) in private.texts]
    return out, np.concatenate(ids), np.concatenate(positions)


def untouched(sanitizer: Pipeline, texts: list[str], seed: int = 0) -> Words:
    """Return the unchanged texts, in the same shape."""
    words = sanitizer.tokenizer.words(texts)
    return texts, words.ids, words.texts


def learned(
    sanitizer: Pipeline,
    train: Words,
    labels: list[Any],
    test: Words,
    answers: list[Any],
) -> tuple[float, float]:
    """Return the accuracy of TF-IDF and of mean vectors, logistic regression."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    words = TfidfVectorizer(
        min_df=2, sublinear_tf=True, token_pattern=r"(?u)\b\w[\w']*\b"
    )
    features = words.fit_transform(train[0])
    model = LogisticRegression(C=3.0, max_iter=300).fit(features, labels)
    by_words = float(model.score(words.transform(test[0]), answers))
    means, others = _means(sanitizer, train), _means(sanitizer, test)
    centre, spread = means.mean(axis=0), means.std(axis=0) + 1e-9
    model = LogisticRegression(C=0.3, max_iter=300)
    model.fit((means - centre) / spread, labels)
    return by_words, float(model.score((others - centre) / spread, answers))


def _means(sanitizer: Pipeline, words_of_texts: Words) -> NDArray[np.float64]:
    """Return the mean vector of the known words of each text."""
    texts, ids, positions = words_of_texts
    vectors = sanitizer.lexicon.vectors.astype(np.float64)
    known = ids >= 0
    sums = np.zeros((len(texts), vectors.shape[1]))
    np.add.at(sums, positions[known], vectors[ids[known]])
    counts = np.bincount(positions[known], minlength=len(texts))
    return sums / np.maximum(counts, 1)[:, None]


def same_forms(
    sanitizer: Pipeline, texts: list[str], test: Words, every: int
) -> tuple[float, float]:
    """Return the share of replacements of the same part of speech, and Penn tag.

    texts: the first of those that test was made of. By nltk's tagger, each replacement
    alone among the two words on either side; words that stay or are unknown do not
    count. One of every so many words is looked at.
    """
    tagger, names = _tagger(), sanitizer.lexicon.words
    originals = sanitizer.tokenizer.words(texts).ids
    _, drawn, positions = test
    drawn, positions = drawn[: len(originals)], positions[: len(originals)]
    parts, tags = [], []
    for position in range(0, len(originals), every):
        if originals[position] < 0 or originals[position] == drawn[position]:
            continue
        same = np.flatnonzero(
            positions[max(0, position - 2) : position + 3] == positions[position]
        )
        around = same + max(0, position - 2)
        words = [names[row] if row >= 0 else "Smith" for row in originals[around]]
        middle = around.tolist().index(position)
        old = tagger.tag(words)[middle][1]
        words[middle] = names[drawn[position]]
        new = tagger.tag(words)[middle][1]
        parts.append(new[:2] == old[:2])
        tags.append(new == old)
    return float(np.mean(parts)), float(np.mean(tags))


@functools.cache
def _tagger() -> Any:
    import nltk
    from nltk.tag.perceptron import PerceptronTagger

    nltk.data.path.insert(0, str(DATA / "nltk_data"))
    return PerceptronTagger()
