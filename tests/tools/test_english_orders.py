"""Which words stand for a word: polarity, grammar, and the orders made of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dptext.lexicons.importing import outputs_first
from tests.tools import wordnet_files
from tools.english import forms, orders, wordnet
from tools.english.forms import candidates
from tools.english.orders import Figures, Weights
from tools.english.wordnet import WordNet, lemma_weights

SIZE = 40
ONLY_COSINE = Weights(0, 0, 0, 0, 0, 0, 0)


def figures(seed: int = 0) -> Figures:
    """Return figures of words without any relation, one kind, no polarity."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((SIZE + 1, 6))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    none: list[list[int]] = [[] for _ in range(SIZE)]
    return Figures(
        vectors=rows,
        meaning=np.zeros((SIZE, 0)),
        grammar=np.ones((SIZE, 1)),
        subject=np.ones((SIZE, 1)),
        polarity=np.zeros(SIZE),
        counts=np.full(SIZE, 2.0),
        groups=none,
        antonyms=none,
    )


@pytest.mark.parametrize("outputs", [13, SIZE])
def test_a_word_comes_first_then_outputs_only(outputs: int) -> None:
    """Every order begins with its word; then different words below outputs."""
    listed = orders.orders(figures(), outputs, 12).astype(int)
    assert listed.shape == (SIZE, 13)
    assert (listed[:, 0] == np.arange(SIZE)).all()
    assert listed[:, 1:].max() < outputs
    assert all(len(set(row)) == 13 for row in listed.tolist())


def test_with_cosines_alone_the_order_is_by_cosine() -> None:
    """Without the other figures the nearest by angle come first."""
    given = figures()
    listed = orders.orders(given, SIZE, 10, ONLY_COSINE)
    cosines = given.vectors[:SIZE] @ given.vectors[:SIZE].T
    np.fill_diagonal(cosines, -2)
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :10]
    np.testing.assert_array_equal(listed[:, 1:], best)


