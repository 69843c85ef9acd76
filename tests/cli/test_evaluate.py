"""`dptext evaluate` on a file that dptext has privatized."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import WORDS, here, small

pytest.importorskip("sklearn")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Write 60 labelled records, and privatize them."""
    one, two = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows = [
        {"id": n, "text": f"{WORDS[n % 2]} {WORDS[2]} zq", "label": n % 2}
        for n in range(60)
    ]
    one.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = (*small(tmp_path), "--decode", "none")
    ran = here("sanitize", "-f", "text", str(one), "-o", str(two), "-q", *options)
    assert ran.code == 0
    return str(one), str(two)


def test_all_figures(files: tuple[str, str], tmp_path: Path) -> None:
    """Metrics, utility, attacks; as JSON, in a file and as a page."""
    report, page = tmp_path / "r.json", tmp_path / "p.html"
    options = (*small(tmp_path), "--decode", "none")
    ran = here(
        "evaluate",
        *files,
        "--label",
        "label",
        "--attribute",
        "label",
        "--id",
        "id",
        "-p",
        "balanced",
        *options,
        "--alpha",
        "0.3",
        "--json",
        "--splits",
        "2",
        "--report",
        str(report),
        "--html",
        str(page),
    )
    assert ran.code == 0, ran.err
    assert all("so far)" in line for line in ran.err.splitlines())
    result = json.loads(ran.out)
    assert json.loads(report.read_bytes()) == result
    assert result["kept"]["texts"] == 60
    assert result["utility"][0]["original"]["accuracy"] == 1.0
    assert [each["name"] for each in result["word_attacks"]] == [
        "nearest guess",
        "Bayes",
    ]
    assert list(result["composite"]) == ["0.3"]
    # One label in both parts: what utility loses, the attack loses, too.
    assert result["trade_off"] == pytest.approx(0.0)
    assert b"A private file compared with its original" in page.read_bytes()
    assert b"the Bayes risk&#39;s figure" in page.read_bytes()
    assert (result["original"], result["private"]) == ("in.jsonl", "out.jsonl")
    changed = "lexicon=words.vec, decoder=none, epsilon=3, mechanism.k=8"
    assert result["profile"] == f"balanced with {changed}"
    assert result["settings"]["budget"]["epsilon"] == 3
    assert "owner" in result["audience"]
    assert result["word_attacks"][1]["predicted"] > 0
    assert set(result["meanings"]) == {"original", "private", "static"}


