"""Candidates for a list of words: by spelling, place and public lists alone."""

from __future__ import annotations

import pytest

from dptext import lexicons, profile
from dptext.errors import UsageError
from dptext.tokens.candidates import Candidates
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon


@pytest.fixture(scope="module")
def candidates() -> Candidates:
    """Return the candidates of the profile readable."""
    lexicon = lexicons.find("builtin")
    tokens = profile.load("readable").tokens
    return Candidates(Tokenizer(lexicon, tokens), lexicon, lexicon)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("we saw CloudDesk's kwimbles", ["CloudDesk", "kwimbles"]),
        (
            "Spatula everywhere. Spatula again, not Spatula",
            ["spatula", "spatula", "Spatula"],
        ),
        ("Bobick came. Bobick left", ["Bobick", "Bobick"]),
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
        Candidates(Tokenizer(builtin, Policy()), builtin, builtin)
