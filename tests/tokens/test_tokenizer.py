from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import open_pipeline
from dptext.tokens import kinds, memory
from dptext.tokens.policy import Policy
from dptext.tokens.symbols import visible
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import NUMBER, Words
from tests import small

pytestmark = pytest.mark.quick

ENGLISH = small.english("the", "cat", "do", "n't", "'s", "Paris", "well", "known")
ROWS = {word.lower(): row for row, word in enumerate(ENGLISH.words)}


def make_words(*texts: str, policy: Policy | None = None) -> Words:
    """Divide texts with a fresh memory."""
    return Tokenizer(ENGLISH, policy or Policy()).words(texts)


def join_texts(words: Words) -> list[str]:
    """Join the pieces of each text."""
    ends = words.ends.tolist()
    begins = [0, *ends[:-1]][: len(ends)]
    return [
        "".join(words.pieces[begin:end])
        for begin, end in zip(begins, ends, strict=True)
    ]


ANY = st.text(st.characters(codec=None, exclude_categories=()), max_size=30)
DENSE = st.text(st.sampled_from("cat the don't's -_’.1@\n日zq"), max_size=40)
TEXTS = st.lists(st.one_of(ANY, DENSE), max_size=6)


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.sampled_from(["perturb", "keep"]))
def test_pieces_joined_are_the_texts(texts: list[str], unknown: str) -> None:
    """Nothing visible is lost, and all arrays fit together, for any batch of texts."""
    words = make_words(*texts, policy=Policy(unknown=unknown))  # type: ignore[arg-type]
    assert join_texts(words) == list(map(visible, texts))
    assert len(words.ends) == len(texts)
    assert len(words.flags) == len(words.pieces)
    assert words.flags.dtype == np.uint8
    assert words.ids.dtype == np.int32
    for array in (words.ends, words.positions, words.texts):
        assert array.dtype == np.int64
    assert len(words.positions) == len(words.texts) == len(words.ids)
    assert (np.diff(words.positions) > 0).all()
    assert (np.diff(words.texts) >= 0).all()
    begins = np.concatenate(([0], words.ends[:-1])) if texts else words.ends
    assert (begins[words.texts] <= words.positions).all()
    assert (words.positions < words.ends[words.texts]).all()
    assert ((words.ids >= -1) & (words.ids < len(ENGLISH.words))).all()


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.integers(0, 6))
def test_a_text_is_divided_the_same_in_any_batch(texts: list[str], cut: int) -> None:
    """Splitting a batch in two changes nothing, also with a memory in use."""
    one = Tokenizer(ENGLISH, Policy())
    together = one.words(texts)
    parts = [one.words(texts[:cut]), make_words(*texts[cut:])]
    assert together.pieces == parts[0].pieces + parts[1].pieces
    for name in ("flags", "ids"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(getattr(together, name), joined)


def test_single_pieces_have_the_flags_and_texts_of_the_batch() -> None:
    """Bytes and lists for fast looks say what the arrays say."""
    words = make_words("", "One word.", "", "Two", "")
    assert [*words.flag] == words.flags.tolist()
    for position in range(len(words.pieces)):
        text = int(np.searchsorted(words.ends, position, side="right"))
        assert words.text_at(position) == text
        assert words.bounds_at(position) == (words.bounds[text], words.ends[text])
        assert (position in words.begins) is (position == words.bounds[text])


def test_words_are_looked_up_by_their_parts() -> None:
    """Known words, clitics, numbers, unknown words and identifiers get their rows."""
    words = make_words("The CAT's don't 42, zq @x well-known.")
    parts = [words.pieces[position] for position in words.positions]
    assert parts == [
        "The",
        " CAT",
        "'s",
        " do",
        "n't",
        " 42",
        " zq",
        " @x",
        " well",
        "known",
    ]
    expected = ["the", "cat", "'s", "do", "n't", NUMBER, "", "", "well", "known"]
    assert words.ids.tolist() == [ROWS.get(word, -1) for word in expected]


def test_the_parts_of_a_word_carry_one_leading_space() -> None:
    """A space before a divided word belongs to its first part only."""
    words = make_words("a don't")
    lead = (words.flags & kinds.LEAD) != 0
    assert [words.pieces[i] for i in np.flatnonzero(lead)] == [" do"]


def test_no_text_can_name_the_number_element() -> None:
    """Its name written out in a text is marks and an unknown word."""
    assert make_words("<number>", "number").ids.tolist() == [-1, -1]


def test_empty_texts_and_batches_have_no_words() -> None:
    """Nothing in, nothing out, with arrays of the right kind."""
    empty = make_words()
    assert (empty.pieces, len(empty.ends), len(empty.ids)) == ([], 0, 0)
    words = make_words("", "cat", "", "...", "")
    assert words.texts.tolist() == [1]
    assert words.ends.tolist() == [0, 1, 1, 4, 4]


def test_divided_words_do_not_shift_other_texts() -> None:
    """Ends stand right where words of earlier texts have several parts."""
    texts = ["cat", "don't don't", "", "zq-zq well-known", "the"]
    words = make_words(*texts)
    assert join_texts(words) == texts
    assert words.texts.tolist() == [0, 1, 1, 1, 1, 3, 3, 3, 4]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("a", 0),
        ("A", kinds.TITLE),
        ("AB", kinds.TITLE | kinds.UPPER),
        ("Ab", kinds.TITLE),
        ("aB", 0),
        ("A1", kinds.TITLE),
        (".", kinds.ENDER),
        ("?", kinds.ENDER),
        ("。", kinds.ENDER),
        ("…", kinds.ENDER),
        (",", 0),
        ("\n", kinds.ENDER),
        ("\t", 0),
        ("\r\n", kinds.ENDER),
        (" ", 0),
    ],
)
def test_pieces_are_flagged(text: str, marks: int) -> None:
    """Capitals of words and ends of sentences are flagged, and nothing else."""
    assert make_words(text).flags.tolist()[0] & ~kinds.KIND == marks


