from __future__ import annotations

import dataclasses
from typing import get_args, get_type_hints

import pytest

from dptext.tokens import kinds, policy
from dptext.tokens.policy import Policy


def test_the_default_covers_every_word() -> None:
    """Without settings, every kind of word is replaced and only marks are kept."""
    replaced = {
        kind for kind in range(7) if Policy().treatments[kind] == policy.PERTURB
    }
    assert replaced == {
        kinds.WORD,
        kinds.NUMBER,
        kinds.IDENTIFIER,
        kinds.STOP_WORD,
        kinds.UNKNOWN,
    }


@pytest.mark.parametrize(
    ("field", "own_kinds"),
    [
        ("unknown", (kinds.UNKNOWN, kinds.IDENTIFIER)),
        ("number", (kinds.NUMBER,)),
        ("stop_word", (kinds.STOP_WORD,)),
        ("punctuation", (kinds.PUNCTUATION, kinds.SPACE)),
    ],
)
def test_each_setting_speaks_of_its_kinds_only(
    field: str, own_kinds: tuple[int, ...]
) -> None:
    """A setting changes the treatment of its kinds and of no other."""
    for value in get_args(get_type_hints(Policy)[field]):
        changes = {field: value}
        changed = dataclasses.replace(Policy(), **changes)
        code = getattr(policy, value.upper())
        for kind in range(len(kinds.NAMES)):
            if kind == kinds.MARKUP and field == "punctuation":
                # Left out with marks, but else kept as layout.
                dropped = changed.treatments[kind] == policy.DROP
                assert dropped == (value == "drop")
                continue
            expected = code if kind in own_kinds else Policy().treatments[kind]
            assert changed.treatments[kind] == expected


def test_known_words_are_always_replaced() -> None:
    """No setting keeps a word of the vocabulary that is no stop word."""
    keep = Policy(unknown="keep", number="keep", stop_word="keep", case="copy")
    assert keep.treatments[kinds.WORD] == policy.PERTURB


def test_a_policy_cannot_be_changed() -> None:
    """Policies are frozen."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Policy().case = "copy"  # type: ignore[misc]
