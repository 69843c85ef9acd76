"""The attacker who knows public text of the same kind, through all commands."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dptext.evaluation import attackers
from tests.cli.running import WORDS, here, lexicon, small

COUNTED, PRIVATE = 300, 120
# Of a small vocabulary so many texts may be near others by chance.
NEAR = 12


def rows(count: int, seed: int) -> list[str]:
    """Return texts in which one word tells the next, different from seed to seed."""
    rng = np.random.default_rng(seed)
    texts = []
    for number in range(count):
        pairs = rng.integers(0, len(WORDS) // 2, 8) * 2
        words = [WORDS[row + one] for row in pairs for one in (0, 1)]
        texts.append(" ".join(words) + f" {number + 1000 * seed}.")
    return texts


def written(path: Path, texts: Sequence[str]) -> Path:
    """Write texts as JSONL."""
    lines = [json.dumps({"id": n, "text": text}) for n, text in enumerate(texts)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Return a public text, private originals and these made private."""
    public = written(tmp_path / "public.jsonl", rows(COUNTED, 1))
    original = written(tmp_path / "original.jsonl", rows(PRIVATE, 2))
    private = tmp_path / "private.jsonl"
    ran = here(
        "sanitize",
        str(original),
        "-f",
        "text",
        "-o",
        str(private),
        "-q",
        *small(tmp_path),
        "--decode",
        "none",
    )
    assert ran.code == 0, ran.err
    return public, original, private


def evaluated(files: tuple[Path, Path, Path], *more: str) -> tuple[Any, str]:
    """Evaluate with the public text; return the figures, and the messages."""
    public, original, private = files
    ran = here(
        "evaluate",
        str(original),
        str(private),
        "--profile",
        "balanced",
        *small(public.parent),
        "--decode",
        "none",
        "--json",
        "--public-text",
        str(public),
        *more,
    )
    assert ran.code == 0, ran.err
    return json.loads(ran.out), ran.err


def test_halves_share_no_text() -> None:
    """Every record is in one of them, equal ones in the same, however batches fall."""
    names = "one two three four five six seven eight nine ten".split()
    texts = [f"{names[n % 10]} {names[n % 40 // 10]}" for n in range(100)]
    for cuts in ((0, 100), (0, 7, 50, 100)):
        batches = [[(t,) for t in texts[b:e]] for b, e in itertools.pairwise(cuts)]
        halves = attackers.Halves(lambda batches=batches: batches)  # type: ignore[misc]
        one, other = ([t for b in halves.texts(half) for t in b] for half in (0, 1))
        assert sorted([*one, *other]) == sorted(texts)
        assert set(one) & set(other) == set()
        assert one
        assert other
        assert sum(halves.units) == 40


def test_fields_of_a_record_and_near_duplicates_are_in_one_half() -> None:
    """An attacker never reads what it has counted in other words or another field."""
    texts = rows(60, 1)
    batch = [(text, f"{text} Thanks, {n}") for n, text in enumerate(texts)]
    batch += [(f"{text} Sent from my phone", "") for text in texts]
    halves = attackers.Halves(lambda: [batch])
    one, other = ([r for b in halves.records(half) for r in b] for half in (0, 1))
    assert len(one) + len(other) == len(batch)
    assert min(len(one), len(other)) > 20
    seen = [
        {text for text in texts if any(text in record[0] for record in half)}
        for half in (one, other)
    ]
    assert not seen[0] & seen[1]
    # Of a small vocabulary two texts may be near each other by chance.
    assert 55 <= sum(halves.units) <= 60


def test_a_text_is_known_whatever_its_capitals_and_spaces(tmp_path: Path) -> None:
    """Others are not, nor a text without any word."""
    path = written(tmp_path / "public.jsonl", ["The  router\ncrashed.", "", "Yes"])
    known = attackers.PublicText.from_file(str(path), None).hashes()
    asked = ["the router crashed. ", "The router crashed", "", "YES"]
    assert [attackers.text_hash(text) in known for text in asked] == [
        True,
        False,
        False,
        True,
    ]


def test_records_of_several_fields_are_known(tmp_path: Path) -> None:
    """Each of their texts, and all of them as one, as `compare` reads them."""
    path = tmp_path / "public.jsonl"
    path.write_text('{"a": "the film", "b": "was good"}\n')
    known = attackers.PublicText.from_file(str(path), ["a", "b"]).hashes()
    asked = ["the film", "was good", "the film\nwas good", "was good\nthe film"]
    assert [attackers.text_hash(text) in known for text in asked] == [
        True,
        True,
        True,
        False,
    ]


def test_evaluate_reads_with_public_text(files: tuple[Path, Path, Path]) -> None:
    """The attacker of the kind finds more than others, with intervals, and is named."""
    data, _ = evaluated(files)
    every = {each["attacker"]: each["classes"][0] for each in data["in_context"]}
    assert every["same-kind"]["low"] > every["alone"]["high"]
    known = data["public_text"]
    assert every["same-kind"]["words"] == (PRIVATE - known["repeated"]) * 17
    assert (known["file"], known["counted"]) == ("public.jsonl", COUNTED * 17)
    assert known["texts"] == PRIVATE
    assert known["repeated"] <= NEAR


