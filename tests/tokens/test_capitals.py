"""Words with capitals that are copied: headings, openings, words in capitals, emoji."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import profile
from dptext.tokens import kinds, language_data
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon
from tests.tokens.test_common import check_swaps, shown_in
from tests.tokens.texts import both

READABLE = profile.load("readable").tokens


@pytest.mark.parametrize(
    "text",
    [
        "Hey team - Please delete it. Dear all, Just checking. Hello <Sarah>, Could",
        'Agent: Order is late. He said, "Quickly come". it is - Finally here',
        "- Great\\n• Great stuff\\n<10:32> Great\\n<2024-05-01> <10:32:11> Delivery",
        "⭐⭐⭐⭐⭐ Great. it is 😂😂 Decent, ★★★☆☆ Another",
        "URGENT: CALL me ABOUT my REFUND, <ZORK> and <SMITH>",
        "May I ask? Will you come? Mark the box. Hope this helps. Bill me later",
        "to <May> we, to <Mark> the box, <Mark> came, <Bill>. me",
        "Dear Friends, Hi Team, Dear Customer Service, Dear Minister",
        "Refund Not Received After Three <Days> of Waiting",
    ],
)
def test_words_with_capitals_are_copied(builtin: Lexicon, text: str) -> None:
    """Behind openings, in headings and in capitals; names and others are replaced."""
    text = text.replace("\\n", "\n")
    assert shown_in(builtin, text.replace("<", "").replace(">", ""), READABLE) == text


def test_headings_are_told_by_shown_capitals_alone(builtin: Lexicon) -> None:
    """Not where capitals are hidden, nor for nouns, nor with more small words."""
    heading = "Orders Quickly Received Late by Zork"
    assert "Quickly Received Late" in shown_in(builtin, heading, READABLE)
    hidden = Policy(common=8000)
    assert "<Quickly>" in shown_in(builtin, heading, hidden)
    assert "<Quickly" in shown_in(builtin, f"we were told {heading}", READABLE)


@pytest.mark.parametrize(
    "text",
    [
        "the <sweet_tree_co> and <future_creative> came",
        "<@ sweet_tree_co> and <climb _ chairman> and <@ JohnDoe> at @ work",
        "<@sweet_tree_co> is <#best_service>",
        "by <com.acme.billing.Invoice> now",
        "the <2> main road <closures>",
    ],
)
def test_identifiers_are_one_piece(builtin: Lexicon, text: str) -> None:
    """Names of users with underscores, also with spaces, and names with dots."""
    assert shown_in(builtin, text.replace("<", "").replace(">", ""), READABLE) == text


def test_keys_of_logs_are_copied_and_values_are_not(builtin: Lexicon) -> None:
    """Levels and keys of a public list stay, so that a line keeps its shape."""
    line = (
        'ERROR user=<bob> ip=<10.0.0.1> port=<8080> session_id=<ab12cd34> user="<bill>"'
    )
    bare = line.replace("<", "").replace(">", "")
    assert shown_in(builtin, bare, READABLE) == line
    assert "<session_id>" in shown_in(builtin, "the session_id 5", READABLE)


def test_copied_emoji_tell_nothing_of_a_person(builtin: Lexicon) -> None:
    """No flags, skin tones, families, faiths; others become one mark, a run as one."""
    copied = language_data.short_forms("en")["emoji"]
    assert 60 <= len(copied) <= 100
    assert {"⭐", "★", "😂", "👍"} <= copied
    assert not copied & {*"🙏👨👩👧🏽✝☪✡🕌⛪🏳🌈💊💉🤰♿🇩"}
    for text in ("it is 👍🏽 ok", "it is 👨‍👩‍👧 ok", "it is ⭐🙏 ok", "it is 🇩🇪 ok"):
        words = both(builtin, READABLE)[0].words([text])
        kind = (words.flags & kinds.KIND).tolist()
        assert kind.count(kinds.FORMED) == 1
        assert len(kind) == 4
    # No profile without common words copies one.
    words = Tokenizer(builtin, profile.load("balanced").tokens).words(["it is ⭐ ok"])
    assert (words.flags & kinds.KIND).tolist().count(kinds.FORMED) == 1


HIDDEN = (
    "Sarah",
    "Zork",
    "Will",
    "qzzx",
    "Great",
    "IT",
    "May",
    "Bank",
    "x_y",
    "A",
    "German",
    "French",
    "germans",
    "patient",
)
BESIDE = (
    " -",
    ",",
    ":",
    ".",
    '"',
    "Hi",
    "dear",
    "me",
    "the",
    "I",
    "=",
    "user",
    "ip",
    "⭐",
    "10:30",
    "\n",
    "ME",
    "City of",
    "very",
)


def test_no_hidden_word_decides_what_opens_a_sentence(builtin: Lexicon) -> None:
    """Texts of up to four pieces, with every other word in every hidden place."""
    texts = [" ".join(each) for each in product(HIDDEN, BESIDE, HIDDEN, BESIDE)][::3]
    texts += ["".join(each) for each in product(HIDDEN[:4], BESIDE, HIDDEN[:4])]
    assert check_swaps(builtin, texts, [*HIDDEN], READABLE) > 3_000


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from([*HIDDEN, *BESIDE, "Quickly", "Late", "of"]), max_size=25),
    st.text(max_size=8),
)
def test_nor_in_long_texts(builtin: Lexicon, text: list[str], other: str) -> None:
    """The same of long texts and headings, with any other word."""
    check_swaps(builtin, [" ".join(text)], [*HIDDEN, other], READABLE)
