"""Words that are typed to stay: in runs, settings, reports, policies and `init`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import dptext
from dptext.run.interface import option
from tests.cli.running import here

LETTERS = str.maketrans("0123456789", "bcdfghjklm")
ROWS = [
    {
        "id": number,
        "product": product,
        "status": "Open",
        "note": f"We can't open {product}'s page; the LED of my {product} blinks red.",
    }
    for number, product in enumerate(("CloudDesk", "Office 2021", "AT&T Fiber") * 4)
]
READABLE = "[punctuation, forms, common-words, number, case, classes, grammar]"
ALLOWED = ("--set", f"allow={READABLE}")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write notes on products into an empty folder, and work there."""
    monkeypatch.chdir(tmp_path)
    path = Path("notes.jsonl")
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    Path("products.txt").write_text("CloudDesk\nOffice 2021\nAT&T Fiber\n")
    return str(path)


def sanitized(source: str, *options: str) -> tuple[list[str], dict[str, Any]]:
    """Return the new texts under `readable`, and the public report."""
    run = ("sanitize", source, "-f", "note", "-p", "readable", "-o", "out.jsonl")
    ran = here(*run, *options)
    assert ran.code == 0, ran.err
    lines = Path("out.jsonl").read_text().splitlines()
    texts = [json.loads(line)["note"] for line in lines]
    return texts, json.loads(Path("out.jsonl.dptext.json").read_text())


def test_words_and_files_of_words_stay(source: str) -> None:
    """Also of a configuration, a variable and Python; other words are replaced."""
    typed = ("--keep-words", "LED", "--keep-words", "products.txt")
    texts, report = sanitized(source, *typed)
    for row, text in zip(ROWS, texts, strict=True):
        assert f"We can't open {row['product']}'s page; the LED of my" in text
        assert "Our LED" not in text
    listed = {"words": ["LED"], "files": ["products.txt"]}
    assert report["run"]["settings"]["tokens"]["keep"] == listed
    settings = {"sanitize": {"keep_words": ["LED", "products.txt"]}}
    Path(".dptext.yaml").write_text(yaml.safe_dump(settings))
    texts, _ = sanitized(source)
    assert all("the LED of my" in text for text in texts)
    Path(".dptext.yaml").unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPTEXT_KEEP_WORDS", "LED products.txt")
        texts, _ = sanitized(source)
    assert all("the LED of my" in text for text in texts)
    safe = dptext.Sanitizer("readable", keep_words=["LED", "products.txt"])
    assert "AT&T Fiber's page; the LED" in safe.text(str(ROWS[2]["note"]))


def test_typed_words_add_to_the_lists_of_a_profile(source: str) -> None:
    """Words, files and patterns of its keep list still stay."""
    keep = '["CloudDesk"]'
    typed = ("--keep-words", "LED", "--set", f"tokens.keep.words={keep}")
    texts, report = sanitized(source, *typed)
    listed = report["run"]["settings"]["tokens"]["keep"]
    assert listed == {"words": ["CloudDesk", "LED"]}
    assert "CloudDesk's page; the LED of my CloudDesk" in texts[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("a,b",), "--keep-words: 'a,b': give one word at a time"),
        (("absent.txt",), "--keep-words: absent.txt: No such file"),
        ((" ",), "--keep-words: an entry of 0 characters"),
    ],
)
def test_words_that_cannot_be_kept_are_refused(
    words: tuple[str, ...], said: str, source: str
) -> None:
    """One line names the option, the entry and the next step."""
    typed = [part for word in words for part in ("--keep-words", word)]
    ran = here("sanitize", source, "-f", "note", "-o", "out.jsonl", *typed)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert said in ran.err
    assert not Path("out.jsonl").exists()


