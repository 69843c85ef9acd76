from __future__ import annotations

import pytest

from dptext.attackers import layout
from dptext.tokens.policy import Policy
from tests.attackers.releases import release


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
    text: str, policy: Policy, shown: str
) -> None:
    """Spaces, capitals and masked words follow the rules of writing."""
    pieces = next(iter(layout.texts_in_pieces(release(policy, [text]))))
    said = [each.text if each.drawn < 0 else each.written("x") for each in pieces]
    assert "".join(said) == shown
