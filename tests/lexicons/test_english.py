"""The built-in English lexicon as shipped."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import dptext
from dptext.lexicons import store
from dptext.tokens import kinds
from dptext.tokens.numbers import NAMES
from dptext.tokens.regex import MARK, key_of, kind_of, segment, split
from dptext.types import NUMBER, Lexicon
from tests.lexicons.files import real

FOLDER = Path(dptext.__file__).parent / "data" / "english"
CLOSED = ("the", "I", "don't", "n't", "'s", "can", "because", "wo", "ca")


def test_the_data_match_their_digest() -> None:
    """Nobody changed the files after the build."""
    assert store.load(FOLDER, verify=True).digest == store.read_meta(FOLDER).digest


def test_the_size_is_as_promised(builtin: Lexicon) -> None:
    """65,500 words, GloVe's 50 dimensions twice and polarity, in less than 30 MB."""
    assert len(builtin.words) == 65_500
    assert builtin.vectors.shape == (len(builtin.words) + 1, 2 * 50 + 1)
    assert builtin.vectors.dtype == np.float16
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 30e6


def test_every_word_is_a_word(builtin: Lexicon) -> None:
    """The splitter yields each word whole, without digits, under its own key."""
    clitics = {*NAMES, "n't"}
    words = [word for word in builtin.words if word not in clitics]
    assert all(split(word) == [word] for word in words)
    assert all(kind_of(word) == kinds.WORD for word in words)
    assert not any(any(map(str.isdigit, word)) for word in words)
    assert len({key_of(word) for word in builtin.words}) == len(builtin.words)


def test_numbers_and_closed_words_are_known(builtin: Lexicon) -> None:
    """Elements for numbers, contractions and clitics are separate words."""
    assert set(NAMES) <= set(builtin.words)
    assert set(CLOSED) <= set(builtin.words)
    assert {"London", "Monday", "American", "went", "colour", "color"} <= {
        *builtin.words
    }


def test_counts_are_positive_and_descend(builtin: Lexicon) -> None:
    """Words stand by descending count."""
    assert (builtin.counts > 0).all()
    assert (np.diff(builtin.counts) <= 0).all()
    assert builtin.prior.sum() == pytest.approx(1.0)
    assert builtin.words[0] == "the"


def test_vectors_have_length_one(builtin: Lexicon) -> None:
    """Every row lies on the unit sphere, to 16-bit accuracy."""
    lengths = np.linalg.norm(builtin.vectors.astype(np.float64), axis=1)
    assert np.abs(lengths - 1).max() < 2e-3


def test_orders_list_different_words(builtin: Lexicon) -> None:
    """Each order begins with its word, repeats none and names words only."""
    size = len(builtin.words)
    beyond = np.arange(int(builtin.meta["outputs"]), size)
    assert (builtin.orders[beyond, 0] == beyond).all()
    ascending = np.sort(builtin.orders.astype(np.int64), axis=1)
    assert (np.diff(ascending, axis=1) > 0).all()
    assert ascending.max() < size


def test_far_is_a_bound(builtin: Lexicon) -> None:
    """On sampled rows no word outside the order is nearer than far."""
    size = len(builtin.words)
    rng = np.random.default_rng(5)
    sample = [*rng.integers(0, size, 40).tolist(), builtin.words.index(NUMBER), size]
    words = builtin.vectors[:size].astype(np.float64)
    for row in sample:
        distances = np.linalg.norm(
            words - builtin.vectors[row].astype(np.float64), axis=1
        )
        distances[builtin.orders[row].astype(np.int64)] = np.inf
        assert float(builtin.far[row]) <= distances.min()


def test_the_geometry_is_that_of_the_vectors(builtin: Lexicon) -> None:
    """The diameter covers sampled pairs, and no two words coincide."""
    geometry = builtin.meta["geometry"]
    rng = np.random.default_rng(6)
    left, right = rng.integers(0, len(builtin.words), (2, 20_000))
    gap = builtin.vectors[left].astype(float) - builtin.vectors[right].astype(float)
    assert np.linalg.norm(gap, axis=1).max() <= geometry["diameter"]
    assert 0 < geometry["nearest_min"] <= geometry["nearest_median"]


def test_the_order_of_unknown_words_reads_naturally(builtin: Lexicon) -> None:
    """Unknown words have nouns of little meaning as stand-ins."""
    stand_ins = [builtin.words[row] for row in builtin.orders[-1]]
    assert all(word.islower() for word in stand_ins)
    assert {"thing", "item", "product"} <= set(stand_ins)


def test_neighbours_are_of_a_kind(builtin: Lexicon) -> None:
    """Function words list function words, content words their synonyms first."""
    row_of = {word: row for row, word in enumerate(builtin.words)}

    def first(word: str) -> set[str]:
        return {builtin.words[row] for row in builtin.orders[row_of[word], 1:12]}

    assert {"we", "you", "they"} <= first("I") | first("we")
    assert {"a", "an"} <= first("the")
    assert "film" in first("movie")
    assert "awful" in first("terrible")


def test_synonyms_are_words_and_sorted_by_ends(builtin: Lexicon) -> None:
    """The synonyms of each word are other words of the vocabulary."""
    ends, ids = builtin.synonym_ends, builtin.synonyms
    assert ends is not None
    assert ids is not None
    assert (np.diff(ends) >= 0).all()
    assert ends[-1] == len(ids)
    owners = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    assert (owners != ids).all()
    assert ids.min() >= 0
    assert ids.max() < len(builtin.words)


def test_information_content_is_finite(builtin: Lexicon) -> None:
    """Every word has an information content; a rare one says more than "the"."""
    content = builtin.information_content
    assert content is not None
    assert np.isfinite(content).all()
    assert content.min() >= 0
    assert content[builtin.words.index("poodles")] > content[0]


def test_vectors_agree_with_people(builtin: Lexicon) -> None:
    """Spearman on SimLex-999 by cosine is at least 0.55."""
    path = real("wordsim/SimLex-999.txt")
    row_of = {word.lower(): row for row, word in enumerate(builtin.words)}
    pairs = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    known = [pair for pair in pairs if {pair[0], pair[1]} <= row_of.keys()]
    vectors = builtin.vectors.astype(np.float64)
    cosines = [vectors[row_of[a]] @ vectors[row_of[b]] for a, b, *_ in known]
    scores = [float(pair[3]) for pair in known]
    ours, theirs = (np.argsort(np.argsort(v)) for v in (cosines, scores))
    assert len(known) > 980
    assert np.corrcoef(ours, theirs)[0, 1] >= 0.55


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("imdb_5k", 0.016),
        ("trustpilot_en_train", 0.017),
        ("sst2_train20k", 0.022),
        ("agnews_test5600", 0.018),
    ],
)
def test_real_texts_have_few_unknown_words(
    builtin: Lexicon, name: str, most: float
) -> None:
    """Of the words of each corpus at most this share is unknown (first 1000 texts)."""
    path = real(f"text/{name}.jsonl.gz")
    row_of = {word.lower(): row for row, word in enumerate(builtin.words)}
    pieces: Counter[str] = Counter()
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for _, line in zip(range(1000), stream, strict=False):
            pieces.update(split(json.loads(line)["text"]))
    total = unknown = 0
    for piece, count in pieces.items():
        if kind_of(piece) != kinds.WORD:
            continue
        for _, row in segment(piece.strip(), lambda key: row_of.get(key, -1)):
            total += count * (row != MARK)
            unknown += count * (row == -1)
    assert unknown / total <= most