@pytest.mark.parametrize(
    ("policy", "replaced"),
    [
        (Policy(), ["the", " cat", " zq", " 42", " @x", "'s"]),
        (Policy(unknown="keep"), ["the", " cat", " 42", "'s"]),
        (Policy(unknown="mask"), ["the", " cat", " 42", "'s"]),
        (Policy(number="keep"), ["the", " cat", " zq", " @x", "'s"]),
        (Policy(number="digits"), ["the", " cat", " zq", " @x", "'s"]),
        (Policy(stop_word="keep"), [" cat", " zq", " 42", " @x"]),
        (Policy(punctuation="drop"), ["the", " cat", " zq", " 42", " @x", "'s"]),
    ],
)
def test_only_perturbed_classes_become_words(
    policy: Policy, replaced: list[str]
) -> None:
    """Tokens that a policy keeps, masks or drops are no words for the mechanism."""
    words = make_words("the cat, zq! 42 @x's", policy=policy)
    assert [words.pieces[position] for position in words.positions] == replaced


def test_memory_starts_anew_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A full memory of pieces is emptied; the words stay the same."""
    monkeypatch.setattr(memory, "REMEMBERED", 10)
    one = Tokenizer(ENGLISH, Policy())
    for turn in range(5):
        texts = [f"word{turn}x{n} don't well-known" for n in range(20)]
        again, fresh = one.words(texts), make_words(*texts)
        assert again.pieces == fresh.pieces
        np.testing.assert_array_equal(again.ids, fresh.ids)
        np.testing.assert_array_equal(again.flags, fresh.flags)


@pytest.mark.parametrize(
    "piece", ["cat", "Cat", "ZQ", "don't", "12", ",", ".", "\n", " ", "  ", "@", "é"]
)
def test_a_piece_is_read_alike_before_and_after_one_without_its_space(
    piece: str,
) -> None:
    """The memory of a piece changes nothing of the same with a space before it."""
    one = Tokenizer(ENGLISH, Policy())
    one.words([piece])
    again, fresh = one.words([f"a {piece}"]), make_words(f"a {piece}")
    assert again.pieces == fresh.pieces
    np.testing.assert_array_equal(again.ids, fresh.ids)
    np.testing.assert_array_equal(again.flags, fresh.flags)


def test_long_pieces_are_not_remembered() -> None:
    """Memory is bounded in characters too: only short pieces are kept in it."""
    one = Tokenizer(ENGLISH, Policy())
    one.words(["q" * 1000, "cat " * 3])
    assert max(map(len, one._codes)) < 64
    one.words(["well-" + "q" * 1000, "do" + "-zq" * 100 + "n't"])
    assert max(map(len, one._parts), default=0) < 64
    assert not one._long


class _ByRules(Tokenizer):
    """Reads all words by the rules, also those that are known letter by letter."""

    def _copied_words(self) -> tuple[frozenset[str], frozenset[str]]:
        return frozenset(), frozenset()


CHUNKS = st.sampled_from(
    ["the", "The", "CAT", "cats", "don't", "Paris", "\u212a", "\u0130", "@", " ", "  "]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(CHUNKS).map("".join), max_size=4))
def test_plain_words_are_what_the_rules_say(texts: list[str]) -> None:
    """The short way for known words of ASCII letters changes nothing."""
    policy = Policy(stop_word="keep")
    short = Tokenizer(ENGLISH, policy).words(texts)
    rules = _ByRules(ENGLISH, policy).words(texts)
    assert short.pieces == rules.pieces
    assert short.flags.tolist() == rules.flags.tolist()
    assert short.ids.tolist() == rules.ids.tolist()


def test_copied_words_are_what_the_rules_say() -> None:
    """The set of common words in lower case gives the codes of the rules."""
    readable = open_pipeline("readable")
    policy = readable.profile.tokens
    quick = Tokenizer(readable.lexicon, policy)
    slow = _ByRules(readable.lexicon, policy)
    common = quick._plain
    assert len(common) > 5000
    words = [*sorted(common), *map(str.capitalize, sorted(common)[::20])]
    for word in words:
        for piece in (word, f" {word}"):
            assert quick._codes[piece] == slow._codes[piece], piece
    assert quick._parts == slow._parts
