from __future__ import annotations

import re
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from dptext.randomness import Randomness, RunKey
from dptext.tokens import kinds, symbols
from dptext.tokens.policy import Policy
from dptext.tokens.regex import kind_of, split
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Words
from dptext.writing.joining import Joiner
from tests import small

ENGLISH = small.english("the", "cat", "dog", "costs", "doctor", "hyphenation")
DOCS = Path(__file__).parents[2] / "docs"
# Of each kind some, none of which the code names.
MONEY = "₿₺₩₽¢฿₪元"[:-1]
WITHOUT_WIDTH = "\u00ad\u200b\u200c\u200d\u200e\u2060\ufeff\ufe0f\u3164\U000e0041"


def make_words(text: str, policy: Policy | None = None) -> Words:
    """Divide one text."""
    return Tokenizer(ENGLISH, policy or Policy()).words([text])


def written(text: str, policy: Policy | None = None) -> str:
    """Write a text with the word "cat" for all that is drawn."""
    policy = policy or Policy()
    words = make_words(text, policy)
    row = ENGLISH.row_of["cat"]
    drawn = np.full(len(words.positions), row, np.int32)
    bits = Randomness(RunKey.from_seed(1), "").bits([bytes(16)], words.texts)
    return Joiner(ENGLISH, policy).join(words, drawn, bits).texts[0]


def test_every_character_is_of_the_kind_that_the_table_says() -> None:
    """Letters, digits and spaces aside, the first row for a category decides."""
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        category = unicodedata.category(character)
        if category[0] in "LMNZ" or character == "_" or character.isspace():
            continue
        rule = next(
            rule
            for rule in symbols.TABLE
            if category in rule.categories
            and (not rule.ranges or any(a <= point <= b for a, b in rule.ranges))
        )
        is_kept = kind_of(character) == kinds.PUNCTUATION
        assert is_kept == rule.is_mark, hex(point)


def test_every_category_of_signs_has_a_row() -> None:
    """No category of marks, symbols and other characters is left to chance."""
    named = {category for rule in symbols.TABLE for category in rule.categories}
    found = {unicodedata.category(chr(each)) for each in range(sys.maxunicode + 1)}
    assert named == {each for each in found if each[0] in "PSC"}


@pytest.mark.parametrize("sign", [*MONEY, *"$€£¥°©®™+=<>|~^×"])
def test_a_mark_beside_a_number_or_a_word_stays_there(sign: str) -> None:
    """All currencies alike: neither a word more nor a space more."""
    for text in (f"{sign}cat", f"cat{sign}", f"cat {sign} cat", f"the {sign}cat."):
        assert written(text).lower() == re.sub("the|cat", "cat", text)


def test_pictures_are_replaced_and_marks_are_not() -> None:
    """A sign that may mean something by itself is one unknown word."""
    for text in ("✓", "😀", "Ⓐ", "⠓", "👍🏽", "☎"):
        assert len(make_words(text).positions) == 1
        assert written(text) == "Cat"


@pytest.mark.parametrize("mark", WITHOUT_WIDTH)
def test_characters_without_width_neither_divide_words_nor_are_words(mark: str) -> None:
    """The output is that of the text without them."""
    for text in ("doc*tor hy*phen*ation", "* doctor*, *", "*", "$*5", "*@jo*hn", ""):
        words = make_words(text.replace("*", mark))
        plain = make_words(text.replace("*", ""))
        assert words.pieces == plain.pieces
        assert words.ids.tolist() == plain.ids.tolist()
    assert make_words(f"doc{mark}tor").ids.tolist() == [ENGLISH.row_of["doctor"]]


def test_no_kept_part_of_an_output_has_characters_without_width() -> None:
    """Words, lists and marks that are copied are copied without them."""
    policy = Policy(unknown="keep", number="keep", stop_word="keep")
    text = "z\u200dq, 1\u20602 \u200bthe\ufeff (\u200c)"
    assert written(text, policy) == "zq, 12 the ()"


def test_the_table_of_the_docs_is_that_of_the_code() -> None:
    """docs/tokens.md names each category with what becomes of it."""
    lines = (DOCS / "tokens.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if re.match(r"\| `[PSC][a-z]`", line)]
    said: dict[str, set[tuple[str, str]]] = {}
    for row in rows:
        first, named, examples, fate = re.split(r"(?<!\\)\|", row)[1:5]
        for category in re.findall(r"`([PSC][a-z])`", first):
            said.setdefault(category, set()).add((named.strip(), fate.strip()))
        if "U+" not in examples:
            for sign in examples.replace("\\|", "|").split():
                is_kept = kind_of(split(sign)[0]) == kinds.PUNCTUATION
                assert fate.strip() == ("unchanged" if is_kept else "replaced"), sign
    for rule in symbols.TABLE:
        fate = "unchanged" if rule.is_mark else "replaced"
        assert all((rule.name, fate) in said[each] for each in rule.categories)
