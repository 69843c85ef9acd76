from __future__ import annotations

import pytest

from dptext.readers.causal.search import Speller, texts_of
from dptext.tokens.policy import Policy
from tests import language_models
from tests.readers.test_posterior import ENGLISH, release


@pytest.fixture(scope="module")
def speller() -> Speller:
    """Return the tokens of a small tokenizer."""
    return Speller(language_models.byte_tokenizer(), ENGLISH.words, ENGLISH.prior)


@pytest.mark.parametrize(
    ("text", "policy", "shown"),
    [
        ("dog cat, dog", Policy(), "X x, x"),
        ("dog. dog! (dog) dog", Policy(), "X. X! (X) x"),
        ('"dog," dog "dog"', Policy(), '"X," x "x"'),
        ("dog-dog - dog", Policy(), "X-x - x"),
        ("dog\ndog  dog", Policy(), "X\nX  x"),
        ("the dog of the cat", Policy(stop_word="keep"), "the x of the x"),
        ("the dog of cat", Policy(stop_word="drop"), "X x"),
        ("zq dog, 7 cat", Policy(unknown="mask", number="mask"), "Smith x, 10 x"),
        ("zq dog 7's", Policy(unknown="keep", number="keep"), "zq x 7's"),
        ("(dog); dog!", Policy(punctuation="drop"), "X x"),
    ],
)
def test_a_text_is_read_as_it_would_be_written(
    text: str, policy: Policy, shown: str, speller: Speller
) -> None:
    """Spaces, capitals and what is masked follow the rules of writing."""
    read = next(iter(texts_of(release(policy, [text]), speller)))
    pieces = ["".join(map(_text, read.before))]
    for drawn in read.drawn:
        word = "X" if drawn.capital else "x"
        pieces += [" " * drawn.spaced + word, *map(_text, drawn.after)]
    assert "".join(pieces) == shown


def _text(known: object) -> str:
    return str(language_models.byte_tokenizer().decode(known.tokens))  # type: ignore[attr-defined]


def test_pieces_are_divided_as_they_stand(speller: Speller) -> None:
    """A word has one spelling for each place; what it is worth sums to one."""
    cat = ENGLISH.words.index("cat")
    split = language_models.byte_tokenizer()
    assert split.decode(speller.word(cat, True, False)) == " cat"
    assert split.decode(speller.word(cat, False, True)) == "Cat"
    assert split.decode(speller.of(",")) == ","
    assert speller.start == tuple(split.encode("\n"))
    first: dict[int, list[float]] = {}
    for row in range(len(ENGLISH.words)):
        tokens = speller.word(row, True, False)
        value = float(speller.ahead(True, False)[row])
        assert value <= 0.0
        if len(tokens) == 1:
            assert value == 0.0
        else:
            first.setdefault(tokens[0], []).append(value)
    assert first
