"""The classes of words of the built-in lexicon, and the words that replace others."""

from __future__ import annotations

import numpy as np
import pytest

from dptext.lexicons import word_classes as closed
from dptext.lexicons.orders import rows_of_names
from dptext.lexicons.word_classes import classes_of_lexicon
from dptext.mechanisms import Aim, rank
from dptext.tokens.language_data import closed_classes, word_classes
from dptext.tokens.regex import key_of, to_keys
from dptext.types import Lexicon
from tests import prepared

# Special categories of which no word is an output.
NEVER = ("health", "religion", "origin", "sexuality")
OUTPUTS = 8000


def _rows(lexicon: Lexicon, name: str) -> list[int]:
    row_of = lexicon.row_of
    keys = map(key_of, closed_classes("en")[name])
    return [row_of[key] for key in keys if key in row_of]


def _order(lexicon: Lexicon, row: int) -> list[int]:
    """Return the outputs that rank lists for a row."""
    order: list[int] = rank.list_outputs(prepared.space_of(lexicon), OUTPUTS, 96)[
        row
    ].tolist()
    return order


def test_no_word_of_a_special_category_is_an_output(builtin: Lexicon) -> None:
    """Nor one of sex, abuse, infamy or terror: none of the words that are listed."""
    classes = classes_of_lexicon(builtin)
    barred = classes.never[:OUTPUTS].copy()
    for category in NEVER:
        barred |= classes.in_category(category)[:OUTPUTS]
    assert not [builtin.words[row] for row in np.flatnonzero(barred)]
    peoples = {key_of(word) for word in closed_classes("en")["peoples"]}
    assert not peoples & {*to_keys(builtin.words[:OUTPUTS])}


def test_few_words_of_news_are_outputs(builtin: Lexicon) -> None:
    """Twelve of each class at most: the floor writes all outputs alike."""
    keys = [*to_keys(builtin.words[:OUTPUTS])]
    for each in word_classes("en"):
        if each.news:
            assert sum(key in each.words for key in keys) <= 24, each.name
    assert classes_of_lexicon(builtin).news[:OUTPUTS].sum() <= 72


def test_all_names_have_one_order_of_names(builtin: Lexicon) -> None:
    """Names are equal inputs of rank, and their order is the public list of names."""
    names = rows_of_names(builtin)
    assert names.sum() > 12_000
    listed = rank.list_outputs(prepared.space_of(builtin), OUTPUTS, 96)
    assert (listed[:-1][names] == listed[:-1][names][0]).all()
    assert set(listed[:-1][names][0].tolist()) <= set(_rows(builtin, "names"))
    mechanism = rank.Params().prepare(prepared.space_of(builtin), Aim(epsilon=9.5))
    row_of = builtin.row_of
    some = [row_of[name] for name in ("james", "aisha", "wei", "obama", "zhang")]
    exact = mechanism.log_probs(np.array(some, np.int32), np.full(len(some), 9.5))
    assert (exact == exact[0]).all()


@pytest.mark.parametrize(
    "name",
    [
        "places",
        "organisations",
        "months",
        "weekdays",
        "currency",
        "numbers",
        "negation",
    ],
)
def test_words_of_a_sealed_class_stand_for_their_class_alone(
    builtin: Lexicon, name: str
) -> None:
    """They come first in orders of their class, and stand in no other order."""
    rows = _rows(builtin, name)
    for row in rows:
        order = _order(builtin, row)
        inside = [y in rows for y in order]
        assert inside == sorted(inside, reverse=True), builtin.words[row]
    for word in ("delivery", "charged", "good", "the", "damaged", "quickly", "james"):
        assert not {*rows} & {*_order(builtin, builtin.row_of[word])}, word


def test_news_stand_for_news_alone(builtin: Lexicon) -> None:
    """A word of violence may become killed; charged, damaged and names may not."""
    news = {*np.flatnonzero(classes_of_lexicon(builtin).news[:OUTPUTS]).tolist()}
    row_of = builtin.row_of
    assert news & {*_order(builtin, row_of["attacked"])[:12]}
    for word in ("charged", "damaged", "ahmed", "delivery", "late", "broken"):
        assert not news & {*_order(builtin, row_of[word])} - {row_of[word]}, word
    assert not news & {*builtin.orders[-1].tolist()}


def test_no_word_of_a_gender_stands_for_the_other(builtin: Lexicon) -> None:
    """he, him, his for he, him, his; unknown words have nouns of neither."""
    men, women = ({*_rows(builtin, name)} for name in ("men", "women"))
    for one, other in ((men, women), (women, men)):
        for row in one:
            assert not other & {*_order(builtin, row)}, builtin.words[row]


def test_the_order_of_unknown_words_says_nothing(builtin: Lexicon) -> None:
    """Words that are not written as names become nouns of little meaning."""
    assert {*builtin.orders[-1].tolist()} <= {*_rows(builtin, "unknown")}
    assert builtin.words[builtin.orders[-1, 0]] == "thing"


def test_what_is_written_as_drawn_covers_identities(builtin: Lexicon) -> None:
    """Names, places and what unknown words become are among the closed classes."""
    kept = closed.written_as_drawn(builtin)
    for name in ("names", "unknown", "places", "negation", "men", "women"):
        assert kept[_rows(builtin, name)].all(), name
