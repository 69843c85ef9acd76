"""Texts of words that a lexicon does not know are noticed, and some refused."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import dptext
from dptext.errors import UsageError
from tests.cli.running import MARKER, here

ENGLISH = "The delivery arrived two days late and the box was damaged.\n"
GERMAN = (
    "Die Lieferung kam zwei Tage zu spät und der Karton war beschädigt.\n"
    "Ich möchte eine Rückerstattung für die kaputte Lampe.\n"
)
UNSPACED = {
    "Chinese": "送货晚了两天,箱子也坏了。我想退款。\n",
    "Japanese": "配達が二日遅れて、箱が壊れていました。\n",
    "Thai": "การจัดส่งล่าช้าสองวันและกล่องเสียหาย\n",
}
NOTICED = "over a third of the first words"
MARKED = "in another language, so nothing of them is written"


def run(text: str, *options: str) -> tuple[int, bytes, str]:
    """Make lines private with the built-in lexicon."""
    run = ("sanitize", "--format", "text", "--no-bayes-risk")
    ran = here(*run, *options, given=text.encode())
    return ran.code, ran.out, " ".join(ran.err.split())


@pytest.mark.parametrize(
    ("profile", "noticed", "remedy"),
    [
        ("readable", MARKED, "--language de"),
        ("balanced", NOTICED, "dptext lexicon adapt"),
    ],
)
def test_another_language_is_noticed_by_the_owner_alone(
    tmp_path: Path, profile: str, noticed: str, remedy: str
) -> None:
    """A warning names reason and remedy; output and public report do not hold it."""
    files = [tmp_path / name for name in ("out.txt", "full.json", "page.html")]
    out, report, page = map(str, files)
    named = ("-o", out, "--report", report, "--html", page, "--profile", profile)
    code, _, said = run(GERMAN, *named)
    assert code == 0
    assert noticed in said
    assert "another language" in said
    assert remedy in said
    public = tmp_path / "out.txt.dptext.json"
    for path in (*files, public):
        is_private = path not in (files[0], public)
        assert (noticed.encode() in path.read_bytes()) == is_private


def test_languages_that_are_named_make_no_warning() -> None:
    """The English lexicon lacks words of texts that are not read by it."""
    rare = "Das sind Katharina Schmidtbauer, Xaver Obermaier und Korbinian Huber.\n"
    options = ("--profile", "readable", "--language", "de")
    code, _, said = run(GERMAN + rare * 6, *options)
    assert code == 0
    assert "over a third" not in said


def test_text_of_the_language_is_left_alone() -> None:
    """English, with a name or a code in it, makes no warning."""
    text = ENGLISH * 3 + f"Mary Virtanen of {MARKER} asked for order X-1001.\n"
    code, _, said = run(text)
    assert code == 0
    assert NOTICED not in said


def test_texts_without_capitals_are_noticed_where_common_words_stay() -> None:
    """Names in lower case may stay there; no capitals in one text of ten is usual."""
    lower = "we spoke to the manager about the order\n"
    for text, options, is_noticed in (
        (lower, ("-p", "readable"), True),
        (lower, ("-p", "balanced"), False),
        (lower + ENGLISH * 10, ("-p", "readable"), False),
    ):
        code, _, said = run(text, *options)
        assert code == 0
        assert ("no capital letters, so names" in said) == is_noticed


@pytest.mark.parametrize("name", UNSPACED)
def test_scripts_without_spaces_are_refused(name: str, tmp_path: Path) -> None:
    """Nothing is written, and one line says why and what to do: exit code 2."""
    out = tmp_path / "out.txt"
    for more in ((), ("-o", str(out)), ("--line-buffered",)):
        code, written, said = run(UNSPACED[name] * 2, *more)
        assert (code, written) == (2, b"")
        assert said.startswith("dptext: ")
        assert "without spaces" in said
        assert "tokens.unknown" in said
        assert said.isascii()
    assert not out.exists()


def test_a_script_that_is_asked_for_is_taken() -> None:
    """An explicit treatment of unknown words is applied, without a warning."""
    code, written, said = run(UNSPACED["Chinese"], "--set", "tokens.unknown=mask")
    assert code == 0
    assert b"[unknown]" in written
    assert "warning" not in said


def test_some_words_of_such_a_script_are_no_reason_to_refuse() -> None:
    """English texts that quote a few words of Chinese are taken."""
    code, _, said = run(ENGLISH * 3 + "The box said 箱子 on it.\n")
    assert code == 0
    assert NOTICED not in said


def test_a_row_of_another_language_or_script_is_counted() -> None:
    """One line each counts rows that mean nothing; the others are left alone."""
    german = GERMAN.splitlines()[0] + "\n"
    for profile, noticed in (
        ("readable", MARKED),
        ("balanced", "over a third of the words are not in"),
    ):
        code, _, said = run(ENGLISH * 24 + german, "--profile", profile)
        assert code == 0
        assert f"1 of the first 25 texts: {noticed}" in said
    code, _, said = run(ENGLISH * 24 + UNSPACED["Chinese"] * 2, "--profile", "readable")
    assert code == 0
    assert "2 of the first 26 texts: a script without spaces" in said
    assert NOTICED not in said


def test_a_later_record_changes_nothing() -> None:
    """Only the first records decide: a run is not refused where much has left."""
    code, _, _ = run(ENGLISH * 220 + UNSPACED["Chinese"] * 500)
    assert code == 0


def test_embed_notices_the_same(tmp_path: Path) -> None:
    """Vectors of words and means go by the same lexicon."""
    out = str(tmp_path / "out.npy")
    for text, code, said in (
        (GERMAN, 0, NOTICED),
        (UNSPACED["Thai"], 2, "without spaces"),
        (ENGLISH, 0, ""),
    ):
        ran = here("embed", "-o", out, given=text.encode())
        assert ran.code == code, ran.err
        assert said in " ".join(ran.err.split())
        assert said or "warning" not in ran.err


def test_programs_are_warned_and_refused() -> None:
    """The functions for Python warn once a call, and raise for such scripts."""
    lines = GERMAN.splitlines()
    with pytest.warns(UserWarning, match=MARKED):
        dptext.privatize(lines)
    with pytest.warns(UserWarning, match=NOTICED):
        dptext.privatize(lines, "balanced")
    with pytest.warns(UserWarning, match=NOTICED):
        dptext.embed(lines)
    with pytest.raises(UsageError, match="without spaces"):
        dptext.privatize(UNSPACED["Japanese"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dptext.privatize(ENGLISH)
        dptext.privatize(lines, overrides={"tokens": {"unknown": "mask"}})
