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
        ("Acme's aCME acmes", ["Acme", "aCME"]),
        ("in new\tyork", []),
        ("café cafe\u0301 cafes CAFÉ", ["café", "cafe\u0301", "CAFÉ"]),
        ("a #tag #tags", ["#tag"]),
        ("😀😀", ["😀", "😀"]),
        ("O’Neil's", ["O’Neil"]),
        ("c++ and C", ["c++"]),
        ("ORD-12 ord-12", ["ORD-12"]),
        ("keep me, keeping", ["keep me"]),
        ("  acme  ", ["acme"]),
        ("well-known-acme_x acme", ["acme"]),
    ],
)
def test_words_phrases_and_patterns_are_found(text: str, expected: list[str]) -> None:
    """In any case and spacing, between letters of nothing else."""
    kept = [part for part, kind in named_in(text) if kind == kinds.KEPT]
    assert kept == expected


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
