"""The build of an English lexicon from small sources, and the steps of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dptext.errors import LexiconError
from dptext.lexicons import store
from dptext.tokens.regex import key_of
from tests.tools import build_sources
from tools.english import build_english, frequencies, sphinx, words
from tools.english import forms as lists
from tools.english.vectors import fitted, unit
from tools.english.wordnet import WordNet, lemma_weights

pytest.importorskip("scipy.sparse")

from tools.english.forms import candidates, load
from tools.english.vectors import near_pairs, places_in_wordnet

SIZES: dict[str, Any] = {"size": 900, "outputs": 700, "listed": 60}


def test_a_small_build_is_sound_and_repeats(tmp_path: Path) -> None:
    """A build passes every check, lists outputs only, and gives one digest."""
    given = build_sources.put(tmp_path)
    lexicon = build_english(given, **SIZES)
    store.check(lexicon)
    assert build_english(given, **SIZES).digest == lexicon.digest
    assert lexicon.orders.shape == (len(lexicon.words) + 1, 60)
    assert lexicon.orders[:-1, 1:].max() < 700
    assert lexicon.vectors.shape[1] == 2 * 8 + 1
    assert {"London", "dogs", "don't", "Kevin", "Acme"} <= set(lexicon.words)
    stand_ins = [lexicon.words[row] for row in lexicon.orders[-1]]
    assert len({*stand_ins}) == 60
    assert lexicon.meta["names"] in lexicon.words
    assert lexicon.meta["sphinx_sha256"] != lexicon.meta["scowl_sha256"]


@pytest.mark.parametrize("wrong", [{"size": 70_000}, {"listed": 1}, {"outputs": 50}])
def test_sizes_out_of_range_are_refused(tmp_path: Path, wrong: dict[str, int]) -> None:
    """A size that the format or the recipe cannot carry is a clear error."""
    given = build_sources.put(tmp_path)
    with pytest.raises(LexiconError, match="English lexicon"):
        build_english(given, **(SIZES | wrong))


@pytest.mark.parametrize("name", ["glove", "sphinx", "symspell", "scowl", "wordnet"])
def test_a_source_that_is_missing_is_named(tmp_path: Path, name: str) -> None:
    """The one line has the path that is not there."""
    given = replace(build_sources.put(tmp_path), **{name: tmp_path / "nowhere"})
    with pytest.raises(LexiconError, match="nowhere"):
        build_english(given, **SIZES)


def test_a_trie_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Words, their log-probabilities and pairs under their second word come back."""
    path = tmp_path / "model.bin"
    alone = {"a": -1.0, "dog": -2.0, "the": -0.5}
    path.write_bytes(
        build_sources.trie(alone, {("a", "dog"): -0.3, ("the", "dog"): -0.7})
    )
    trie = sphinx.read(path)
    assert trie.words == ["</s>", "<s>", "a", "dog", "the"]
    assert trie.alone[2:] == pytest.approx([-1.0, -2.0, -0.5], abs=1e-3)
    assert trie.following.tolist() == [2, 4]
    assert trie.log_probs == pytest.approx([-0.3, -0.7], abs=1e-3)
    assert trie.ends.tolist() == [0, 0, 0, 0, 2, 2]
    path.write_bytes(b"no model")
    with pytest.raises(LexiconError, match="not a trigram model"):
        sphinx.read(path)


