"""Names in lower case are replaced beside copied words that show one."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import profile
from dptext.tokens import kinds, language_data
from dptext.tokens.common import common_words
from dptext.tokens.policy import Policy
from dptext.tokens.regex import key_of
from dptext.types import Lexicon
from tests.tokens.test_common import POLICY, check_swaps, shown_in
from tests.tokens.texts import both

READABLE = profile.load("readable").tokens


@pytest.mark.parametrize(
    "text",
    [
        "hi <mark>, talk to <rose> <young> about the best buy order",
        "thanks <bill>, <grant> <hill> and <jack> <white> said, see you in <reading>",
        "mr <power> came late, mrs. <young> too, and dr <price> is away",
        "it's <mark> from accounts, this is <rose>",
        "cc: <bill>\nsincerely, <grant>",
        "from: <april> <may>\nms. <long>\nsgt. <young>",
        "aunt <rose> and uncle <bill>",
        "my name is <price>. name is <will>, i'm <rose>",
        "hi <will>, talk to <will> about it",
        "regards,\n<mark> <young>\nthanks,\n<will>",
        "name: <summer>\ncustomer: <mark>\nuser=<bill>",
        "i live in <mobile>\ncity: <reading>",
        "it's <may> from accounts, that's <will>",
        "mr <friend> came, from <rose> - and by <mark>",
    ],
)
def test_names_in_lower_case_are_replaced(builtin: Lexicon, text: str) -> None:
    """Behind greetings, titles, keys, closings, and words such as call and talk to."""
    assert shown_in(builtin, text.replace("<", "").replace(">", ""), READABLE) == text


@pytest.mark.parametrize(
    "text",
    [
        "i will mark it, may grant you",
        "call back, call me, hi will you come",
        "thanks for it. thanks, will do. thanks, mark it",
        "dear friend, hi folks, thanks boss",
        "it's may already, it is may be late, who can i talk to may i ask",
        "a past with rose-garden signs, by mark-up",
        "dear all, hello there, hi again",
        "talk to young people, in reading and on mobile",
        "this is long, it's hard, that's fair",
        "dr said so, the name is great, price: high",
        "mark my words, thanks so much for the glass, it is a great price",
        "from time to time we call in at the bank by the hill",
    ],
)
def test_the_same_words_stay_elsewhere(builtin: Lexicon, text: str) -> None:
    """Verbs, modals, adjectives and nouns are copied, also behind some cues."""
    assert shown_in(builtin, text, READABLE) == text


@pytest.mark.parametrize(
    ("text", "is_name"),
    [
        ("My name is Will.", True),
        ("Dear Will, it is here", True),
        ("I met Will in town", True),
        ("so glad. Regards, Will", True),
        ("Hi Will you come", False),
        ("Hi May, it is me", True),
        ("Hi May I ask you", False),
        ("to all. Will you come", False),
    ],
)
def test_will_with_a_capital_is_a_person_beside_cues(
    text: str, is_name: bool, builtin: Lexicon
) -> None:
    """Both are, unless a word is behind before which they are verbs."""
    kind = kinds_of(builtin, text)
    name = "Will" if "Will" in text else "May"
    assert (kind[name] == "person") is is_name


def test_capitals_beside_cues_are_persons_and_places(builtin: Lexicon) -> None:
    """Never a word like others: "My name is Time"."""
    text = (
        "My name is Naga and I met Misty, Sunny and Bear in Mobile.\n"
        "Name: Summer\nCity: Reading\nNickname: Sunny"
    )
    kind = kinds_of(builtin, text)
    for name in ("Naga", "Misty", "Sunny", "Bear", "Summer"):
        assert kind[name] == "person"
    for name in ("Mobile", "Reading"):
        assert kind[name] == "place"


def kinds_of(lexicon: Lexicon, text: str) -> dict[str, str]:
    """Return the kind of each piece of a text."""
    words = both(lexicon, READABLE)[0].words([text])
    return {
        piece.strip(): kinds.NAMES[flags & kinds.KIND]
        for piece, flags in zip(words.pieces, words.flags.tolist(), strict=True)
    }


def test_a_rare_word_in_lower_case_is_a_person_there(builtin: Lexicon) -> None:
    """Behind titles, "name is" and greetings: never "my name is get"."""
    text = "dr pepper and mr plum: my name is qzkowal. hi zqbert, name: qzkowals\n"
    kind = kinds_of(builtin, text)
    for name in ("pepper", "plum", "qzkowal", "zqbert", "qzkowals"):
        assert kind[name] == "person"
    assert kinds_of(builtin, "thanks zqbert much")["zqbert"] == "unknown"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("tickets came in So I left", "So"),
        ("it jumps in Second Quarter", "Second"),
        ("he died in Car Accident", "Car"),
        ("thank you So much", "So"),
    ],
)
def test_words_of_headings_are_no_names(builtin: Lexicon, text: str, word: str) -> None:
    """Nor function words."""
    assert kinds_of(builtin, text)[word] not in ("person", "place")


def test_no_cue_is_a_name(builtin: Lexicon) -> None:
    """A cue is never replaced itself, and all names are common words."""
    sections = dict(language_data.sections("name_cues"))
    names = {
        word
        for section in ("given", "function", "family", "places")
        for word in sections.pop(section)
    }
    del sections["people"], sections["adjectives"], sections["addressees"]
    del (
        sections["written_offices"],
        sections["ranks_of_given"],
        sections["before_ranks"],
    )
    del sections["before_places"], sections["fields"]
    cues = {
        word
        for words in sections.values()
        for each in words
        for word in each.split("_")
    }
    listed = language_data.common_lists("en")["names"]
    assert not cues & (names | listed)
    common = common_words(builtin, 8000)
    assert all(
        common.code(word, key_of(word)) & kinds.KIND == kinds.COMMON for word in names
    )


# Replaced wherever they stand, or only beside a cue.
NAMES = (
    "Sarah",
    "qzzx",
    "mark",
    "young",
    "will",
    "Great",
    "mobile",
    "7",
    "Captain",
    "J",
)
CUES = ("hi", "mr", "name", "is", "talk", "to", "in", "live", "from", "regards", "dr")
MARKS = (",", ":", ".", "\n", "and", "-")
POLICIES = {"common": POLICY, "readable": READABLE}
OF_POLICIES = pytest.mark.parametrize("policy", POLICIES.values(), ids=list(POLICIES))


@OF_POLICIES
def test_no_replaced_word_decides_beside_cues(builtin: Lexicon, policy: Policy) -> None:
    """Short texts of cues, names and marks, with every other name in every place."""
    beside = [*product(CUES, (*NAMES, *MARKS), NAMES)]
    longer = [*product(CUES, (",", ":", "is", "to"), NAMES, (*NAMES, *MARKS), NAMES)]
    texts = [" ".join(each) for each in beside + longer[::5]]
    assert check_swaps(builtin, texts, [*NAMES], policy) > 5_000


@OF_POLICIES
@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from([*NAMES, *CUES, *MARKS, " ", "the", "it"]), max_size=25),
    st.text(max_size=8),
)
def test_nor_in_long_texts(
    builtin: Lexicon, policy: Policy, text: list[str], other: str
) -> None:
    """The same of long texts, with any other word."""
    check_swaps(builtin, [" ".join(text)], [*NAMES, other], policy)