def test_equals_stand_by_id() -> None:
    """Words that no figure tells apart stand in the order of the vocabulary."""
    same = replace(figures(), vectors=np.ones((SIZE + 1, 6)) / np.sqrt(6))
    listed = orders.orders(same, SIZE, 5)
    assert listed[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert listed[3].tolist() == [3, 0, 1, 2, 4, 5]


def test_what_belongs_together_comes_forward() -> None:
    """A word of the same group stands before equally near words."""
    linked = [[30] if row == 0 else [] for row in range(SIZE)]
    given = replace(figures(), vectors=np.ones((SIZE + 1, 6)) / np.sqrt(6))
    listed = orders.orders(replace(given, groups=linked), SIZE, 5)
    assert listed[0, 1] == 30


def test_antonyms_are_listed_nowhere_near() -> None:
    """The nearest word is not listed if it means the opposite."""
    given = figures()
    nearest = int(orders.orders(given, SIZE, 1, ONLY_COSINE)[0, 1])
    opposite = [[nearest] if row == 0 else [] for row in range(SIZE)]
    listed = orders.orders(replace(given, antonyms=opposite), SIZE, SIZE - 2)
    assert nearest not in listed[0, 1:]


@pytest.mark.parametrize("name", ["grammar", "subject", "meaning"])
def test_words_of_a_kind_come_first(name: str) -> None:
    """Of equally near words those of the same kind stand before the others."""
    kind = np.zeros((SIZE, 2))
    kind[np.arange(SIZE), np.arange(SIZE) % 2] = 1.0
    same = replace(figures(), vectors=np.ones((SIZE + 1, 6)) / np.sqrt(6))
    given: dict[str, Any] = {name: kind}
    listed = orders.orders(replace(same, **given), SIZE, 19)
    assert (listed % 2 == (np.arange(SIZE) % 2)[:, None]).all()


def test_good_words_stand_for_good_words() -> None:
    """Of equally near words those of the same polarity come first."""
    polarity = np.where(np.arange(SIZE) % 2, 1.0, -1.0)
    same = replace(figures(), vectors=np.ones((SIZE + 1, 6)) / np.sqrt(6))
    listed = orders.orders(replace(same, polarity=polarity), SIZE, 19)
    assert (listed % 2 == (np.arange(SIZE) % 2)[:, None]).all()


def test_rarer_words_fall_back() -> None:
    """Of equally near words the more frequent come first, for any word."""
    counts = np.exp(-np.arange(SIZE, dtype=float))
    same = replace(figures(), vectors=np.ones((SIZE + 1, 6)) / np.sqrt(6))
    listed = orders.orders(replace(same, counts=counts), SIZE, 6)
    assert listed[4, 1:].tolist() == [0, 1, 2, 3, 5, 6]


def test_everybodys_neighbour_is_listed_less() -> None:
    """With hubs taken off, the most listed word is listed by fewer."""
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((SIZE + 1, 6))
    rows[:SIZE] += 0.6 * rows[0]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    given = replace(figures(), vectors=rows)

    def most(hub: float) -> int:
        listed = orders.orders(given, SIZE, 4, replace(ONLY_COSINE, hub=hub))
        return int(np.bincount(listed[:, 1:].ravel()).max())

    assert most(0.7) < most(0.0)


def test_antonyms_are_those_of_the_lemmas(database: WordNet) -> None:
    """All forms of the one stand against all forms of the other."""
    keys = ("happy", "happier", "sad", "dog", "glad")
    pairs = wordnet.antonyms(database, keys, candidates(database))
    assert pairs == [[2], [2], [0, 1], [], []]


def test_groups_name_the_others() -> None:
    """A word has the others of its groups, each once."""
    groups = orders.grouped(("he", "she", "who"), (("he", "she"), ("she", "he", "x")))
    assert groups == [[1], [0], []]


def test_polarity_follows_seeds_and_turns_at_antonyms(database: WordNet) -> None:
    """A seed is good, its synonym too, its antonym bad, an animal neither."""
    links, weights = candidates(database), lemma_weights(database)
    keys = ("happy", "glad", "sad", "dog")
    happy, glad, sad, dog = wordnet.polarity(database, keys, links, weights)
    assert happy == glad > 0.5
    assert sad < -0.5
    assert abs(dog) < 0.3


def test_kinds_of_words_share_what_they_have_in_common(tmp_path: Path) -> None:
    """Inflection, closed class and kind of name decide the products of profiles."""
    english = forms.load(wordnet_files.put(tmp_path))
    written = ("cat", "hound", "hounds", "he", "she", "of", "London", "Mary", "Linda")
    rows, subjects, _ = orders.profiles(english, written, np.eye(len(written)))
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)
    assert np.allclose(np.linalg.norm(subjects, axis=1), 1.0)
    alike = dict(zip(written, rows @ rows[0], strict=True))
    assert alike["hound"] > 0.99
    assert alike["hounds"] == alike["he"] == alike["London"] == 0
    assert rows[3] @ rows[4] > 0.99 > rows[3] @ rows[5] > 0
    assert rows[7] @ rows[8] > 0.99 > rows[7] @ rows[6] > 0


def test_outputs_stand_first_and_count_no_less() -> None:
    """Junk, however frequent, stands behind the last output and counts as it does."""
    counts = np.array([9.0, 8.0, 7.0, 6.0, 1.0])
    may = np.array([True, False, True, True, True])
    must = np.array([False, False, False, False, True])
    order, capped = outputs_first(counts, may, 3, must)
    assert order.tolist() == [0, 2, 4, 1, 3]
    assert capped.tolist() == [9.0, 7.0, 7.0, 6.0, 7.0]


def test_synonyms_share_synset_and_inflection(database: WordNet) -> None:
    """A plural has plurals as synonyms; a word is not its own synonym."""
    keys = ("dog", "dogs", "hound", "hounds", "happy", "glad", "sad")
    ends, ids = wordnet.synonyms(database, keys, candidates(database))
    of = [ids[a:b].tolist() for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    assert of == [[2], [3], [0], [1], [5], [4], []]