def test_frequencies_are_those_of_the_sources(tmp_path: Path) -> None:
    """Each source is a part of the sum; a possessive is a word and a clitic."""
    counts = tmp_path / "counts"
    counts.write_text("dog 3\ncat 1\n", encoding="utf-8")
    known = ["dog", "cat", "rex"]
    logs = np.log([0.5, 0.25, 0.25])
    none = np.empty(0, np.int64)
    model = sphinx.Trie(
        ["dog", "cat", "rex's"],
        alone=logs,
        backoff=logs,
        ends=none,
        following=none,
        log_probs=logs,
    )
    mixed = frequencies.blended(model, counts, known)
    model_part, counts_part, order_part = frequencies.WEIGHTS
    # Of the model's 1.25 parts, "rex's" is one of "rex" and one of "'s".
    order = mixed["rex"] / 1e6 - model_part * 0.2
    assert mixed["dog"] > mixed["cat"] > mixed["rex"] > mixed["the"] > 0
    assert 0 < order < order_part
    assert mixed["dog"] / 1e6 > model_part * 0.4 + counts_part * 0.75
    counts.write_text("dog\n", encoding="utf-8")
    with pytest.raises(LexiconError, match="line 1"):
        frequencies.read_counts(counts)


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("mclaren", "McLaren"),
        ("o'neal", "O'Neal"),
        ("n.y.", "N.Y."),
        ("rolls-royce", "Rolls-Royce"),
    ],
)
def test_names_are_written_as_names(key: str, written: str) -> None:
    """Prefixes, hyphens and dots have their capitals."""
    assert words.written_name(key) == written


def test_the_commoner_casing_is_shown(database: WordNet) -> None:
    """Names keep their capital; a capital in one example does not make one."""
    forms = words.count_forms(database)
    assert words.commonest(forms["london"]) == "London"
    assert words.commonest(forms["thing"]) == "thing"


def test_a_word_of_no_list_is_written_as_its_neighbours(tmp_path: Path) -> None:
    """Among names it is a name, among common words a common word."""
    given = build_sources.put(tmp_path)
    english = load(given.wordnet)
    keys = ["kevin", "london", "acme", "dog", "cat", "run", "beckham", "zyxq"]
    vectors = np.eye(2)[[0, 0, 0, 1, 1, 1, 0, 1]]
    cases = words.Cases(english, given.scowl)
    written = cases.all(keys, vectors)
    assert written[:6] == ["Kevin", "London", "Acme", "dog", "cat", "run"]


def test_fitting_draws_synonyms_together_and_antonyms_apart() -> None:
    """Cosines of pairs move the right way, and the rows keep length one."""
    rng = np.random.default_rng(2)
    rows = unit(rng.standard_normal((60, 12)))
    synonyms_, antonyms = [(0, 1), (2, 3), (4, 5)], [(6, 7), (8, 9), (10, 11)]
    moved = fitted(rows, synonyms_, antonyms, 0, epochs=20)

    def cosines(of: np.ndarray, pairs: list[tuple[int, int]]) -> np.ndarray:
        left, right = np.array(pairs).T
        return np.asarray((of[left] * of[right]).sum(axis=1))

    assert np.allclose(np.linalg.norm(moved, axis=1), 1.0)
    assert (cosines(moved, synonyms_) >= cosines(rows, synonyms_)).all()
    assert cosines(moved, synonyms_).mean() > cosines(rows, synonyms_).mean() + 0.1
    assert (cosines(moved, antonyms) <= cosines(rows, antonyms) + 1e-9).all()


def test_words_of_one_kind_stand_near_each_other(database: WordNet) -> None:
    """A dog is nearer to a hound than to a cat, and no verb is near."""
    keys = ("dog", "hound", "cat", "run", "zyx")
    rows = places_in_wordnet(
        database, keys, candidates(database), lemma_weights(database)
    )
    cosines = (rows @ rows.T).toarray()
    assert cosines[0, 1] > cosines[0, 2] > cosines[2, 3] == 0
    assert not cosines[4].any()
    assert (0, 1) in near_pairs(rows, 3)


def test_selection_ranks_by_count() -> None:
    """The most frequent words are chosen, and closed-class words of any count."""
    counts = {key_of(word): 0.1 for word in lists.frequencies()}
    chosen = words.select({**counts, "dog": 5.0, "cat": 0.01}, len(counts) + 1)
    assert next(iter(chosen)) == "dog"
    assert "cat" not in chosen
    assert chosen.keys() == {*counts, "dog"}
