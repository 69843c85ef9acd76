from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from dptext.types import PARTS, Lexicon
from dptext.writing import agreement
from tests import small

WORDS = {
    "noun": "dog dogs child children news city cities runs series",
    "verb": "walk walks walked walking went go goes run ran say said",
    "adjective": "big bigger biggest new good best better",
    "name": "Dogs",
    "function-word": "the",
}
LISTED = [(word, part) for part, words in WORDS.items() for word in words.split()]


def lexicon(language: str = "en", outputs: int | None = None) -> Lexicon:
    """Make a lexicon of the words above with their parts of speech."""
    english = small.english(*(word for word, _ in LISTED[:-2]), "the")
    parts = [PARTS.index(part) for _, part in LISTED[:-2]]
    parts += [PARTS.index("function-word"), PARTS.index("number")]
    meta = {**english.meta, "language": language}
    if outputs is not None:
        meta["outputs"] = outputs
    return dataclasses.replace(english, parts=np.array(parts, np.uint8), meta=meta)


def families(vocabulary: Lexicon) -> dict[str, list[str]]:
    """Return each word's other words by form, in the order of forms."""
    inflected = agreement.find_inflections(vocabulary)
    return {
        word: [
            vocabulary.words[row]
            for row in inflected.others[number].tolist()
            if row >= 0
        ]
        for number, word in enumerate(vocabulary.words)
        if inflected.forms[number]
    }


def test_families_hold_the_forms_that_the_vocabulary_has() -> None:
    """Regular and irregular ones, of nouns, verbs and adjectives."""
    family_of = families(lexicon())
    assert family_of["dog"] == family_of["dogs"] == ["dog", "dogs"]
    assert family_of["children"] == ["child", "children"]
    assert family_of["cities"] == ["city", "cities"]
    assert family_of["walked"] == ["walk", "walks", "walked", "walked", "walking"]
    assert family_of["went"] == ["go", "goes", "went"]
    assert family_of["better"] == ["good", "better", "best"]
    assert family_of["big"] == ["big", "bigger", "biggest"]


def test_look_alikes_are_no_family() -> None:
    """The plural of "new" is not "news"; "runs" is a form of the verb alone."""
    family_of = families(lexicon())
    assert "news" not in family_of
    assert "new" not in family_of
    assert "series" not in family_of
    assert family_of["run"][:2] == ["run", "runs"]


def test_a_word_of_two_lemmas_has_the_forms_of_both() -> None:
    """So "said" is past and participle, and "run" base and participle."""
    english = lexicon()
    inflected = agreement.find_inflections(english)
    run, said = english.words.index("run"), english.words.index("said")
    assert inflected.have(agreement.BASE)[run]
    assert inflected.have(agreement.PARTICIPLE)[run]
    assert inflected.have(agreement.PAST)[said]
    assert inflected.have(agreement.PARTICIPLE)[said]
    assert not inflected.have(agreement.THIRD)[said]


def test_only_words_that_may_be_written_have_families() -> None:
    """Words beyond the outputs are in none."""
    family_of = families(lexicon(outputs=LISTED.index(("walked", "verb"))))
    assert family_of["walk"] == ["walk", "walks"]
    assert "walked" not in family_of


def test_other_languages_and_unknown_parts_have_none() -> None:
    """Rules of English speak of English alone."""
    assert not families(lexicon("de"))
    assert not families(dataclasses.replace(lexicon(), parts=None))


REGULAR: dict[Callable[[str], str], str] = {
    agreement.plural: "dog dogs city cities box boxes photo photos hero heroes "
    "day days boy boys",
    agreement.third_person: "go goes try tries",
    agreement.past: "walk walked try tried stop stopped hope hoped open opened love "
    "loved",
    agreement.participle: "lie lying see seeing try trying be being panic "
    "panicking die dying make making",
    agreement.comparative: "big bigger",
    agreement.superlative: "dry driest nice nicest",
}


@pytest.mark.parametrize("rule", REGULAR, ids=lambda rule: rule.__name__)
def test_regular_forms(rule: Callable[[str], str]) -> None:
    """Each rule gives the forms that usage has."""
    words = REGULAR[rule].split()
    assert [rule(word) for word in words[::2]] == words[1::2]
