from __future__ import annotations

import re
import time
import unicodedata
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext.tokens import kinds, regex
from dptext.tokens.regex import MARK, key_of, kind_of, segment, split

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)
# Text in which the branches of the expression are likely to meet.
DENSE = st.text(
    st.sampled_from("aZn't ’s_-.,:/@#1٣é日\u0301\u200b\u200d\ufe0f😀🏽\n\t\ud800wth"),
    max_size=40,
)


@cache
def characters() -> list[str]:
    """Return a character of each range of Unicode of one category, with its ends.

    Of ranges of thousands every 64th, of the first 12,288 characters all.
    """
    every = [unicodedata.category(chr(point)) for point in range(0x110000)]
    return [
        chr(point)
        for point, category in enumerate(every)
        if point < 0x3000
        or point % 64 == 0
        or {*every[point - 1 : point + 2]} != {category}
    ]


@settings(max_examples=1500, deadline=None)
@given(st.one_of(ANY_TEXT, DENSE))
def test_pieces_joined_are_the_text(text: str) -> None:
    """Splitting loses nothing of any string, surrogates included."""
    assert "".join(split(text)) == text


@pytest.mark.slow
@settings(max_examples=2000)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                "a b U x é 1 @ . , ' - / : ; ! ? ) \" # _ Ω 中 \u0301".split()
            ),
            st.sampled_from(
                [" ", "\n", "\t", "\u2028", "www.", "://", "com", "I.", "n't"]
            ),
            st.text(max_size=2),
        ),
        max_size=9,
    ).map("".join)
)
def test_the_short_way_for_plain_words_changes_no_piece(text: str) -> None:
    """Pieces are those of the whole pattern without it."""
    assert split(text) == re.findall(rf" ?(?:{regex._BODY})|\s+", text)


@pytest.mark.slow
def test_every_character_is_a_piece_by_itself() -> None:
    """No character of Unicode is lost, alone or between letters."""
    for text in characters():
        assert split(text) == [text]
        assert "".join(split(f"a{text}b")) == f"a{text}b"


@settings(max_examples=800, deadline=None)
@given(st.one_of(ANY_TEXT, DENSE))
def test_only_marks_and_space_count_as_punctuation_and_space(text: str) -> None:
    """A kept piece is one mark or only white space; no content hides in it."""
    for piece in split(text):
        body = piece[1:] if len(piece) > 1 and piece[0] == " " else piece
        kind = kind_of(piece)
        if kind == kinds.SPACE:
            assert piece.isspace()
        elif kind == kinds.PUNCTUATION:
            assert len(body) == 1
            assert unicodedata.category(body)[0] in "PS"
        else:
            assert kind in (kinds.WORD, kinds.NUMBER, kinds.IDENTIFIER)


@pytest.mark.slow
def test_no_control_or_invisible_character_is_kept_as_punctuation() -> None:
    """Control, format, private, unassigned and surrogate characters are replaced."""
    for char in characters():
        if unicodedata.category(char).startswith("C") and not char.isspace():
            kept = kind_of(char) in (kinds.PUNCTUATION, kinds.SPACE)
            assert not kept, hex(ord(char))