def test_private_rows_in_the_public_text_are_counted_and_not_read(
    files: tuple[Path, Path, Path],
) -> None:
    """Only their number is said; with all of them there, no attacker reads anything."""
    public, original, _ = files
    repeated = rows(PRIVATE, 2)[:5]
    written(public, [*rows(COUNTED, 1), *(text.upper() for text in repeated)])
    data, said = evaluated(files)
    count = data["public_text"]["repeated"]
    assert 5 <= count <= 5 + NEAR
    assert data["in_context"][0]["classes"][0]["words"] == (PRIVATE - count) * 17
    assert said.count("\n") == 1
    assert f"{count} of {PRIVATE} private texts recur" in said
    assert not any(text in said for text in repeated)
    nearly = (text.replace(text.split()[0], "xyzzy", 1) for text in repeated)
    written(public, [*rows(COUNTED, 1), *nearly])
    assert evaluated(files)[0]["public_text"]["repeated"] == count
    public.write_bytes(original.read_bytes())
    data, said = evaluated(files)
    assert data["public_text"]["repeated"] == PRIVATE
    assert data["in_context"] == []


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (("--profile", "cmp"), 2, "exact output distribution"),
        (("--public-text", "-"), 2, "read several times"),
        (("--public-text", "nowhere.jsonl"), 2, "nowhere.jsonl"),
        (("--public-text", "empty.jsonl"), 4, "--field"),
        ((), 2, "--public-text need the profile"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    more: tuple[str, ...],
    code: int,
    said: str,
    files: tuple[Path, Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With what to do; a mechanism without output distribution, too."""
    public, original, private = files
    monkeypatch.chdir(public.parent)
    Path("empty.jsonl").write_text('{"body": "the film"}\n')
    usual = ("--profile", "balanced", *small(public.parent)) if more else ()
    usual = usual if "cmp" not in more else ("--lexicon", lexicon(public.parent))
    if "cmp" in more:
        more = (*more, "--epsilon", "3")
    ran = here(
        "evaluate",
        str(original),
        str(private),
        "--public-text",
        str(public),
        *usual,
        *more,
        "--json",
    )
    assert (ran.code, ran.out) == (code, b"")
    assert ran.err.count("\n") == 1
    assert said in ran.err


def test_compare_has_a_column_of_it(files: tuple[Path, Path, Path]) -> None:
    """For mechanisms with an output distribution; others are compared without."""
    public, original, _ = files
    table = public.parent / "table.csv"
    arguments = ("--risk", "40%", "--lexicon", lexicon(public.parent), "-j", "1")
    ran = here(
        "compare",
        str(original),
        "-m",
        "rank:k=8",
        "-m",
        "laplace",
        *arguments,
        "--public-text",
        str(public),
        "--csv",
        str(table),
    )
    assert ran.code == 0, ran.err
    shown = " ".join(ran.out.decode().split())
    assert "Attackers of whole texts" in shown
    assert f"pairs of {COUNTED * 17:,} words of public.jsonl" in shown
    with table.open() as file:
        cells = {row["mechanism"]: row for row in csv.DictReader(file)}
    attacker = cells["rank:k=8"]
    assert float(attacker["attacker_low"]) < float(attacker["attacker"])
    assert float(attacker["risk"]) < float(attacker["attacker"])
    assert cells["laplace"]["attacker"] == ""


def test_a_plan_reads_one_half_with_the_other(files: tuple[Path, Path, Path]) -> None:
    """Its figures stand first, and nothing private is named."""
    public, _, _ = files
    usual = (*small(public.parent), "--public-text", str(public))
    ran = here("sanitize", "--plan", *usual, "--json")
    assert ran.code == 0, ran.err
    corpus = json.loads(ran.out)["in_context"][0]
    assert (corpus["corpus"], corpus["kind"]) == ("public.jsonl", "public text")
    (reading,) = corpus["readings"]
    assert reading["attacker"] == "same-kind"
    words = reading["classes"][0]["words"]
    assert words + corpus["counted"] == COUNTED * 17
    shown = " ".join(here("sanitize", "--plan", *usual).out.decode().split())
    counted = f"{corpus['counted']:,} other words of it finds"
    assert f"this kind in public.jsonl an attacker with {counted}" in shown


def test_an_epsilon_for_the_attacker_of_the_kind(
    files: tuple[Path, Path, Path],
) -> None:
    """The upper limit of what it finds is at most the risk, and not far below."""
    public, _, _ = files
    settings = ("--lexicon", lexicon(public.parent), "--set", "mechanism.k=8")
    usual = ("calibrate", "--risk", "45%", *settings, "--json")
    ran = here(*usual, "--public-text", str(public))
    assert ran.code == 0, ran.err
    data = json.loads(ran.out)
    every = data["reading"]["classes"][0]
    assert data["reading"]["attacker"] == "same-kind"
    assert 0.35 < every["success"] < every["high"] <= 0.45
    assert f"epsilon {data['epsilon']:.4g}: same-kind finds" in ran.err
    alone = json.loads(here(*usual).out)["rows"][0]["epsilon"]
    assert data["epsilon"] < alone