def test_settings_of_a_report(files: tuple[str, str], tmp_path: Path) -> None:
    """Its public report names the writer: the answer's command measures its settings.

    Written words first, each class by name; changes beside a report are refused.
    """
    sidecar = Path(f"{files[1]}.dptext.json")
    ran = here("evaluate", *files, "--profile", str(sidecar), "--json")
    assert json.loads(ran.out)["settings"]["budget"]["epsilon"] == 3
    report = json.loads(sidecar.read_bytes())
    report["run"]["lexicon_digest"] = "0" * 64
    sidecar.write_text(json.dumps(report))
    ran = here("evaluate", *files, "--profile", str(sidecar))
    assert ran.code == 2
    assert "dptext lexicon import" in ran.err
    source, out = tmp_path / "one.txt", tmp_path / "one.out.txt"
    source.write_text("The doctor said that the film was good and cheap.\n" * 20)
    options = ("--set", "tokens.number=mask", "--risk", "25%")
    assert here("sanitize", str(source), "-o", str(out), "-q", *options).code == 0
    pair = (str(source), str(out), "--format", "text")
    ran = here("evaluate", *pair, "--profile", f"{out}.dptext.json", "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert result["settings"]["tokens"]["number"] == "mask"
    first, *others = result["in_context"]
    assert first["attacker"] == "as written"
    assert first["classes"][0]["name"] == "all words"
    assert {"alone", "ngram"} <= {each["attacker"] for each in others}
    again = ("--profile", f"{out}.dptext.json", "--risk", "20%")
    ran = here("evaluate", *pair, *again)
    assert ran.code == 2
    assert "leave other settings" in ran.err


def test_tables_for_people(files: tuple[str, str], tmp_path: Path) -> None:
    """A file against itself keeps everything."""
    lexicon = small(tmp_path)[:2]
    ran = here("evaluate", files[0], files[0], "--label", "label", *lexicon)
    assert ran.code == 0
    shown = " ".join(ran.out.decode().split())
    assert re.search(r"PP 0.0% \(by chance .*\): share of the replaceable words", shown)
    assert "original trained and tested on originals" in shown
    assert "owner of the text" in shown


@pytest.mark.parametrize("option", ["--report", "--html"])
def test_an_output_in_no_folder_is_found_first(
    option: str, files: tuple[str, str], tmp_path: Path
) -> None:
    """Before anything is read: a broken file of private texts is not named."""
    Path(files[1]).write_text("broken\n")
    there = str(tmp_path / "no" / "file")
    ran = here("evaluate", *files, *small(tmp_path)[:2], option, there)
    assert (ran.code, ran.out) == (1, b"")
    assert ran.err == f"dptext: {there}: No such file or directory\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--epsilon", "3"), "give --profile"),
        (("--classifier", "nothing", "--label", "label"), "give tfidf"),
        (("--label", "id"), "'id' cannot be a label: it needs at least two values"),
        (("--label", "nothing"), "cannot be a label: no record has a value for it"),
        (("--masked-model", "nowhere"), "--masked-model: no folder nowhere"),
        (("--encoder", "nowhere"), "needs the sentence model"),
    ],
)
def test_wrong_options(
    files: tuple[str, str], arguments: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    """One line each."""
    pytest.importorskip("sentence_transformers")
    ran = here("evaluate", *files, *small(tmp_path)[:2], *arguments)
    assert ran.code == 2
    assert reason in ran.err
    assert ran.err.count("\n") == 1


def test_tables_with_other_delimiters_and_without_header(tmp_path: Path) -> None:
    """The layout options are those of sanitize."""
    one = tmp_path / "a.csv"
    one.write_text("x;the film\ny;was good\n")
    layout = ("--delimiter", ";", "--no-header", "--field", "2", "--id", "1")
    ran = here("evaluate", str(one), str(one), *layout, "--json", *small(tmp_path)[:2])
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["kept"]["words"] == 4


@pytest.mark.parametrize(
    ("change", "arguments", "said"),
    [
        (lambda rows: rows[:-1], (), "record 60 has no counterpart"),
        (lambda rows: [*rows, rows[0]], ("--id", "id"), "record 61 has no counterpart"),
        (lambda rows: ["nothing\n", *rows[1:]], (), "out.jsonl:1: not valid JSON"),
        (lambda rows: rows, ("--field", "txet"), "field 'txet' is absent"),
    ],
)
def test_files_that_do_not_belong_together(
    files: tuple[str, str],
    change: Callable[[list[str]], list[str]],
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
) -> None:
    """Exit code 4, one line, no figures."""
    two = Path(files[1])
    two.write_text("".join(change(two.read_text().splitlines(keepends=True))))
    ran = here("evaluate", *files, *small(tmp_path)[:2], *arguments)
    assert (ran.code, ran.out) == (4, b"")
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_records_that_were_left_out_are_found_by_id(
    files: tuple[str, str], tmp_path: Path
) -> None:
    """A shorter private file is compared with its own originals."""
    two = Path(files[1])
    two.write_text("".join(two.read_text().splitlines(keepends=True)[10:]))
    lexicon = small(tmp_path)[:2]
    ran = here("evaluate", *files, "--id", "id", "--json", *lexicon)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["kept"]["texts"] == 50


def test_values_that_must_not_appear(tmp_path: Path) -> None:
    """Counted on the page and in JSON; numbers of records on standard error only."""
    one, two, names = (tmp_path / name for name in ("a.txt", "b.txt", "names.txt"))
    one.write_text("Zqxj Vbnm said it\nVbnm of the house\nbread\n")
    two.write_text("Zqxj Vbnm said it\nWater of the house\nZqxj Vbnm\n")
    names.write_text("zqxj VBNM\nVbnm\n")
    report, page = tmp_path / "r.json", tmp_path / "p.html"
    given = (str(one), str(two), *small(tmp_path)[:2], "--identities", str(names))
    outputs = ("--report", str(report), "--html", str(page))
    ran = here("evaluate", *given, "--json", *outputs)
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)["identities"]
    assert json.loads(report.read_bytes())["identities"] == found
    assert (found["occurrences"], found["whole"]["count"]) == (3, 2)
    assert found["elsewhere"] == 2
    assert "values of names.txt stand whole in record 1\n" in ran.err
    assert "record 1" not in ran.out.decode() + page.read_text()
    assert "Zqxj" not in ran.err + ran.out.decode() + page.read_text()
    shown = " ".join(here("evaluate", *given).out.decode().split())
    assert "Values that must not appear" in shown
    assert "an infinite loss" in shown


def test_a_column_of_values(tmp_path: Path) -> None:
    """Named by --identities-field, which goes with a file."""
    one, names = tmp_path / "a.txt", tmp_path / "names.csv"
    one.write_text("Zqxj said it\n")
    names.write_text("id,who\n1,Zqxj\n")
    given = ("evaluate", str(one), str(one), *small(tmp_path)[:2])
    column = ("--identities-field", "who")
    ran = here(*given, "--identities", str(names), *column, "--json")
    assert json.loads(ran.out)["identities"]["whole"]["share"] == 1.0
    ran = here(*given, "--identities", str(names))
    assert ran.code == 4
    assert "the field 'text' of --identities-field" in ran.err
    ran = here(*given, *column)
    assert (ran.code, ran.err) == (
        2,
        "dptext: --identities-field needs --identities FILE: give both\n",
    )
    ran = here(*given, "--identities", str(tmp_path / "none.txt"))
    assert (ran.code, ran.err.count("\n")) == (2, 1)
