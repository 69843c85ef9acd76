from __future__ import annotations

import dataclasses

import numpy as np

from dptext.tokens import inflections
from dptext.types import PARTS, Lexicon
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
    made = small.english(*(word for word, _ in LISTED[:-2]), "the")
    parts = [PARTS.index(part) for _, part in LISTED[:-2]]
    parts += [PARTS.index("function-word"), PARTS.index("number")]
    meta = {**made.meta, "language": language}
    if outputs is not None:
        meta["outputs"] = outputs
    return dataclasses.replace(made, parts=np.array(parts, np.uint8), meta=meta)


def families(made: Lexicon) -> dict[str, list[str]]:
    """Return each word's other words by form, in the order of forms."""
    found = inflections.find(made)
    return {
        word: [made.words[row] for row in found.others[number].tolist() if row >= 0]
        for number, word in enumerate(made.words)
        if found.forms[number]
    }


def test_families_hold_the_forms_that_the_vocabulary_has() -> None:
    """Regular and irregular ones, of nouns, verbs and adjectives."""
    found = families(lexicon())
    assert found["dog"] == found["dogs"] == ["dog", "dogs"]
    assert found["children"] == ["child", "children"]
    assert found["cities"] == ["city", "cities"]
    assert found["walked"] == ["walk", "walks", "walked", "walked", "walking"]
    assert found["went"] == ["go", "goes", "went"]
    assert found["better"] == ["good", "better", "best"]
    assert found["big"] == ["big", "bigger", "biggest"]


def test_look_alikes_are_no_family() -> None:
    """The plural of "new" is not "news"; "runs" is a form of the verb alone."""
    found = families(lexicon())
    assert "news" not in found
    assert "new" not in found
    assert "series" not in found
    assert found["run"][:2] == ["run", "runs"]


def test_a_word_of_two_lemmas_has_the_forms_of_both() -> None:
    """So "said" is past and participle, and "run" base and participle."""
    made = lexicon()
    found = inflections.find(made)
    run, said = made.words.index("run"), made.words.index("said")
    assert found.are(inflections.BASE)[run]
    assert found.are(inflections.PARTICIPLE)[run]
    assert found.are(inflections.PAST)[said]
    assert found.are(inflections.PARTICIPLE)[said]
    assert not found.are(inflections.THIRD)[said]


def test_only_words_that_may_be_written_have_families() -> None:
    """Words beyond the outputs are in none."""
    found = families(lexicon(outputs=LISTED.index(("walked", "verb"))))
    assert found["walk"] == ["walk", "walks"]
    assert "walked" not in found


def test_other_languages_and_unknown_parts_have_none() -> None:
    """Rules of English speak of English alone."""
    assert not families(lexicon("de"))
    assert not families(dataclasses.replace(lexicon(), parts=None))
