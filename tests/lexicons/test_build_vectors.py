"""From contexts to vectors: weighting, reduction, inflections, groups, whole builds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dptext.errors import LexiconError, MissingExtra
from dptext.lexicons.build import build_english, grammar, resources
from tests.lexicons import wordnet_files

sparse = pytest.importorskip("scipy.sparse")

from dptext.lexicons.build import contexts, factor, graph, synonyms  # noqa: E402
from dptext.lexicons.build.counts import lemma_weights  # noqa: E402
from dptext.lexicons.build.forms import candidates  # noqa: E402
from dptext.lexicons.build.vectors import word_vectors  # noqa: E402
from dptext.lexicons.build.wordnet import WordNet, read  # noqa: E402

WORDS = ("dog", "dogs", "hound", "cat", "run", "ran", "happy", "London", "zyx")


@pytest.fixture
def database(tmp_path: Path) -> WordNet:
    """Return the small database."""
    return read(wordnet_files.put(tmp_path))


def test_mutual_information_is_positive_and_sparse() -> None:
    """A context that says nothing has no weight, one that is telling has some."""
    counts = sparse.csr_matrix([[8.0, 1.0], [8.0, 0.0]])
    weighted = factor.ppmi(counts).toarray()
    assert (weighted >= 0).all()
    assert weighted[1, 1] == 0


def test_unit_rows_leave_empty_rows_empty() -> None:
    """A row without contexts stays zero and is no division by zero."""
    rows = factor.unit_rows(sparse.csr_matrix([[3.0, 4.0], [0.0, 0.0]])).toarray()
    assert np.allclose(rows, [[0.6, 0.8], [0.0, 0.0]])


def test_reduction_agrees_with_the_exact_decomposition() -> None:
    """Products of the reduced rows are those of the best approximation."""
    rng = np.random.default_rng(3)
    dense = rng.standard_normal((40, 6)) @ rng.standard_normal((6, 30))
    found = factor.reduce(sparse.csr_matrix(dense), 6, 1.0, 0)
    assert np.allclose(found @ found.T, dense @ dense.T)


def test_reduction_has_canonical_signs() -> None:
    """The entry of largest size in each column is positive."""
    rng = np.random.default_rng(4)
    found = factor.reduce(sparse.csr_matrix(rng.standard_normal((30, 20))), 5, 0.5, 1)
    tops = np.abs(found).argmax(axis=0)
    assert (found[tops, np.arange(5)] > 0).all()


def test_a_walk_stays_and_goes_up(database: WordNet) -> None:
    """A synset is nearest to itself, then to what is above; opposites are apart."""
    walk = graph.walk(database).toarray()
    assert walk[1, 1] > walk[1, 0] > 0
    assert walk[5, 6] == 0


def test_meanings_share_the_use_of_a_word(database: WordNet) -> None:
    """The synsets of a word have weights that sum to one, the tagged one most."""
    shares = contexts.meanings(database, {"dog": 0, "zyx": 1}).toarray()
    assert shares[0].sum() == pytest.approx(1.0)
    assert shares[0, 1] > shares[0, 4] > 0
    assert shares[1].sum() == 0


def test_neighbours_do_not_span_texts(database: WordNet) -> None:
    """Words of a definition and of its example are no neighbours."""
    roots = {"barks": 0, "the": 1, "animal": 2}
    pairs = contexts.neighbours(database, roots, 3).toarray()
    assert pairs[0, 2] > 0
    assert pairs[0, 1] == 0
    assert (pairs == pairs.T).all()


def test_vectors_are_unit_and_forms_are_apart(database: WordNet) -> None:
    """Every word has length one; a plural is near its noun but not on it."""
    keys = [word.lower() for word in WORDS]
    links, weights = candidates(database), lemma_weights(database)
    rows = word_vectors(database, keys, links, weights, (), dimensions=15, seed=0)
    again = word_vectors(database, keys, links, weights, (), dimensions=15, seed=0)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)
    assert (rows == again).all()
    assert 0.5 < rows[0] @ rows[1] < 0.999
    assert rows[0] @ rows[1] > rows[0] @ rows[6]


def test_grammar_words_are_near_their_group() -> None:
    """A word of a group is nearest to the group, then to its class; others stay."""
    rng = np.random.default_rng(1)
    start = rng.standard_normal((5, 60))
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    words = ("he", "she", "who", "of", "tree")
    classes = {"pronoun": words[:3], "preposition": ("of",)}
    rows = grammar.placement(
        words, start, (("he", "she"),), classes, frozenset(words[:4]), 0
    )
    assert rows[0] @ rows[1] > rows[0] @ rows[2] > rows[0] @ rows[4]
    assert (rows[4] == start[4]).all()


def test_synonyms_share_synset_and_inflection(database: WordNet) -> None:
    """A plural has plurals as synonyms; a word is none of its own."""
    words = ("dog", "dogs", "hound", "hounds", "happy", "glad", "sad")
    ends, ids = synonyms.synonyms(database, words, candidates(database))
    of = [ids[a:b].tolist() for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    assert of == [[2], [3], [0], [1], [5], [4], []]


@pytest.mark.parametrize("wrong", [{"size": 70_000}, {"dimensions": 5}, {"size": 40}])
def test_sizes_out_of_range_are_refused(tmp_path: Path, wrong: dict[str, int]) -> None:
    """A size that the format or the recipe cannot carry is a clear error."""
    wordnet_files.put(tmp_path)
    with pytest.raises(LexiconError, match="English lexicon"):
        build_english(tmp_path, **({"listed": 10} | wrong))  # type: ignore[arg-type]


def test_without_scipy_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line says which extra brings what the build needs."""
    monkeypatch.setattr(resources, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="build"):
        build_english(tmp_path)


def test_a_small_build_is_whole_and_repeats(tmp_path: Path) -> None:
    """A build from a tiny database passes every check and gives one digest."""
    wordnet_files.put(tmp_path)
    said: list[str] = []
    first = build_english(
        tmp_path, size=1110, dimensions=20, listed=12, progress=said.append
    )
    second = build_english(tmp_path, size=1110, dimensions=20, listed=12)
    assert first.digest == second.digest
    assert first.orders.shape == (len(first.words) + 1, 12)
    assert said[0] == "reading WordNet"
