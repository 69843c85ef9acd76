"""The file of words that many people wrote: its marks, its facts, its signature."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dptext import word_file
from dptext.errors import UsageError
from dptext.signatures import Key
from dptext.word_file import Entry
from tests.made_words import LISTED

pytestmark = pytest.mark.quick

DATA = word_file.encode(LISTED)


def signer() -> Key:
    """Return a new key."""
    private = Ed25519PrivateKey.generate()
    return Key(private.public_key(), private)


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    """All facts and words come back, with the digest of the file."""
    path = tmp_path / "own.words"
    path.write_bytes(DATA)
    read = word_file.read(str(path))
    assert replace(read, path="", digest="") == LISTED
    assert read.copied == {"firmware"}
    assert read.settings()["joined"] == 1
    whole = word_file.encode(replace(LISTED, epsilon=1))
    assert whole == DATA


@pytest.mark.parametrize("name", ["a: b", ' "x" ', "Kunde-Ü", "two\nlines", "\ud800"])
def test_any_name_of_a_field_is_read_back(name: str) -> None:
    """Also one with a colon, quotes, lines or half of a character."""
    data = word_file.encode(replace(LISTED, subject=name))
    assert word_file.parse(data, "own.words").subject == name


def test_words_are_confirmed_and_removed() -> None:
    """Both change marks only, and each undoes the other."""
    changed = LISTED.changed(["CloudDesk"], copied=True)
    assert changed.copied == {"firmware", "CloudDesk"}
    assert changed.settings()["confirmed"] == 1
    fewer = changed.changed(["firmware", "CloudDesk"], copied=False)
    assert fewer.copied == set()
    assert [each.mark for each in fewer.entries] == ["?", "-", "?"]
    assert fewer.changed(["firmware"], copied=True) == LISTED


def test_choices_by_hand_keep_the_checksum() -> None:
    """Confirming and removing words follows from the list, however it is written."""
    chosen = DATA.replace(b"? CloudDesk", b"! CloudDesk").replace(b"+ fir", b"- fir")
    assert word_file.parse(chosen, "own.words").copied == {"CloudDesk"}
    returns = DATA.replace(b"\n", b"\r\n")
    assert word_file.parse(returns, "own.words").copied == {"firmware"}


def test_a_word_outside_the_file_cannot_be_confirmed() -> None:
    """The message says what keeps it, and names a word that differs in capitals."""
    with pytest.raises(UsageError, match=r"Kwimble: not in .*--keep-words"):
        LISTED.changed(["Kwimble"], copied=True)
    with pytest.raises(UsageError, match="it has CloudDesk"):
        LISTED.changed(["clouddesk"], copied=True)
    with pytest.raises(UsageError, match=r"Kwimble: not in \S*$"):
        replace(LISTED, path="x").changed(["Kwimble"], copied=False)


def test_a_signature_covers_the_draw_and_not_the_choices() -> None:
    """It holds after words are confirmed or removed, and for nothing else."""
    key = signer()
    signed = LISTED.signed(key)
    assert signed.signature_problem([key]) == ""
    chosen = signed.changed(["CloudDesk"], copied=True)
    chosen = chosen.changed(["firmware"], copied=False)
    back = word_file.parse(word_file.encode(chosen), "own.words")
    assert back.signature_problem([key]) == ""
    assert "another key" in signed.signature_problem([signer()])
    assert "not signed" in LISTED.signature_problem([key])
    for forged in (
        replace(signed, epsilon=2.0),
        replace(signed, key="key-file"),
        replace(signed, entries=signed.entries[1:]),
        replace(signed, entries=(*signed.entries, Entry("+", "grobnik", "25.0"))),
        replace(
            signed, entries=(replace(signed.entries[0], mark="+"), *signed.entries[1:])
        ),
    ):
        assert "is invalid" in forged.signature_problem([key])


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"dptext words 1", b"CloudDesk", "not a file written by dptext words build"),
        (b"sigma: 4", b"sigma: 3", "sigma 3.* is too small"),
        (b"rho: 24", b"rho: 20", "rho 20.* is too small"),
        (b"epsilon: 1.0", b"epsilon: 0.5", "too small"),
        (b"delta: 1e-06", b"delta: 1e-09", "too small"),
        (b"cap: 64", b"cap: 100", "64 words"),
        (b"unit: person", b"unit: record", "persons need a subject field"),
        (b"unit: person", b"unit: word", "unit or key"),
        (b"sigma: 4", b"sigma: nan4", "sigma is invalid"),
        (b"epsilon: 1.0", b"epsilon: inf", "numbers above 0"),
        (b"cap: 64\n", b"", "cap is missing"),
        (b"cap: 64", b"cap: 64\nhat: 64", "'hat' is not a known entry"),
        (b"+ firmware 91.2", b"firmware", "line 18: write a mark"),
        (b"+ firmware 91.2", b"? CloudDesk 91.2", "twice"),
        (b"firmware", b"\xff", "not UTF-8"),
        (b"firmware", b"grobnik", "edited by hand.*--keep-words"),
        (b"? Cloud", b"+ Cloud", "edited by hand"),
        (b"+ firmware 91.2\n", b"", "edited by hand"),
        (b"91.2\n", b"91.2\n+ grobnik 90.0\n", "edited by hand"),
        (b"persons: 2352", b"persons: 9999", "edited by hand"),
        (b"checksum: ", b"checksum: 0", "edited by hand"),
    ],
)
def test_a_file_that_does_not_keep_its_promise_is_refused(
    old: bytes, new: bytes, reason: str
) -> None:
    """Noise and threshold must be enough for its epsilon and delta."""
    assert old in DATA
    with pytest.raises(UsageError, match=reason):
        word_file.parse(DATA.replace(old, new, 1), "own.words")