WORD, NUMBER, IDENTIFIER = kinds.WORD, kinds.NUMBER, kinds.IDENTIFIER
PUNCTUATION, SPACE = kinds.PUNCTUATION, kinds.SPACE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A cat", [("A", WORD), (" cat", WORD)]),
        ("don't", [("don't", WORD)]),
        ("rock’n’roll", [("rock’n’roll", WORD)]),
        ("well-known", [("well-known", WORD)]),
        ("snake_case", [("snake_case", WORD)]),
        ("'tis", [("'", PUNCTUATION), ("tis", WORD)]),
        ("'s", [("'s", WORD)]),
        ("’ll go", [("’ll", WORD), (" go", WORD)]),
        ("dogs'", [("dogs", WORD), ("'", PUNCTUATION)]),
        ("U.S. law", [("U.S.", WORD), (" law", WORD)]),
        ("e.g., so", [("e.g.", WORD), (",", PUNCTUATION), (" so", WORD)]),
        ("end.", [("end", WORD), (".", PUNCTUATION)]),
        ("https://a.org/b?c=1#d.", [("https://a.org/b?c=1#d", IDENTIFIER), (".", 3)]),
        ("(http://x.y/z)", [("(", 3), ("http://x.y/z", IDENTIFIER), (")", 3)]),
        ("ftp://h/p", [("ftp://h/p", IDENTIFIER)]),
        ("www.a-b.de/x", [("www.a-b.de/x", IDENTIFIER)]),
        (
            "see example.com/a_b.",
            [("see", 0), (" example.com/a_b", IDENTIFIER), (".", 3)],
        ),
        ("j.doe+x@mail.a.org,", [("j.doe+x@mail.a.org", IDENTIFIER), (",", 3)]),
        ("@jane_doe: hi", [("@jane_doe", IDENTIFIER), (":", 3), (" hi", WORD)]),
        ("#MeToo", [("#MeToo", IDENTIFIER)]),
        ("# 1", [("#", PUNCTUATION), (" 1", NUMBER)]),
        ("42", [("42", NUMBER)]),
        ("1,200.50", [("1,200.50", NUMBER)]),
        ("2024-03-01", [("2024-03-01", NUMBER)]),
        ("1/2/1999", [("1/2/1999", NUMBER)]),
        ("12:30", [("12:30", NUMBER)]),
        ("+49-30-1234567", [("+", PUNCTUATION), ("49-30-1234567", NUMBER)]),
        (
            "(555) 010-9999",
            [("(", 3), ("555", NUMBER), (")", 3), (" 010-9999", NUMBER)],
        ),
        ("192.168.0.1", [("192.168.0.1", NUMBER)]),
        ("$5", [("$", PUNCTUATION), ("5", NUMBER)]),
        ("50%", [("50", NUMBER), ("%", PUNCTUATION)]),
        ("3rd", [("3rd", NUMBER)]),
        ("1990s 21ST", [("1990s", NUMBER), (" 21ST", NUMBER)]),
        ("5s", [("5s", WORD)]),
        ("1e5", [("1e5", WORD)]),
        ("-5", [("-", PUNCTUATION), ("5", NUMBER)]),
        ("B2B", [("B2B", WORD)]),
        ("٣٤", [("٣٤", NUMBER)]),
        ("😀", [("😀", IDENTIFIER)]),
        ("👍🏽", [("👍🏽", IDENTIFIER)]),
        ("👩\u200d👩\u200d👧 ok", [("👩\u200d👩\u200d👧", IDENTIFIER), (" ok", WORD)]),
        ("☺\ufe0f", [("☺\ufe0f", IDENTIFIER)]),
        ("日本語", [("日", WORD), ("本", WORD), ("語", WORD)]),
        ("東京3年", [("東", WORD), ("京", WORD), ("3", NUMBER), ("年", WORD)]),
        ("한국어", [("한국어", WORD)]),
        ("cafe\u0301", [("cafe\u0301", WORD)]),
        ("हिन्दी", [("हिन्दी", WORD)]),
        ("a\u200bb", [("a", WORD), ("\u200b", IDENTIFIER), ("b", WORD)]),
        ("\ufeffa", [("\ufeff", IDENTIFIER), ("a", WORD)]),
        ("a\x00b", [("a", WORD), ("\x00", IDENTIFIER), ("b", WORD)]),
        ("\x1b[0m", [("\x1b", IDENTIFIER), ("[", 3), ("0m", WORD)]),
        ("\ud83d", [("\ud83d", IDENTIFIER)]),
        ("\ue000", [("\ue000", IDENTIFIER)]),
        ("€5", [("€", PUNCTUATION), ("5", NUMBER)]),
        ("5 €", [("5", NUMBER), (" €", PUNCTUATION)]),
        ("20°C", [("20", NUMBER), ("°", PUNCTUATION), ("C", WORD)]),
        ("✓ ★", [("✓", IDENTIFIER), (" ★", IDENTIFIER)]),
        ("♯❨", [("♯", PUNCTUATION), ("❨", PUNCTUATION)]),
        ("a  b", [("a", WORD), ("  ", SPACE), ("b", WORD)]),
        ("a\u00a0b", [("a", WORD), ("\u00a0", SPACE), ("b", WORD)]),
        ("a \n b", [("a", WORD), (" \n ", SPACE), ("b", WORD)]),
        ("…«»", [("…", PUNCTUATION), ("«", PUNCTUATION), ("»", PUNCTUATION)]),
        (" .", [(" .", PUNCTUATION)]),
        (" ", [(" ", SPACE)]),
        ("", []),
    ],
)
def test_each_kind_of_token_is_told_apart(
    text: str, expected: list[tuple[str, int]]
) -> None:
    """The pieces and kinds of one example of each form."""
    assert [(piece, kind_of(piece)) for piece in split(text)] == expected


