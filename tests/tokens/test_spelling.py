from __future__ import annotations

from collections.abc import Callable

import pytest

from dptext.tokens import inflections as spelling

REGULAR: dict[Callable[[str], str], str] = {
    spelling.plural: "dog dogs city cities box boxes photo photos hero heroes day days "
    "boy boys",
    spelling.third_person: "go goes try tries",
    spelling.past: "walk walked try tried stop stopped hope hoped open opened love "
    "loved",
    spelling.participle: "lie lying see seeing try trying be being panic panicking die "
    "dying make making",
    spelling.comparative: "big bigger",
    spelling.superlative: "dry driest nice nicest",
}


@pytest.mark.parametrize("rule", REGULAR, ids=lambda rule: rule.__name__)
def test_regular_forms(rule: Callable[[str], str]) -> None:
    """Each rule gives the forms that usage has."""
    words = REGULAR[rule].split()
    assert [rule(word) for word in words[::2]] == words[1::2]
