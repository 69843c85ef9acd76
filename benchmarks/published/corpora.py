"""The corpora of the comparative analysis, as near as they can be had.

Lower case, letters only, stop words of NLTK left out, nouns in the singular by WordNet:
so are the examples that the paper prints. AG News: 19,005 of its training rows (of the
paper's 20,000). IMDb: the reviews of 40 to 130 words that are left (mean 80.3, standard
deviation 22.4; the paper has 80.84 and 22.53), 3,123 of its 10,000.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.private_rows import DATA, read_rows
from tools import vector_folder

Ids = NDArray[np.int64]
# Words of a text that the authors' metrics look at.
LONGEST = {"AG News": 50, "IMDb": 100}
# Texts that are perturbed: training, test.
SIZES = {"AG News": (600, 300), "IMDb": (200, 120)}


@dataclass(frozen=True)
class Corpus:
    """The training texts' vocabulary, and texts as rows of it, -1 for others.

    words (V,) by falling count; counts (V,); vectors (V, d), 0 where GloVe lacks the
    word; train and test: texts as arrays of rows.
    """

    name: str
    words: tuple[str, ...]
    counts: Ids
    vectors: NDArray[np.float32]
    known: NDArray[np.bool_]
    train: list[Ids]
    test: list[Ids]
    labels: tuple[list[Any], list[Any]]


@functools.cache
def _singular() -> Any:
    import nltk

    nltk.data.path.insert(0, str(DATA / "nltk_data"))
    from nltk.stem import WordNetLemmatizer

    return functools.cache(WordNetLemmatizer().lemmatize)


@functools.cache
def _stop_words() -> frozenset[str]:
    _singular()
    from nltk.corpus import stopwords

    return frozenset(stopwords.words("english"))


def cleaned(text: str) -> list[str]:
    """Preprocess one text."""
    plain = re.sub(r"[^a-z]+", " ", re.sub("['’]", "", text.lower()))
    singular, stop = _singular(), _stop_words()
    return [singular(word) for word in plain.split() if word not in stop]


def _read(name: str) -> tuple[list[list[str]], list[Any], list[list[str]], list[Any]]:
    """Return all training texts with labels, then test texts with labels."""
    files = (
        ("agnews_train19k", "agnews_test5600") if name == "AG News" else ("imdb_5k",)
    )
    parts = []
    for number, file in enumerate(files):
        rows = read_rows(file)[: SIZES[name][1] if number else None]
        pairs = [(cleaned(row["text"]), row["label"]) for row in rows]
        if name == "IMDb":
            pairs = [pair for pair in pairs if 40 <= len(pair[0]) <= 130]
        parts.append(([text for text, _ in pairs], [label for _, label in pairs]))
    if len(parts) == 1:
        # No test file: the last rows test; their words are in the vocabulary, too.
        size = SIZES[name][1]
        parts.append((parts[0][0][-size:], parts[0][1][-size:]))
    return *parts[0], *parts[1]


@functools.cache
def glove(folder: Path) -> tuple[dict[str, int], NDArray[np.floating]]:
    """Return the row of each word, and the vectors, of a folder with list and .npy."""
    raw = vector_folder.read(folder, folder.name)
    return {word: row for row, word in enumerate(raw.words)}, raw.vectors


@functools.cache
def corpus(name: str, folder: Path) -> Corpus:
    """Read a corpus, its vocabulary and the vectors that GloVe has for it."""
    train, train_labels, test, test_labels = _read(name)
    times = Counter(word for text in train for word in text)
    # As the authors' tokenizer does: falling counts, ties by first appearance.
    words = tuple(sorted(times, key=lambda word: -times[word]))
    rows, table = glove(folder)
    known = np.array([word in rows for word in words])
    vectors = np.zeros((len(words), table.shape[1]), np.float32)
    vectors[known] = table[[rows[word] for word in words if word in rows]]
    row_of = {word: row for row, word in enumerate(words)}

    def ids(texts: list[list[str]]) -> list[Ids]:
        return [
            np.array([row_of.get(word, -1) for word in text[: LONGEST[name]]], np.int64)
            for text in texts
        ]

    most = SIZES[name][0]
    counts = np.array([times[word] for word in words], np.int64)
    labels = train_labels[:most], test_labels
    return Corpus(
        name, words, counts, vectors, known, ids(train[:most]), ids(test), labels
    )


def export(corpus: Corpus, path: Path) -> Path:
    """Write the vocabulary with vectors as `dptext lexicon import` reads it."""
    words = [
        word for word, known in zip(corpus.words, corpus.known, strict=True) if known
    ]
    np.savez(path, words=np.array(words), vectors=corpus.vectors[corpus.known])
    return path
