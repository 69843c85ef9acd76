"""Public classes of words, and the budgets that go by them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dptext import pipeline, profile, registry
from dptext.budgets import Budget, SequentialBudget, declared
from dptext.errors import UsageError
from dptext.settings import convert
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from tests import distributions, small

LEXICON = small.cloud(130, 3)
WORDS = Tokenizer(LEXICON, Policy()).words(
    [f"{LEXICON.words[0]} {LEXICON.words[110]} zq 42"]
)


def spread(name: str, given: dict[str, Any]) -> list[float]:
    """Return the epsilons of a frequent word, a rarer one, an unknown one, a number."""
    module: Any = registry.find("budgets", name)
    params = convert(given, module.Params, name)
    budget: Budget = params.prepare(LEXICON)
    eps: list[float] = budget.spread(WORDS, distributions.bits(4, 1)).tolist()
    return eps


def test_bands_of_frequency() -> None:
    """Each word its band's epsilon; unknown words and numbers are classes."""
    given = {
        "top-100": 1.0,
        "top-1000": 2.0,
        "unknown": 3.0,
        "number": 4.0,
        "other": 9.0,
    }
    assert spread("declared", {"epsilons": given}) == [1.0, 2.0, 3.0, 4.0]


def test_parts_of_speech() -> None:
    """Of the built-in lexicon; a lexicon without them says so."""
    from dptext import lexicons
    from dptext.types import PARTS

    english = lexicons.find("builtin")
    classes = declared.classes(english, "part-of-speech", "")
    rows = {word: row for row, word in enumerate(english.words)}
    for word, part in (
        ("house", "noun"),
        ("bring", "verb"),
        ("beautiful", "adjective"),
        ("quickly", "adverb"),
        ("London", "name"),
        ("the", "function-word"),
        ("seven", "number"),
        ("<number>", "number"),
    ):
        assert classes.names[int(classes.rows[rows[word]])] == part
    assert classes.names[int(classes.rows[-1])] == "unknown"
    assert set(PARTS) <= set(classes.names)
    with pytest.raises(UsageError, match="has no parts of speech"):
        declared.classes(LEXICON, "part-of-speech", "")


def test_places_of_a_text() -> None:
    """The first words by the list, all others by rest."""
    assert spread("position", {"epsilons": [5.0, 6.0], "rest": 7.0}) == [5, 6, 7, 7]


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    """Words of a file, in any case; the others are of class other."""
    table = tmp_path / "classes.csv"
    table.write_text(f"word,class\n{LEXICON.words[110].upper()},name\n")
    given = {
        "by": "table",
        "table": str(table),
        "epsilons": {"name": 1.0, "other": 2.0},
    }
    assert spread("declared", given) == [2.0, 1.0, 2.0, 2.0]
    # As Excel saves it, and with a word twice.
    rows = f"word,class\r\n{LEXICON.words[110]},name\r\n"
    table.write_bytes(f"\ufeff{rows}{LEXICON.words[110]},name\r\n".encode())
    assert spread("declared", given) == [2.0, 1.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("word,kind\na,b\n", "columns word and class"),
        ("word,class\na\n", r"classes\.csv:2: expected a word and its class"),
        ("", "columns word and class"),
        (
            "word,class\na,b\nA,b\na,c\n",
            r"classes\.csv:4: this word already has another class",
        ),
        (None, "No such file"),
    ],
)
def test_a_wrong_table_is_one_line(
    tmp_path: Path, content: str | None, reason: str
) -> None:
    """File, line and what to do."""
    table = tmp_path / "classes.csv"
    if content is not None:
        table.write_text(content)
    with pytest.raises(UsageError, match=reason):
        declared.classes(LEXICON, "table", str(table))


@pytest.mark.parametrize("path", ["/dev/zero", "a\0b"])
def test_a_table_that_is_no_file(path: str) -> None:
    """A device is not read without end, and no path ends with an internal error."""
    with pytest.raises(UsageError, match=r"^table"):
        declared.classes(LEXICON, "table", path)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"epsilons": {"top-100": 1.0}}, "missing for top-1000"),
        ({"epsilons": {"top": 1.0, "other": 1.0}}, "no class 'top'.*, other$"),
        ({"epsilons": {"other": 1.0}, "by": "length"}, "is not one of frequency"),
        ({"epsilons": {"other": 1.0}, "by": "table"}, "give table: FILE"),
        ({"epsilons": {"other": 0.0}}, "above 0"),
    ],
)
def test_wrong_settings_are_one_line(given: dict[str, Any], reason: str) -> None:
    """Classes without epsilon and epsilons without class."""
    with pytest.raises(UsageError, match=reason):
        spread("declared", given)


def test_the_released_past_stays_within_its_total() -> None:
    """A long text gets equal least parts; the sum never exceeds the total."""
    budget = {"name": "released-past", "epsilon": 5.0, "start": 4.0, "min": 1.0}
    data = {"mechanism": "santext", "budget": {**budget, "epsilons": {"other": 3.0}}}
    sanitizer = pipeline.build(profile.parse(data, "test.yaml"), LEXICON)
    words = sanitizer.tokenizer.words(["zq " * 40, "zq zq zq", "zq"])
    bits = distributions.bits(len(words.ids), 2)
    assert isinstance(sanitizer.budget, SequentialBudget)
    _, eps = sanitizer.budget.release(
        words,
        bits,
        lambda positions, e: sanitizer.draw(words.ids[positions], e, bits)[
            : len(positions)
        ],
    )
    sums = np.bincount(words.texts, eps)
    assert (sums <= 5.0).all()
    np.testing.assert_allclose(eps[:40], 5.0 / 40, rtol=1e-8)
    np.testing.assert_allclose(eps[40:], [3.0, 1.0, 1.0, 4.0], rtol=1e-8)
