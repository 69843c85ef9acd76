"""Candidates for a list of words: by spelling, place and public lists alone."""

from __future__ import annotations

import numpy as np
import pytest

from dptext import lexicons, profile
from dptext.errors import UsageError
from dptext.tokens.candidates import Candidates
from dptext.tokens.policy import Policy
from dptext.types import Lexicon


@pytest.fixture(scope="module")
def candidates() -> Candidates:
    """Return the candidates of the profile readable."""
    lexicon = lexicons.find("builtin")
    tokens = profile.load("readable").tokens
    return Candidates(tokens, lexicon, lexicon)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("we saw CloudDesk's kwimbles", ["CloudDesk", "kwimbles"]),
        (
            "Spatula everywhere. Spatula again, not Spatula",
            ["spatula", "spatula", "Spatula"],
        ),
        ("Bobick came. Bobick left", ["Bobick", "Bobick"]),
        ("Good bye.\nSpatula\nmy team", ["Spatula"]),
        ("Spatula", ["Spatula"]),
        ("Spatula Peters, hello", ["Spatula"]),
        ("a Zyx-Wok and a zyx-based thing", ["Zyx-Wok", "zyx-based"]),
        ("the chipset blinks", ["chipset", "blinks"]),
        ("I met Sarah in London on Monday in May", []),
        ("sarah and LONDON and Amsterdam", []),
        ("he is diabetic, a muslim and a felon", []),
        ("call 0171 0000778, AB-1234, foo@bar.de, #tag, www.zyxlo.com", []),
        ("good old house", []),
        ("a London-zyxlo", []),
        ("q", []),
        ("a" * 41, []),
    ],
)
def test_candidates(text: str, expected: list[str], candidates: Candidates) -> None:
    """Only replaced words that are in no list of names or special categories."""
    assert [word for _, word in candidates.find([text])] == expected


def test_candidates_name_their_text(candidates: Candidates) -> None:
    """The number of each text stands beside its words."""
    found = list(candidates.find(["nothing here", "grobnik", "", "a grobnik"]))
    assert found == [(1, "grobnik"), (3, "grobnik")]


def test_words_of_the_dictionary_join_in_lower_case_alone(
    candidates: Candidates,
) -> None:
    """Capitals and words that no public dictionary has wait for a look."""
    assert candidates.joins("hassle")
    assert not any(map(candidates.joins, ("Hassle", "kwimbles", "justinbieber")))


def test_profiles_without_common_words_have_none(builtin: Lexicon) -> None:
    """Beside no common word an unchanged one would stand alone."""
    with pytest.raises(UsageError, match="readable"):
        Candidates(Policy(), builtin, builtin)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Die Lieferdrohne von CloudDesk ist da, und der kwimbles auch",
            ["Lieferdrohne", "CloudDesk", "kwimbles"],
        ),
        ("das ist ein Zyx-Gerät und gut", ["Zyx-Gerät"]),
        ("Ich war am Montag im März mit Katharina in Bielefeld", []),
        ("er ist Diabetiker und die schwangere Frau ist Muslimin", []),
        ("the chipset blinks and it is not good at all here", ["chipset", "blinks"]),
    ],
)
def test_candidates_of_other_languages(
    text: str, expected: list[str], builtin: Lexicon
) -> None:
    """Words that the lists of the language replace, and no names of any language."""
    tokens = profile.load("readable", {"tokens": {"languages": ["de", "en"]}}).tokens
    found = Candidates(tokens, builtin, builtin).find([text])
    assert [word for _, word in found] == expected


def test_a_record_is_in_one_language(builtin: Lexicon) -> None:
    """Its fields tell it together, as in an export."""
    tokens = profile.load("readable", {"tokens": {"languages": ["en", "de"]}}).tokens
    found = Candidates(tokens, builtin, builtin)
    texts = ["Fernseher", "das ist nicht gut und wir haben noch etwas mehr"]
    assert list(found.find(texts)) == [(0, "Fernseher")]
    assert list(found.find(texts, np.array([0, 0]))) == []


def test_no_word_joins_by_itself_where_no_text_is_english(builtin: Lexicon) -> None:
    """The dictionary is English: what is a word there may be a name elsewhere."""
    tokens = profile.load("readable", {"tokens": {"languages": ["de"]}}).tokens
    assert not Candidates(tokens, builtin, builtin).joins("hassle")
    tokens = profile.load("readable", {"tokens": {"languages": ["de", "en"]}}).tokens
    assert Candidates(tokens, builtin, builtin).joins("hassle")
