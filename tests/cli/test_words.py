"""`dptext words` and `sanitize --words`: from private texts to exports and checks."""

from __future__ import annotations

import json
import pickle
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dptext
from dptext import pipeline, profile, word_file
from dptext.randomness import RunKey
from dptext.types import Lexicon, Record
from tests.cli.running import Ran, here
from tests.keys import PRIVATE, PUBLIC, put

BUILD = ("words", "build", "in.jsonl", "-f", "body", "--subject", "customer")
EXPORT = (
    "sanitize",
    "new.jsonl",
    "-f",
    "body",
    "--profile",
    "readable",
    "-q",
    "--no-bayes-risk",
)
CHECK = (
    "--set",
    "allow=[punctuation,forms,common-words,number,case,classes,grammar,corpus-words,"
    "{identifying: customer}]",
)
_WORDS = ("--words", "own.words", "-o", "out.jsonl")
WORDS = ("trellis", "silently", "CloudDesk", "kwimbles", "spilled")
ROWS = [
    '{"customer": "a", "body": "The CloudDesk is a trellis, my grobnik too"}',
    '{"customer": "b", "body": "Anomaly again. It came silently. kwimbles"}',
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with texts of 400 persons, one of whom wrote 300 of them."""
    monkeypatch.chdir(tmp_path)
    chosen = random.Random(1)
    rows = [
        {"customer": f"c{n % 400}", "body": f"the {a} is a {b} thing"}
        for n in range(600)
        for a, b in [chosen.sample(WORDS, 2)]
    ]
    rows += [{"customer": "one", "body": "my grobnik is broken"}] * 300
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "in.jsonl").write_text(lines)
    (tmp_path / "new.jsonl").write_text("\n".join(ROWS) + "\n")
    return tmp_path


def built(*arguments: str, output: str = "own.words") -> word_file.WordFile:
    """Build a list that must succeed, and read it."""
    ran = here(*BUILD, "-o", output, *arguments)
    assert (ran.code, ran.out) == (0, b""), ran.err
    return word_file.read(output)


def exported(*arguments: str) -> list[str]:
    """Make the new rows private with the list, and return their texts."""
    ran = here(*EXPORT, *_WORDS, *arguments)
    assert ran.code == 0, ran.err
    lines = Path("out.jsonl").read_text().splitlines()
    return [json.loads(line)["body"] for line in lines]


def report() -> Any:
    """Return the public report of the export."""
    return json.loads(Path("out.jsonl.dptext.json").read_text())


def refused(ran: Ran, code: int, *parts: str) -> None:
    """See that a command fails in one line."""
    assert (ran.code, ran.out) == (code, b""), ran.err
    assert ran.err.count("\n") == 1
    for part in parts:
        assert part in ran.err


def test_words_of_many_join_and_are_copied() -> None:
    """Dictionary words by themselves, others when confirmed, one person's never."""
    listed = built()
    assert listed.copied == {"trellis", "silently", "spilled"}
    assert {each.word for each in listed.entries} == {*WORDS}
    first, second = exported()
    assert "trellis" in first
    assert "CloudDesk" not in first
    assert second.startswith("Anomaly again. It came silently.")
    assert here("words", "confirm", "own.words", "CloudDesk").code == 0
    assert here("words", "remove", "own.words", "trellis", "silently").code == 0
    first, second = exported()
    assert "CloudDesk" in first
    assert "trellis" not in f"{first} {second}".lower()
    assert "grobnik" not in first
    refused(
        here("words", "confirm", "own.words", "grobnik"), 2, "grobnik", "--keep-words"
    )


def test_a_build_names_what_it_drew() -> None:
    """Which is free, with what comes next; never a word that did not join."""
    ran = here(*BUILD, "-o", "own.words")
    joined, offered, judged = ran.err.splitlines()[-3:]
    assert "unchanged with --words own.words (3): " in joined
    assert sorted(joined.split(": ")[-1].split(", ")) == sorted(WORDS[:2] + WORDS[4:])
    assert "unchanged after dptext words confirm own.words (2): " in offered
    assert {*offered.split(": ")[-1].split(", ")} == {"CloudDesk", "kwimbles"}
    assert "not by looking at rows" in judged
    assert "grobnik" not in ran.err


def test_records_count_as_persons_without_a_subject() -> None:
    """Then one customer brings in a word, and the statement says what it is of."""
    ran = here("words", "build", "in.jsonl", "-f", "body", "-o", "own.words")
    assert ran.code == 0
    assert "of a record, not of a person" in ran.err
    listed = word_file.read("own.words")
    assert listed.unit == "record"
    assert "grobnik" in {each.word for each in listed.entries}


def test_a_key_repeats_the_draw() -> None:
    """Byte for byte, in any order of records; without one it is another draw."""
    put(Path("key"), bytes(range(100, 132)))
    one = built("--key-file", "key")
    lines = Path("in.jsonl").read_text().splitlines(keepends=True)
    Path("in.jsonl").write_text("".join(lines[::-1]))
    assert built("--key-file", "key", output="again.words").entries == one.entries
    assert one.draw != built(output="other.words").draw
    two = built("--key-file", "key", "--epsilon", "1.5", output="more.words")
    assert two.draw != one.draw


def test_persons_may_be_spread_over_files() -> None:
    """Two halves of a file are one corpus, also in a folder or from standard input."""
    put(Path("key"), bytes(range(100, 132)))
    one = built("--key-file", "key")
    lines = Path("in.jsonl").read_text().splitlines(keepends=True)
    Path("a.jsonl").write_text("".join(lines[:310]))
    Path("b.jsonl").write_text("".join(lines[310:]))
    halves = ("words", "build", "a.jsonl", "b.jsonl", *BUILD[3:], "--key-file", "key")
    assert here(*halves, "-o", "two.words").code == 0
    assert word_file.read("two.words").entries == one.entries
    Path("parts").mkdir()
    for half in ("a.jsonl", "b.jsonl"):
        Path(half).rename(f"parts/{half}")
    folder = ("words", "build", "parts", *BUILD[3:], "--key-file", "key")
    assert here(*folder, "-o", "two.words").code == 0
    assert word_file.read("two.words").entries == one.entries
    piped = ("words", "build", *BUILD[3:], "--key-file", "key", "-o", "-")
    ran = here(*piped, given="".join(lines).encode())
    assert word_file.parse(ran.out, "-").entries == one.entries


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--epsilon", "0"), ("--epsilon",)),
        (("--epsilon", "30"), ("epsilon 30",)),
        (("--delta", "1e-3"), ("401 persons", "1e-4 or less")),
        (("--epsilon", "0.01"), ("401 persons: too few",)),
        (("-p", "balanced"), ("readable",)),
        (("--limit", "3"), ("--ledger",)),
        (("--ledger", "spent.db"), ("--limit",)),
        (("--ledger", "spent.db", "--limit", "3"), ("--limit-delta",)),
        (("--sign-key", "in.jsonl"), ("in.jsonl",)),
    ],
)
def test_builds_that_promise_nothing_are_refused(
    arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    """In one line, and nothing is written."""
    refused(here(*BUILD, "-o", "own.words", *arguments), 2, *parts)
    assert not Path("own.words").exists()


def test_profiles_without_common_words_take_no_list() -> None:
    """A list adds to common words."""
    built()
    ran = here("sanitize", "new.jsonl", "-f", "body", "-p", "balanced", *_WORDS)
    refused(ran, 2, "readable")


def test_a_ledger_charges_every_person_once() -> None:
    """Those without a listed word, too; a repeated draw is free, a new one refused."""
    put(Path("key"), bytes(range(100, 132)))
    book = ("--ledger", "spent.db", "--limit", "1.5", "--limit-delta", "1e-5")
    listed = built(*book, "--key-file", "key")
    again = built(*book, "--key-file", "key", output="again.words")
    assert again.entries == listed.entries
    lines = here("ledger", "export", "spent.db").out.splitlines()
    charges = [json.loads(line) for line in lines]
    assert len(charges) == listed.persons == 401
    assert {each["nats"] for each in charges} == {listed.stated}
    assert {each["delta"] for each in charges} == {1e-6}
    refused(here(*BUILD, "-o", "new.words", *book), 3, "record 1", "limit")
    assert not Path("new.words").exists()
    refused(here(*BUILD, "-o", "new.words", *book, "--seed", "1"), 2, "--seed")
    assert here("ledger", "verify", "spent.db").code == 0


def test_the_report_states_the_list_and_not_its_words() -> None:
    """Digest, epsilon, delta, unit and counts; the words stay in the file."""
    listed = built()
    exported()
    stated = report()["run"]["settings"]["tokens"]["words"]
    assert stated == listed.settings()
    assert stated["epsilon"] == 1.000001
    assert stated["joined"] == 3
    text = Path("out.jsonl.dptext.json").read_text()
    assert not any(word in text for word in (*WORDS, "grobnik"))
    scope = report()["guarantee"]["scope"]
    assert "corpus-words" in scope["unprotected"]
    said = " ".join(scope["not_covered"])
    assert 'each value of the field "customer"' in said
    assert "(1.000001, 1e-06)-differential privacy" in said
    assert "conditional on the list" in said
    assert "2.000002 nats" in said
    assert "but for the list of words" in " ".join(scope["conditions"])


def test_check_asks_for_the_list_its_limits_and_a_signature() -> None:
    """The file must be here, its noise enough, and a key must have signed it."""
    put(Path("sign"), PRIVATE)
    put(Path("sign.pub"), PUBLIC)
    built("--sign-key", "sign")
    here("words", "confirm", "own.words", "CloudDesk")
    exported("--sign-key", "sign")
    with_key = ("check", "out.jsonl", *CHECK, "--verify-key", "sign.pub")
    assert here(*with_key).code == 0
    assert "corpus-words" in here("check", "out.jsonl").out.decode()
    low = here(*with_key, "--set", "max_words_epsilon=0.5")
    assert b"epsilon of its list of words" in low.out
    low = here(*with_key, "--set", "max_words_delta=1e-9")
    assert b"delta of its list of words" in low.out
    trusted = here("check", "out.jsonl", *CHECK)
    assert trusted.code == 0
    assert "own.words is trusted" in trusted.err
    built()
    exported("--sign-key", "sign")
    assert b"not signed" in here(*with_key).out
    Path("own.words").unlink()
    assert b"own.words" in here("check", "out.jsonl", *CHECK).out


def test_a_changed_list_or_report_fails_the_check() -> None:
    """A word that was added, or another epsilon in the report."""
    put(Path("sign"), PRIVATE)
    put(Path("sign.pub"), PUBLIC)
    built("--sign-key", "sign")
    edited = Path("own.words").read_text() + "+ grobnik 30.0\n"
    drawn = word_file.read("own.words")
    Path("own.words").write_text(edited)
    for words in (EXPORT + _WORDS, ("words", "show", "own.words")):
        refused(here(*words), 2, "own.words: it was edited by hand")
    more = (*drawn.entries, word_file.Entry("+", "grobnik", "30.0"))
    Path("own.words").write_bytes(word_file.encode(replace(drawn, entries=more)))
    exported("--sign-key", "sign")
    ran = here("check", "out.jsonl", *CHECK, "--verify-key", "sign.pub")
    assert b"the signature is invalid" in ran.out
    exported()
    here("words", "remove", "own.words", "trellis")
    assert b"file of a list" in here("check", "out.jsonl", *CHECK).out


def test_a_seeded_list_has_no_promise() -> None:
    """The build, the statement and the check say so."""
    ran = here(*BUILD, "-o", "own.words", "--seed", "4")
    assert "No guarantee: the list was drawn from a seed" in ran.err
    exported()
    said = " ".join(report()["guarantee"]["scope"]["not_covered"])
    assert "the list was drawn from a seed" in said
    assert "differential privacy" not in said
    assert b"drawn from a seed" in here("check", "out.jsonl", *CHECK).out


def test_a_profile_holds_its_words_when_the_file_is_gone(builtin: Lexicon) -> None:
    """So processes and machines of a cluster need no file."""
    built()
    recipe = profile.load("readable", {"tokens": {"words": "own.words"}})
    Path("own.words").unlink()
    recipe = pickle.loads(pickle.dumps(recipe))
    ready = pipeline.build(recipe, builtin)
    records = [Record(0, ("the trellis came silently, grobnik",), None)]
    ((_, (text,)),) = ready.run(records, RunKey.from_seed(1))
    assert text.startswith("the trellis came silently, ")
    assert "grobnik" not in text


def test_a_typed_list_changes_no_other_key_of_a_file() -> None:
    """Keys of tokens in a configuration stay, but for another list."""
    built()
    kept = "set: {tokens.number: mask, tokens.words: gone.words}"
    settings = f"sanitize: {{profile: readable, {kept}}}\n"
    Path(".dptext.yaml").write_text(settings)
    ran = here("sanitize", "new.jsonl", "-f", "body", "-q", *_WORDS)
    assert ran.code == 0, ran.err
    tokens = report()["run"]["settings"]["tokens"]
    assert (tokens["number"], tokens["words"]["file"]) == ("mask", "own.words")
    settings = "sanitize: {profile: readable, words: own.words}\n"
    Path(".dptext.yaml").write_text(settings)
    ran = here("sanitize", "new.jsonl", "-f", "body", "-q", "-o", "out.jsonl")
    assert ran.code == 0, ran.err
    assert report()["run"]["settings"]["tokens"]["words"]["joined"] == 3


def test_python_takes_a_list() -> None:
    """By the keyword of the option."""
    built()
    private = dptext.privatize(["the trellis"], profile="readable", words="own.words")
    assert private == ["the trellis"]


def test_show_prints_the_list() -> None:
    """The heaviest first, for people and for machines."""
    listed = built()
    plain = json.loads(here("words", "show", "own.words", "--json").out)
    assert [each["word"] for each in plain["words"]] == [
        each.word for each in listed.entries
    ]
    weights = [each["weight"] for each in plain["words"]]
    assert weights == sorted(weights, reverse=True)
    text = here("words", "show", "own.words").out.decode()
    assert "not confirmed" in text
    assert "dptext cannot check this" in " ".join(text.split())


def test_a_list_is_built_and_copied_in_other_languages() -> None:
    """Words of these texts are counted by their lists, and none joins by itself."""
    chosen = random.Random(2)
    own = ("Lieferdrohne", "kwimbles", "CloudDesk")
    rows = [
        {"customer": f"c{n}", "body": f"Die {a} von Katharina ist gut und mein {b}"}
        for n in range(400)
        for a, b in [chosen.sample(own, 2)]
    ]
    Path("in.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    listed = built("--language", "de", "--language", "en")
    assert {each.word for each in listed.entries} == {*own}
    assert listed.copied == set()
    assert here("words", "confirm", "own.words", *own).code == 0
    row = {"customer": "a", "body": "Kwimbles kam. Die Lieferdrohne ist zu laut"}
    Path("new.jsonl").write_text(json.dumps(row) + "\n")
    for languages in (("de",), ("de", "en"), ("fr", "de")):
        typed = [each for code in languages for each in ("--language", code)]
        (text,) = exported(*typed)
        assert text.startswith("Kwimbles kam. Die Lieferdrohne ist zu "), text


def test_a_build_takes_the_settings_of_the_export() -> None:
    """The profile and languages of a configuration; typed words are no candidates."""
    settings = "sanitize: {profile: readable, language: [de, en]}\n"
    Path(".dptext.yaml").write_text(settings)
    listed = built("--keep-words", "CloudDesk")
    words = {each.word for each in listed.entries}
    assert "kwimbles" in words
    assert "CloudDesk" not in words


def test_records_that_cannot_be_read_are_left_out_on_demand() -> None:
    """As the message says; their number is told, and their bytes go to a file."""
    with Path("in.jsonl").open("a") as file:
        file.write('{"customer": null, "body": "secret grobnik"}\n')
    ran = here(*BUILD, "-o", "own.words")
    refused(ran, 4, "in.jsonl:901", "--on-error skip", "--quarantine FILE")
    ran = here(*BUILD, "-o", "own.words", "--on-error", "skip")
    assert ran.code == 0
    assert "unreadable records left out: 1" in ran.err
    assert here(*BUILD, "-o", "own.words", "--quarantine", "bad.jsonl").code == 0
    assert "grobnik" in Path("bad.jsonl").read_text()
    assert word_file.read("own.words").persons == 401