VOCABULARY = {
    word: row
    for row, word in enumerate(
        [
            "do",
            "n't",
            "'s",
            "cat",
            "well",
            "known",
            "mother-in-law",
            "in",
            "naive",
            "don",
        ]
    )
}


def lookup(key: str) -> int:
    """Look a key up in the small vocabulary."""
    return VOCABULARY.get(key, -1)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("cat", [("cat", 3)]),
        ("CAT", [("CAT", 3)]),
        ("Don't", [("Do", 0), ("n't", 1)]),
        ("DON’T", [("DO", 0), ("N’T", 1)]),
        ("cat's", [("cat", 3), ("'s", 2)]),
        ("zq's", [("zq", -1), ("'s", 2)]),
        ("cat've", [("cat", 3), ("'", MARK), ("ve", -1)]),
        ("well-known", [("well", 4), ("-", MARK), ("known", 5)]),
        ("mother-in-law", [("mother-in-law", 6)]),
        ("zq-in-zq", [("zq", -1), ("-", MARK), ("in", 7), ("-", MARK), ("zq", -1)]),
        ("zq-zq", [("zq-zq", -1)]),
        ("naïve", [("naïve", 8)]),
        ("nai\u0308ve", [("nai\u0308ve", 8)]),
        ("日", [("日", -1)]),
        ("n't", [("n't", 1)]),
        ("well_cat's", [("well", 4), ("_", MARK), ("cat", 3), ("'s", 2)]),
    ],
)
def test_words_divide_as_coarsely_as_the_vocabulary_allows(
    word: str, expected: list[tuple[str, int]]
) -> None:
    """Whole, without accents, without clitic, then part by part."""
    assert segment(word, lookup) == expected


@settings(max_examples=600, deadline=None)
@given(
    DENSE, st.sets(st.sampled_from(["a", "n't", "t", "'s", "z", "an", "e", "w", "'"]))
)
def test_parts_joined_are_the_word(text: str, vocabulary: set[str]) -> None:
    """With any vocabulary, segmenting a word loses nothing and marks only marks."""
    for piece in split(text):
        if kind_of(piece) != kinds.WORD:
            continue
        word = piece.removeprefix(" ")
        parts = segment(word, lambda key: 0 if key in vocabulary else -1)
        assert "".join(part for part, _ in parts) == word
        assert all(part for part, _ in parts)
        for part, row in parts:
            assert (row != MARK) or part in "-_'’"


def test_the_key_of_a_word_is_lower_case_with_straight_quotes() -> None:
    """Words are looked up in any case and with any quotes."""
    assert key_of("Don’T") == "don't"


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "1",
        "a-",
        "1-",
        "a.",
        "@a",
        "#a.",
        "www.",
        "a@",
        "http://",
        "'",
        "a'",
        " ",
        "a.b@",
        "😀\u200d",
        "1.1.1a",
        "-a.",
        "www.)",
        "_",
        "a_-",
    ],
)
def test_no_text_takes_more_than_linear_time(unit: str) -> None:
    """100 000 characters of anything split within seconds (a loop would take hours)."""
    for end in ("", "b", "com1", "\n"):
        text = unit * (100_000 // len(unit)) + end
        began = time.perf_counter()
        assert "".join(split(text)) == text
        assert time.perf_counter() - began < 5.0


@pytest.mark.parametrize("clitic", ["'s", "n't", "l'", "-s"])
def test_no_word_takes_more_than_linear_time(clitic: str) -> None:
    """A word of 30,000 parts is divided within seconds, and without recursion."""
    rows = {"'s": 0, "n't": 1, "l'": 2}
    for word in (clitic * 30_000 + "x", "x" + clitic * 30_000):
        began = time.perf_counter()
        parts = segment(word, lambda key: rows.get(key, -1))
        assert "".join(part for part, _ in parts) == word
        assert time.perf_counter() - began < 5.0
