from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext.errors import UsageError
from dptext.tokens import kinds, lists
from dptext.tokens.lists import Spans
from dptext.tokens.policy import Form, Policy, WordList

KEEP = WordList(
    words=("acme", "New York", "café", "#tag", "😀", "O'Neil", "C++"),
    patterns=(r"ORD-\d+", r"\bkeep me\b"),
)
MASK = WordList(words=("york", "Ann Lee"), patterns=("[A-Z]{4}",))
SPANS = Spans(Policy(keep=KEEP, mask=MASK, forms=(Form.EMAIL,)))


def named_in(text: str, spans: Spans = SPANS) -> list[tuple[str, int]]:
    """Return the named parts of a text, with their kinds."""
    pieces, named, _ = spans.divide(text)
    assert "".join(pieces) == text
    return [(pieces[position].strip(" "), kind) for position, kind in named.items()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Acme's aCME acmes", ["Acme's", "aCME"]),
        ("in new\tyork", []),
        ("café cafe\u0301 cafes CAFÉ", ["café", "cafe\u0301", "CAFÉ"]),
        ("a #tag #tags", ["#tag"]),
        ("😀😀", ["😀", "😀"]),
        ("O’Neil's", ["O’Neil's"]),
        ("C++ c++ and C", ["C++", "c++"]),
        ("ORD-12 ord-12", ["ORD-12"]),
        ("keep me, keeping", ["keep me"]),
        ("  acme  ", ["acme"]),
        ("well-known-acme_x acme", ["acme"]),
    ],
)
def test_words_phrases_and_patterns_are_found(text: str, expected: list[str]) -> None:
    """In any spacing, and not beside other letters."""
    kept = [part for part, kind in named_in(text) if kind == kinds.KEPT]
    assert kept == expected


WHOLE = (
    "can",
    "CloudDesk",
    "LED",
    "AT",
    "AT&T",
    "iPhone",
    "Wi-Fi",
    "we",
    "js",
    "Node",
    ".NET",
    "Windows 10.1",
    "clouddesk.com",
    "東京",
    "5G",
    "right",
    "Apple",
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We can't go, can´t, can‘t, canʼt, CAN’T, cannot, can\u20dd", ["We"]),
        ("CloudDesk's CloudDesk’s CLOUDDESK´S", "CloudDesk's CloudDesk’s CLOUDDESK´S"),
        ("CloudDesks cloudDesk CloudDesk2 CloudDesk_x x_CloudDesk", ["cloudDesk"]),
        ("LED led Led LED-Lampe LEDs", ["LED", "LED"]),
        ("AT&T AT&M R&AT AT", ["AT&T", "AT"]),
        ("l'iPhone d’iPhone O'iPhone IPhone IPHONE iphone", 5),
        ("Wi-Fi Wi‑Fi WI-FI wi-fi", ["Wi-Fi", "Wi‑Fi", "WI-FI", "wi-fi"]),
        ("We'll we've", []),
        ("Apple APPLE apple aPPLE APPLE's", ["Apple", "APPLE", "APPLE's"]),
        ("Node.js NODE. Node.Here ASP.NET .NET", ["NODE", "Node", ".NET"]),
        ("Windows 10.1 Windows 10.15", ["Windows 10.1"]),
        ("https://clouddesk.com/a x@clouddesk.com clouddesk.com", ["clouddesk.com"]),
        ("5G 5Gs 15G 4-5G", ["5G", "5G"]),
        ("東京都の東京", ["東京", "東京"]),
        ("in 5Gを (CloudDesk) “CloudDesk” _CloudDesk_ 'CloudDesk'", 5),
        ("#CloudDesk @CloudDesk CloudDesk@home", []),
    ],
)
def test_entries_of_the_keep_list_are_whole_tokens(
    text: str, expected: list[str] | str | int
) -> None:
    """No word, contraction, name with marks, number or address is broken in two."""
    keep = WordList(words=WHOLE)
    spans = Spans(Policy(keep=keep, forms=(Form.EMAIL, Form.URL, Form.VERSION)))
    kept = [part for part, kind in named_in(text, spans) if kind == kinds.KEPT]
    if isinstance(expected, int):
        assert len(kept) == expected, kept
    else:
        assert kept == (expected.split() if isinstance(expected, str) else expected)


