"""Which words are read as names: by their own spelling alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dptext.tokens import names
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon

KNOWN = "Emily Harry Martha Keller Ahmed Fatima Wei Zhang Priya Mehmet Svetlana".split()
UNKNOWN = "Xanthippa Okonkwolu Brynjólfsdóttir Nguyễnh McQuillenby O'Hanraty".split()
ANY_CASE = "chinedu CHINEDU Chinedu søren Søren şahin ŞAHİN yetunde".split()


def _read(lexicon: Lexicon, text: str) -> dict[str, bool]:
    """Tell of each word of a text whether a mechanism reads it as a name."""
    words = Tokenizer(lexicon, Policy()).words([text])
    row = names.name_row(lexicon)
    orders = lexicon.orders
    shared = set(orders[row, :90].tolist())
    return {
        words.pieces[position].strip(): shared <= set(orders[read].tolist())
        for position, read in zip(
            words.positions.tolist(), words.inputs.tolist(), strict=True
        )
    }


@pytest.mark.parametrize("word", [*KNOWN, *UNKNOWN, *ANY_CASE])
def test_names_are_one_input(builtin: Lexicon, word: str) -> None:
    """Names that the lexicon knows, and those that it does not, in many spellings."""
    assert all(_read(builtin, word).values())
    read = _read(builtin, f"Dear {word}, thank you")
    assert all(read[part] for part in _read(builtin, word))


@pytest.mark.parametrize(
    "word", ["zqxv", "iZqxv", "ZQX", "ZQXV", "teh", "2nd", "Delivery", "London", "May"]
)
def test_other_words_are_no_names(builtin: Lexicon, word: str) -> None:
    """Unknown words that are written small, short codes, words and places."""
    assert not any(_read(builtin, word).values())


def test_names_that_are_words_go_by_their_first_letter(builtin: Lexicon) -> None:
    """Mark is a name, mark and MARK are not; all parts of Min-jun are names."""
    assert _read(builtin, "Mark mark MARK") == {"Mark": True, "mark": False} | {
        "MARK": False
    }
    assert _read(builtin, "Bush bush") == {"Bush": True, "bush": False}
    parts = _read(builtin, "Min-jun")
    assert parts["Min"]
    assert parts["jun"]
    assert not any(_read(builtin, "well-known half-price").values())


@pytest.mark.parametrize("word", ["Germán", "Dũng", "Häring", "Mohammed", "Christian"])
def test_names_are_not_read_as_words_that_they_resemble(
    builtin: Lexicon, word: str
) -> None:
    """Without its accents Germán would be a nationality; Mohammed a religion."""
    assert _read(builtin, word) == {word: True}
    assert not any(_read(builtin, "German café Café naïve résumé").values())


@given(other=st.sampled_from(["zq", "Aisha", "the", "42", "London", "a@b.de", "Mr"]))
def test_what_stands_beside_a_word_does_not_decide(
    builtin: Lexicon, other: str
) -> None:
    """The same word is the same input, whatever its neighbours are."""
    tokenizer = Tokenizer(builtin, Policy())
    text = f"Rose Chinedu zqxv {other}"
    alone = tokenizer.words(["Rose Chinedu zqxv"]).inputs
    assert tokenizer.words([text]).inputs[:3].tolist() == alone.tolist()


def test_ids_stay_those_of_the_vocabulary(builtin: Lexicon) -> None:
    """Measures go by the words that were written: unknown ones are -1."""
    words = Tokenizer(builtin, Policy()).words(["Xanthippa mark Mark the"])
    mark = builtin.row_of["mark"]
    assert words.ids.tolist() == [-1, mark, mark, builtin.row_of["the"]]
    row = names.name_row(builtin)
    assert words.inputs.tolist() == [row, mark, row, builtin.row_of["the"]]
    assert words.inputs.dtype == np.int32
