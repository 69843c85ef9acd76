from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

import dptext
from dptext.lexicons import store
from dptext.types import Lexicon
from dptext.writing import agreement
from dptext.writing.agreement import Inflector
from tests import inflection, small


@functools.lru_cache(maxsize=1)
def english() -> tuple[Lexicon, Inflector, dict[str, int]]:
    """Return the built-in lexicon, its rules, and the rows of its words."""
    lexicon = store.load(Path(dptext.__file__).parent / "data" / "english")
    rows = {word.lower(): row for row, word in enumerate(lexicon.words)}
    return lexicon, Inflector(lexicon), rows


def agreed(text: str) -> str:
    """Write words in agreement: "|" breaks the row, "[word]" is copied, "?" unknown."""
    lexicon, inflector, rows = english()
    ids, beside, free = [], [], []
    broken = True
    for word in text.split():
        if word == "|":
            broken = True
            continue
        bare = word.strip("[]")
        ids.append(rows[bare.lower()] if bare != "?" else len(lexicon.words))
        beside.append(not broken)
        free.append(bare == word and bare != "?")
        broken = False
    here = np.array(ids, np.int32)
    inflector.write(here, np.array(beside[1:], bool), np.array(free))
    return " ".join((*lexicon.words, "?")[row] for row in here.tolist())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("he walk", "he walks"),
        ("we walks", "we walk"),
        ("to went", "to go"),
        ("will making", "will make"),
        ("has went", "has gone"),
        ("is wrote", "is written"),
        ("these dog", "these dogs"),
        ("a dogs", "a dog"),
        ("an animals", "an animal"),
        ("she are", "she is"),
        ("they was", "they were"),
        ("I is", "I am"),
        ("dogs is", "dogs are"),
        ("John were", "John was"),
        ("of they", "of them"),
        ("me can", "I can"),
        ("of us can", "of us can"),
        ("mine house", "my house"),
        ("those information", "that information"),
        ("table 'll", "table will"),
        ("he 'll", "he 'll"),
        ("table n't", "table not"),
        ("do n't", "do n't"),
        ("I 'm", "I 'm"),
        ("John 'm", "John 's"),
        ("big than", "bigger than"),
        ("more larger", "more large"),
        ("n't | n't", "not not"),
    ],
)
def test_words_agree_with_their_neighbours(text: str, expected: str) -> None:
    """Each rule, by an example."""
    assert agreed(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "he walked",
        "he walks",
        "to go",
        "to meeting",
        "has gone",
        "is going",
        "the dogs are",
        "a few dogs",
        "this news",
        "he | walk",
        "a | dogs",
        "I was",
        "? walk",
        "let it go",
        "could have been done",
        "those who are",
        "us all",
    ],
)
def test_good_english_and_broken_rows_stay(text: str) -> None:
    """Nothing is asked across a mark, nor by a word that is not known."""
    assert agreed(text) == text.replace(" | ", " ")


def test_copied_words_ask_and_are_not_rewritten() -> None:
    """A kept word counts as what it is; only drawn words change."""
    assert agreed("[to] went") == "to go"
    assert agreed("he [walk]") == "he walk"


def test_every_word_of_the_rules_is_a_word_that_may_be_written() -> None:
    """No rule is dead for want of its words."""
    lexicon, _, rows = english()
    outputs = int(lexicon.meta["outputs"])
    sides = (agreement.rules().before, agreement.rules().after)
    for rules in sides:
        for words, asked in rules.values():
            pairs = [rule.split(">") for rule in asked]
            named = [word for pair in pairs for word in pair if not word.isupper()]
            pronouns = [word for pair in pairs for word in pair if word == "I"]
            for word in (*words, *named, *pronouns):
                if "/" not in word:
                    assert rows[word.lower()] < len(lexicon.words), word
            for _, new in pairs:
                if new.lower() in rows and not new.isupper():
                    assert rows[new] < outputs, new


def test_only_outputs_are_written_and_rules_come_to_rest() -> None:
    """Beside any words, an output stays an output; one pass is enough."""
    lexicon, inflector, _ = english()
    size, outputs = len(lexicon.words) + 1, int(lexicon.meta["outputs"])
    for rows in inflection.written(inflector, size):
        assert (rows[:, :outputs] < outputs).all()
        assert (rows[:, size - 1] == size - 1).all()
        twice = np.take_along_axis(rows, rows.astype(np.int64), axis=1)
        assert (twice == rows).all()


def test_words_of_a_form_have_no_other_lemma() -> None:
    """Forms of a word differ in few letters, or are listed by hand."""
    lexicon, inflector, _ = english()
    size = len(lexicon.words) + 1
    rows = inflection.written(inflector, size)[0][:, : size - 1]
    changed = {
        (lexicon.words[old].lower(), lexicon.words[int(rows[kind, old])].lower())
        for kind, old in np.argwhere(rows != np.arange(size - 1)).tolist()
    }
    assert len(changed) > 2000
    same_first_letter = [one[:1] == two[:1] for one, two in changed]
    assert np.mean(same_first_letter) > 0.98


def test_without_english_nothing_changes() -> None:
    """A vocabulary without parts of speech has no forms."""
    lexicon = small.english("he", "walk", "walks", "a", "an", "apple", "dogs", "dog")
    ids = np.array([0, 1, 3, 5, 3, 6], np.int32)
    here = ids.copy()
    Inflector(lexicon).write(here, np.ones(5, bool), None)
    assert here.tolist() == ids.tolist()