def test_the_answer_names_the_option_until_it_is_used(source: str) -> None:
    """And then says that figures were measured without the list."""
    run = ("sanitize", source, "-f", "note", "-p", "readable", "--json")

    def answered(*options: str) -> dict[str, Any]:
        ran = here(*run, "-o", "o.jsonl", *options)
        assert ran.code == 0, ran.err
        answer: dict[str, Any] = json.loads(ran.err)
        return answer

    answer = answered()
    assert option("keep-words", "WORD") in answer["own_words"]["sentence"]
    assert "your list" not in str(answer)
    assert "words build" not in answer["own_words"]["sentence"]
    listed = answered("--keep-words", "CloudDesk")
    assert "own_words" not in listed
    for name in ("attacker", "same_word", "delicate"):
        assert "measured without your list" in listed[name]["sentence"]
        assert listed[name]["found"] == answer[name]["found"]
    # Patterns may name everything.
    patterns = ("--set", 'tokens.keep.patterns=["Cloud.*"]')
    of_patterns = answered(*patterns)
    assert of_patterns["attacker"]["found"] is None


def test_the_answer_on_many_records_names_the_list_with_a_promise(
    tmp_path: Path,
) -> None:
    """And no word of a text: one chosen by looking at texts tells something of them."""
    row = json.dumps({"note": "the grobnik is broken"}) + "\n"
    path, out = tmp_path / "many.jsonl", str(tmp_path / "o.jsonl")
    for records, is_named in ((999, False), (1000, True)):
        path.write_text(row * records)
        ran = here("sanitize", str(path), "-f", "note", "-o", out, "--json")
        assert ran.code == 0, ran.err
        said = json.loads(ran.err)["own_words"]["sentence"]
        assert ("dptext words build" in said) == is_named
        assert "grobnik" not in ran.err
    listed = ("--set", "tokens.common=0", "--set", "tokens.classes=[]")
    ran = here("sanitize", str(path), "-f", "note", "-o", out, "--json", *listed)
    assert "words build" not in ran.err


def test_a_policy_names_the_words_that_may_stay(source: str) -> None:
    """By word or file; a finding tells which are missing, and what to add."""
    sanitized(source, "--keep-words", "LED", "--keep-words", "products.txt")
    ran = here("check", "out.jsonl", *ALLOWED)
    assert ran.code == 1
    said = ran.out.decode()
    assert "listed in the policy: AT&T Fiber, CloudDesk, LED, Office" in said
    assert 'put keep_words: ["LED", "products.txt"] into the section check' in said
    for accepted in (
        "[LED, products.txt]",
        '[LED, CloudDesk, "Office 2021", "AT&T Fiber", other]',
    ):
        ran = here("check", "out.jsonl", *ALLOWED, "--set", f"keep_words={accepted}")
        assert ran.code == 0, ran.out
    listed = f"allow={READABLE[:-1]}, keep-list]"
    assert here("check", "out.jsonl", "--set", listed).code == 0
    ran = here("check", "out.jsonl", *ALLOWED, "--set", "keep_words=[products.txt]")
    assert "not listed in the policy: LED;" in ran.out.decode()
    Path("less.txt").write_text("CloudDesk\n")
    ran = here("check", "out.jsonl", *ALLOWED, "--set", "keep_words=[LED, less.txt]")
    assert "not listed in the policy: AT&T Fiber, Office 2021;" in ran.out.decode()
    ran = here("check", "out.jsonl", *ALLOWED, "--set", "keep_words=[absent.txt]")
    assert (ran.code, ran.out) == (2, b"")
    assert "keep_words: absent.txt" in ran.err


def test_a_list_that_changed_or_has_patterns_passes_by_no_word(source: str) -> None:
    """`check` reads the file of a list only with the digest that the report has."""
    named = ("--set", "keep_words=[products.txt]")
    sanitized(source, "--keep-words", "products.txt")
    Path("products.txt").write_text("CloudDesk\n")
    unverified = ("--set", "unverified=[parts]")
    ran = here("check", "out.jsonl", *ALLOWED, *named, *unverified)
    assert ran.code == 1
    assert "keep-list" in ran.out.decode()
    sanitized(source, "--set", "tokens.keep.patterns=[Cloud.*]")
    ran = here("check", "out.jsonl", *ALLOWED, *named)
    assert "does not allow keep-list" in ran.out.decode()


