"""Inflection by rule, candidate words, closed classes, and who gets in."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dptext.tokens import kinds
from dptext.tokens.language_data import stop_words
from dptext.tokens.regex import key_of, kind_of, split
from tools.english import forms
from tools.english.forms import candidates
from tools.english.wordnet import WordNet


@pytest.mark.parametrize(
    ("rule", "word", "form"),
    [
        (forms.adverb, "happy", "happily"),
        (forms.adverb, "gentle", "gently"),
        (forms.adverb, "basic", "basically"),
        (forms.adverb, "full", "fully"),
        (forms.quality, "happy", "happiness"),
    ],
)
def test_derivations(rule: Callable[[str], str], word: str, form: str) -> None:
    """The rules of English spelling give the regular form."""
    assert rule(word) == form


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("colourful", "colorful"),
        ("theatre", "theater"),
        ("organize", "organise"),
        ("organization", "organisation"),
        ("analyse", "analyze"),
        ("defence", "defense"),
        ("catalogue", "catalog"),
    ],
)
def test_spelling_variants(word: str, other: str) -> None:
    """British and American spellings lead to each other."""
    assert other in forms.variants(word)


@pytest.mark.parametrize("word", ["four", "size", "seize", "wise", "fence", "rogue"])
def test_words_without_a_variant(word: str) -> None:
    """Words that only look like the pattern stay alone."""
    assert forms.variants(word) == []


def test_candidates_have_irregular_forms_only(database: WordNet) -> None:
    """An irregular past takes the place of the regular one."""
    forms = candidates(database)
    assert {"ran", "running", "runs", "happier"} <= forms.keys()
    assert not {"runned", "runed", "happyer"} & forms.keys()


def test_places_have_no_plural(database: WordNet) -> None:
    """A name of one thing is not counted."""
    forms = candidates(database)
    assert "london" in forms
    assert "londons" not in forms


def test_a_form_of_two_lemmas_has_two_links(database: WordNet) -> None:
    """A word that is a noun and a verb says both."""
    assert {link.pos for link in candidates(database)["dogs"]} == {"n", "v"}


def test_closed_words_are_single_words() -> None:
    """Every closed-class word is one word to the splitter, clitics included."""
    closed = [word for word in forms.frequencies() if word != "n't"]
    assert all(split(w) == [w] and kind_of(w) == kinds.WORD for w in closed)


def test_closed_classes_have_the_stop_words() -> None:
    """Everything that a policy may keep as a stop word is known."""
    assert stop_words("en") <= {key_of(word) for word in forms.frequencies()}


def test_closed_words_leave_room_for_others() -> None:
    """Closed classes take between half and three quarters of running English."""
    figures = forms.frequencies().values()
    assert min(figures) > 0
    assert 450 < sum(figures) < 750


def test_groups_hold_closed_words_only() -> None:
    """Every word of a group has a frequency; a misspelt one would be lost."""
    known = {key_of(word) for word in forms.frequencies()}
    grouped = {word for group in forms.groups() for word in group}
    assert grouped <= known


def test_names_are_words() -> None:
    """Every name is one capitalised word."""
    every = forms.names().values()
    assert all(name.istitle() and split(name) == [name] for name in every)
