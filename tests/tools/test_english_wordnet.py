"""Reading the database: synsets, senses, exceptions, and files that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from dptext.errors import LexiconError
from tests.tools import wordnet_files
from tools.english import wordnet


def test_synsets_carry_lemmas_as_written(database: wordnet.WordNet) -> None:
    """Capitals stay, underscores become spaces, place markers go."""
    lemmas = [synset.lemmas for synset in database.synsets]
    assert lemmas[3] == ("London", "Greater London")
    assert lemmas[5] == ("happy", "glad")


def test_pointers_name_synsets_by_number(database: wordnet.WordNet) -> None:
    """A pointer leads to its synset, across parts of speech."""
    pointer = database.synsets[1].pointers[1]
    assert (pointer.symbol, pointer.target) == ("+", 4)
    assert (pointer.source_lemma, pointer.target_lemma) == (1, 1)


def test_senses_carry_tagged_counts(database: wordnet.WordNet) -> None:
    """Satellite adjectives are adjectives; counts come from index.sense."""
    assert database.senses["dog", "n"] == ((1, 9),)
    assert database.senses["sad", "a"] == ((6, 2),)
    assert ("true cat", "n") in database.senses


def test_exceptions_are_pairs_of_form_and_base(database: wordnet.WordNet) -> None:
    """Irregular forms keep their order in the file."""
    assert database.exceptions["v"] == (("ran", "run"), ("running", "run"))


@pytest.mark.parametrize("name", ["data.noun", "index.sense", "verb.exc"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    """The error names the file that lacks and the packages that bring it."""
    wordnet_files.put(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(LexiconError, match=rf"{name}.*wordnet-base"):
        wordnet.read_database(tmp_path)


def test_a_broken_line_is_named_by_number(tmp_path: Path) -> None:
    """A line that is no synset is an error with its number."""
    wordnet_files.put(tmp_path)
    with (tmp_path / "data.verb").open("a", encoding="utf-8") as stream:
        stream.write("nonsense\n")
    with pytest.raises(LexiconError, match=r"data\.verb: line 3"):
        wordnet.read_database(tmp_path)


def test_senses_must_fit_the_data(tmp_path: Path) -> None:
    """A sense of a synset that is not there is an error with its number."""
    wordnet_files.put(tmp_path)
    (tmp_path / "index.sense").write_text("cat%1:05:00:: 09999999 1 5\n")
    with pytest.raises(LexiconError, match=r"index\.sense: line 1"):
        wordnet.read_database(tmp_path)


def test_examples_weigh_more_than_definitions(database: wordnet.WordNet) -> None:
    """A gloss word counts once in a definition and twice in an example."""
    used = wordnet.used_in_glosses(database)
    assert used["tame"] == 2 * wordnet.DEFINITION_WEIGHT
    assert used["dogs"] == wordnet.EXAMPLE_WEIGHT


def test_information_grows_downwards(database: wordnet.WordNet) -> None:
    """A synset says more than the one above it; the root of all nouns says nothing."""
    content = wordnet.content_of_synsets(database)
    assert content[0] == pytest.approx(0.0)
    assert (content[1:4] > 0).all()