def test_a_policy_finds_its_files_beside_it(source: str) -> None:
    """Files of words in a configuration are those of its folder."""
    settings = {
        "sanitize": {"field": "note", "profile": "readable", "keep_words": "p.txt"},
        "check": {"allow": yaml.safe_load(READABLE), "keep_words": ["p.txt"]},
    }
    Path("products.txt").rename("p.txt")
    Path(".git").mkdir()
    Path(".dptext.yaml").write_text(yaml.safe_dump(settings))
    below = Path("below")
    below.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(below)
        assert here("sanitize", f"../{source}", "-o", "out.jsonl").code == 0
        ran = here("check", "out.jsonl")
    assert ran.code == 0, ran.out
    assert "CloudDesk's page" in (below / "out.jsonl").read_text()


def test_a_copied_column_may_name_kept_words(source: str) -> None:
    """It repeats nothing that is hidden, so there is no warning."""
    run = ("sanitize", source, "-f", "note", "-p", "readable", "-o", "o.jsonl")
    assert "'product' was left unchanged and repeats" in here(*run).err
    assert "repeats" not in here(*run, "--keep-words", "products.txt").err


def test_init_takes_words_and_offers_those_of_copied_columns(source: str) -> None:
    """Its settings need no options, and offer no states and no words of texts."""
    audience = ("--audience", "people")
    said = here("init", source, *audience).out.decode()
    assert "# Product names and the like stay in texts with --keep-words WORD." in said
    assert "#   'product': [AT&T Fiber, CloudDesk, Office 2021]\n" in said
    assert "LED" not in said
    assert "keep_words" not in yaml.safe_load(said)["sanitize"]
    typed = ("--keep-words", "products.txt", "--keep-words", "LED")
    said = here("init", source, *audience, *typed).out.decode()
    settings = yaml.safe_load(said)
    wanted = ["products.txt", "LED"]
    assert settings["sanitize"]["keep_words"] == wanted
    assert settings["check"]["keep_words"] == wanted
    Path(".dptext.yaml").write_text(said)
    assert here("sanitize", source, "-o", "out.jsonl").code == 0
    ran = here("check", "out.jsonl")
    assert ran.code == 0, ran.out
    ran = here("init", source, "--audience", "statistics", "--keep-words", "LED")
    assert (ran.code, ran.out) == (2, b"")
    assert "statistics copy no word" in ran.err
    ran = here("init", source, "--keep-words", "a,b")
    assert "--keep-words: 'a,b'" in ran.err


def test_init_copies_columns_under_both_names(source: str) -> None:
    """--keep is the earlier name of --copy, and does the same."""
    texts = ("--field", "note", "--drop", "id")
    said = {
        here("init", source, *texts, name, "product").out
        for name in ("--copy", "--keep")
    }
    assert len(said) == 1
    assert "product" in yaml.safe_load(said.pop())["check"]["copy"]


def test_init_names_lists_of_words_that_many_people_wrote(source: str) -> None:
    """It proposes one where many texts repeat replaced words, with command and cost.

    With a list, check passes its export.
    """
    run = ("init", "many.jsonl", "-f", "note", "--copy", "who")
    people = ("--audience", "people")

    def written(note: str, number: int = 1000) -> str:
        notes = [note.replace("#", f"{n:03}".translate(LETTERS)) for n in range(number)]
        rows = ({"who": n, "note": note} for n, note in enumerate(notes))
        Path("many.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return here(*run, *people).out.decode()

    assert "words build" not in written("The firm of my friend is good.")
    assert "words build" not in written("The gro#nik of my friend fails.")
    assert "words build" not in written("The trellis of my gasket fails.", 500)
    said = written("The trellis of my gasket fails.")
    assert "dptext words build many.jsonl --field note --subject " in said
    assert "at epsilon 1 and delta 1e-06 for each\n# person, once" in said
    assert "trellis" not in said
    build = ("words", "build", "many.jsonl", "--field", "note", "--subject", "who")
    assert here(*build, "-o", "many.words").code == 0
    chosen = here(*run, *people, "--words", "many.words").out
    assert b"words build" not in chosen
    Path(".dptext.yaml").write_bytes(chosen)
    assert here("sanitize", "many.jsonl", "-o", "out.jsonl").code == 0
    ran = here("check", "out.jsonl")
    assert ran.code == 0, ran.out
    assert "trellis" in Path("out.jsonl").read_text()
    ran = here(*run, "--audience", "programs", "--words", "many.words")
    assert (ran.code, ran.out) == (2, b"")
    assert "--words adds to common words" in ran.err