def test_words_that_are_replaced_as_a_whole_are_not_cut() -> None:
    """Of a word with hyphens a part is copied only if parts are replaced one by one."""
    policy = Policy(keep=WordList(words=("right",)))
    spans = Spans(policy, is_one=lambda word: word == "right-wing")
    assert named_in("right-wing right-handed", spans) == [("right", kinds.KEPT)]


def test_the_mask_list_breaks_no_contraction() -> None:
    """Other places of its words are masked in any capitals, as parts of names, too."""
    spans = Spans(Policy(mask=WordList(words=("can", "Keller"))))
    text = "can't CAN Keller's O'Keller KELLER-Weber"
    assert [part for part, _ in named_in(text, spans)] == [
        "CAN",
        "Keller",
        "Keller",
        "KELLER",
    ]


def test_the_mask_list_goes_first_and_forms_before_the_keep_list() -> None:
    """A masked word inside a kept phrase is masked, and the phrase is not kept."""
    assert named_in("New York") == [("York", kinds.MASKED)]
    assert named_in("ACME") == [("ACME", kinds.MASKED)]
    assert named_in("to acme@acme.com") == [("acme@acme.com", kinds.FORMED)]


def test_the_longest_of_several_is_taken() -> None:
    """A phrase goes before the word that it begins with."""
    spans = Spans(Policy(keep=WordList(words=("new", "new york", "york city"))))
    assert named_in("new york city", spans) == [("new york", kinds.KEPT)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*KEEP.words, *MASK.words, " ", "\n", "x", "."])))
def test_pieces_are_the_text(parts: list[str]) -> None:
    """For any lists, the pieces joined are the text."""
    named_in("".join(parts))


def test_files_hold_an_entry_a_line(tmp_path: Path) -> None:
    """Blank lines and a byte order mark are no entries; the list has a digest."""
    path = tmp_path / "names.txt"
    path.write_bytes("\ufeffAnn Lee\r\n\r\n Bob \n".encode())
    listed = lists.read({"files": [str(path)]}, "test")
    spans = Spans(Policy(mask=listed))
    assert [part for part, _ in named_in("bob met ann lee", spans)] == [
        "bob",
        "ann lee",
    ]
    policy = Policy(mask=listed)
    assert policy.settings()["mask"] == {"files": [str(path)]}
    assert list(lists.digests(policy)) == [str(path)]
    path.write_text("other")
    assert named_in("bob", Spans(policy)) == [("bob", kinds.MASKED)], "read once"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"wrods": ["x"]}, "unknown key"),
        ({"patterns": ["("]}, "not a regular expression"),
        ({"files": ["/nowhere"]}, "No such file"),
        ({"files": ["/dev/zero"]}, "not a regular file"),
        ({"words": [" "]}, "an entry of 0 characters"),
        ({"words": ["x" * 1001]}, "an entry of 1001 characters"),
        ({"contents": ["x"]}, "unknown key"),
        (7, "keys and values"),
        ([7], "give text"),
    ],
)
def test_what_is_no_list_is_refused(data: object, reason: str) -> None:
    """One line names the mistake and its place."""
    with pytest.raises(UsageError, match=reason) as error:
        lists.read(data, "p.yaml: tokens.keep")
    assert str(error.value).startswith("p.yaml: tokens.keep")


def test_a_list_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """A file of other bytes is named, not shown."""
    (tmp_path / "list").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8"):
        lists.read({"files": [str(tmp_path / "list")]}, "test")


def test_a_word_alone_is_a_list() -> None:
    """`keep: acme` and `keep: [acme]` say the same."""
    assert lists.read("acme", "t") == lists.read(["acme"], "t") == WordList(("acme",))
