"""`sanitize --ledger` and `dptext ledger`: a budget that lasts over runs."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dptext.engine import source
from tests.cli.running import MARKER, Ran, here

ROWS = [
    {"user": MARKER, "text": "the film was good"},
    {"user": "v", "text": "a sad story"},
    {"user": MARKER, "text": "not old"},
]
# Of three nats a word: four words and two, of one subject.
MOST = 18.0


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with an input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


@pytest.fixture
def budget(options: tuple[str, ...]) -> tuple[str, ...]:
    """Return the options of a run with a ledger, except the limit."""
    ledger = ("--ledger", "spent.db", "--subject", "user")
    return (*options, *ledger, "-q", "--no-bayes-risk")


def shown(*arguments: str) -> Any:
    """Return what `ledger show` says."""
    ran = here("ledger", "show", "spent.db", "--json", *arguments)
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)


def spent(subject: str = MARKER) -> float:
    """Return what a subject is charged, and see that the ledger is sound."""
    assert here("ledger", "verify", "spent.db").code == 0
    return float(shown("--value", subject)["subjects"][0]["nats"])


def refused(ran: Ran, code: int, said: str) -> None:
    """See that a run is refused in one line, before any output."""
    assert (ran.code, ran.out) == (code, b""), ran.err
    assert ran.err.count("\n") == 1
    assert said in ran.err
    assert MARKER not in ran.err


def test_runs_spend_until_the_limit(budget: tuple[str, ...], folder: Path) -> None:
    """A run within the limit is written and charged; one beyond it is neither."""
    given = ("sanitize", "-f", "text", "in.jsonl", *budget, "--limit")
    assert here(*given, "18", "-o", "out.jsonl").code == 0
    assert (spent(), spent("v"), spent("nobody")) == (MOST, 9.0, 0.0)
    before = sorted(folder.iterdir())
    refused(here(*given, "35.9", "-o", "more.jsonl"), 3, "record 3: ")
    refused(here(*given, "35.9"), 3, "record 3: ")
    assert sorted(folder.iterdir()) == before
    assert (spent(), spent("v")) == (MOST, 9.0)
    ran = here(*given, "36")
    assert ran.code == 0
    assert len(ran.out.splitlines()) == 3
    assert spent() == 2 * MOST
    assert [each["state"] for each in shown()["entries"]] == [
        "released",
        "returned",
        "returned",
        "released",
    ]


def test_the_same_release_again_costs_nothing(
    budget: tuple[str, ...], key: str, folder: Path
) -> None:
    """A key file gives the same bytes for the same price; new records are charged."""
    given = (
        "sanitize",
        "-f",
        "text",
        "in.jsonl",
        *budget,
        "--limit",
        "27",
        "--key-file",
        key,
    )
    first, again = here(*given), here(*given, "--batch-size", "1")
    assert (first.code, first.out) == (0, again.out)
    assert spent() == MOST
    with (folder / "in.jsonl").open("a") as file:
        file.write(json.dumps({"user": MARKER, "text": "the sad actor"}) + "\n")
    assert here(*given).out.startswith(first.out)
    assert spent() == MOST + 9.0
    refused(here(*given, "--epsilon", "2.9"), 3, "")  # other settings draw anew


def test_processes_leave_no_record_uncharged(
    budget: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With several processes records are charged, too: files are not cut then."""
    monkeypatch.setattr(source, "SAMPLE", 1)
    monkeypatch.setattr(source, "FIRST_TEXTS", 1)
    ran = here(
        "sanitize", "-f", "text", "in.jsonl", *budget, "--limit", "18", "--jobs", "2"
    )
    assert ran.code == 0, ran.err
    assert (spent(), spent("v")) == (MOST, 9.0)


def test_every_format_knows_the_same_subjects(
    budget: tuple[str, ...], folder: Path
) -> None:
    """Numbers in JSON, CSV and Parquet are one subject; so are encodings of accents."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    (folder / "a.jsonl").write_text('{"user":7,"text":"film"}\n{"user":"7","text":"a"}')
    (folder / "a.csv").write_text("user,text\n7,film\n7.0,film\n")
    table = pa.table({"user": [7.0], "text": ["film"]})
    pq.write_table(table, folder / "a.parquet")
    for name in ("a.jsonl", "a.csv", "a.parquet"):
        ran = here(
            "sanitize",
            "-f",
            "text",
            name,
            *budget,
            "--limit",
            "99",
            "-o",
            f"out.{name}",
        )
        assert ran.code == 0, ran.err
    assert spent("7") == spent("7.0") == 15.0
    (folder / "b.csv").write_text("user,text\nRen\u00e9,film\nRene\u0301,film\n")
    assert here("sanitize", "-f", "text", "b.csv", *budget, "--limit", "99").code == 0
    assert spent("Ren\u00e9") == spent("Rene\u0301") == 6.0


@pytest.mark.parametrize(
    ("record", "code", "said"),
    [
        ('{"text":"film"}', 2, "is absent; choose another with --id or --subject"),
        ('{"user":null,"text":"film"}', 4, "field 'user' is null"),
        ('{"user":" ","text":"film"}', 4, "subject field 'user' is empty"),
        ('{"user":["a"],"text":"film"}', 4, "it must be one value"),
        ('{"user":"a","user":"b","text":"film"}', 4, "occurs twice"),
    ],
)
def test_a_record_about_nobody_is_not_released(
    record: str, code: int, said: str, budget: tuple[str, ...], folder: Path
) -> None:
    """A record without a subject is refused: it would count for nobody."""
    (folder / "in.jsonl").write_text(record + "\n")
    given = ("sanitize", "-f", "text", "in.jsonl", *budget, "--limit", "99")
    refused(here(*given, "--missing", "pass"), code, said)
    assert not shown()["subjects"]


@pytest.mark.parametrize(
    ("options_", "code", "said"),
    [
        (("--limit", "9", "--seed", "1"), 2, "--seed"),
        (("--limit", "9", "--line-buffered"), 2, "--line-buffered"),
        (("--limit", "9", "--set", "strategy=data-set"), 2, "data-set"),
        (("--limit", "9", "--epsilon", "40"), 3, "have no guarantee"),
        (("--limit", "9", "-f", "user", "--subject", "user"), 2, "both a text and"),
        (("--limit", "9", "--format", "text"), 2, "no fields"),
        (("--limit", "9", "-o", "spent.db.key"), 2, "spent.db.key"),
        ((), 2, "go together"),
    ],
)
def test_what_a_ledger_cannot_count(
    options_: tuple[str, ...], code: int, said: str, budget: tuple[str, ...]
) -> None:
    """Settings without a sum that can be kept are refused in one line."""
    refused(here("sanitize", "-f", "text", "in.jsonl", *budget, *options_), code, said)


def test_an_edited_ledger_stays_edited(budget: tuple[str, ...], folder: Path) -> None:
    """No run writes to it or releases anything; `verify` says so before and after."""
    given = ("sanitize", "-f", "text", "in.jsonl", *budget, "--limit", "99")
    assert here(*given, "-o", "out.jsonl").code == 0
    with sqlite3.connect("spent.db") as data:
        data.execute("DELETE FROM events WHERE kind = 'charge'")
    data.close()
    for _ in range(2):
        refused(here(*given, "-o", "more.jsonl"), 2, "edited")
        assert here("ledger", "verify", "spent.db").code == 1
        assert not (folder / "more.jsonl").exists()


def test_an_edited_ledger_is_shown_with_a_warning(
    budget: tuple[str, ...], folder: Path
) -> None:
    """`show` says so in one line, in JSON, too, and shows unreadable notes as "?"."""
    given = ("sanitize", "-f", "text", "in.jsonl", *budget, "--limit", "99")
    assert here(*given).code == 0
    ran = here("ledger", "show", "spent.db")
    assert (ran.code, ran.err) == (0, "")
    with sqlite3.connect("spent.db") as data:
        data.execute("UPDATE events SET note = 'x' WHERE number = 1")
    data.close()
    for options_ in ((), ("--json",), ("--value", MARKER)):
        ran = here("ledger", "show", "spent.db", *options_)
        assert (ran.code, ran.err.count("\n")) == (0, 1)
        assert "the ledger was edited: its event 1 was changed" in ran.err
        assert "these figures are unreliable" in ran.err
    ran = here("ledger", "show", "spent.db", "--json")
    assert json.loads(ran.out)["problem"].startswith("the ledger was edited")


def test_the_total_of_a_person_is_said_in_words(budget: tuple[str, ...]) -> None:
    """How many records, how much they lost, and whether that protects a person."""
    given = ("sanitize", "-f", "text", "in.jsonl", *budget, "--limit", "99")
    assert here(*given).code == 0
    ran = here("ledger", "show", "spent.db", "--value", MARKER, "--value", "v")
    text = " ".join(ran.out.decode().split())
    assert (
        'This value of "user": 2 records in 1 release, 18 nats: no protection as a '
        "person." in text
    )
    assert (
        'This value of "user": 1 record in 1 release, 9 nats: limited protection as a '
        "person." in text
    )
    ran = here("ledger", "show", "spent.db", "--value", "nobody")
    text = " ".join(ran.out.decode().split())
    assert "no loss is recorded. Either no release holds it, or no word of" in text
    ran = here("ledger", "show", "spent.db")
    text = " ".join(ran.out.decode().split())
    assert (
        'Different values of "user" with a loss: 2. Not protected as a person (more '
        "than 10 nats): 1. The most: 2 records in 1 release, 18 nats. Texts without a "
        "replaced word cost nothing and are not recorded." in text
    )
    assert "counts again" not in text
    assert here(*given).code == 0
    for more in ((), ("--value", MARKER)):
        ran = here("ledger", "show", "spent.db", *more)
        text = " ".join(ran.out.decode().split())
        assert "4 records in 2 releases, 36 nats" in text
        assert "A record drawn again in another release counts again." in text


def test_a_limit_protects_nobody_where_words_stay(budget: tuple[str, ...]) -> None:
    """A plan, an answer, a report and its page say so, however small the limit."""
    loud = tuple(each for each in budget if each != "-q")
    given = ("sanitize", "in.jsonl", "-f", "text", *loud, "--limit", "10")
    kept = ("--set", "tokens.stop_word=keep", "--epsilon", "0.5")
    for more, protects in (("--epsilon", "0.5"), True), (kept, False):
        ran = here(*given, *more, "--plan")
        assert ran.code == 0, ran.err
        released = here(*given, *more, "-o", "x.jsonl", "--json")
        assert released.code == 0, released.err
        said = json.loads(released.err)
        assert said["people"]["protected_as_a_whole"] is protects
        start = "Limited protection" if protects else "Not protected: unchanged words"
        assert said["people"]["sentence"].startswith(start)
        planned = " ".join(ran.out.decode().split())
        assert said["people"]["sentence"] in planned
        assert said["verdict"]["sentence"] in planned
        report = json.loads(Path("x.jsonl.dptext.json").read_text())
        visible = "a person is not protected as a whole."
        assert (visible in report["guarantee"]["scope"]["subjects"]) is not protects
        page = Path("x.html")
        assert here("report", "x.jsonl", "--html", str(page)).code == 0
        assert (visible in page.read_text()) is not protects
        assert shown()["entries"][0]["leaves_words"] is not protects
        text = " ".join(here("ledger", "show", "spent.db").out.decode().split())
        nobody = "Nobody is protected as a person in the release with words that are"
        assert (nobody in text) is not protects
        value = here("ledger", "show", "spent.db", "--value", "v").out.decode()
        none = "limited protection as a person, and none in the release with words"
        assert (none in " ".join(value.split())) is not protects
        Path("spent.db").unlink()
        Path("spent.db.key").unlink()


def test_deltas_are_counted_too(options: tuple[str, ...]) -> None:
    """Settings with a delta need a limit for deltas, which also refuses."""
    lexicon = options[:2]
    gauss = ("--mechanism", "gaussian", "--epsilon", "0.3", "--no-bayes-risk", "-q")
    ledger = ("--ledger", "spent.db", "--subject", "user", "--limit", "100000")
    given = ("sanitize", "-f", "text", "in.jsonl", *lexicon, *gauss, *ledger)
    refused(here(*given), 2, "--limit-delta")
    refused(here(*given, "--limit-delta", "1e-9"), 3, "delta")
    ran = here(*given, "--limit-delta", "0.001")
    assert ran.code == 0, ran.err
    delta = shown("--value", MARKER)["subjects"][0]["delta"]
    assert delta == pytest.approx(6e-5)


def test_reports_say_what_the_ledger_limits(
    budget: tuple[str, ...], folder: Path
) -> None:
    """The sentence follows from the report's fields, and `check` recomputes it."""
    ran = here(
        "sanitize",
        "-f",
        "text",
        "in.jsonl",
        *budget,
        "--limit",
        "20",
        "-o",
        "out.jsonl",
    )
    assert ran.code == 0, ran.err
    lexicon = ("--lexicon", budget[1])
    allowed = ("--set", "allow.identifying=user")
    assert here("check", "out.jsonl", *lexicon, *allowed).code == 0
    sidecar = folder / "out.jsonl.dptext.json"
    report = json.loads(sidecar.read_text())
    recorded = report["run"]["recorded"]
    assert recorded["entry"] == shown()["entries"][0]["entry"]
    assert 'the field "user"' in report["guarantee"]["scope"]["subjects"]
    assert "at most 20 nats" in report["guarantee"]["scope"]["subjects"]
    assert MARKER not in sidecar.read_text()
    assert here("ledger", "verify", "spent.db", "out.jsonl").code == 0
    recorded["limits"]["nats"] = 2.0
    sidecar.write_text(json.dumps(report))
    assert here("check", "out.jsonl", *lexicon).code == 1
    recorded["entry"] = "0" * 32
    sidecar.write_text(json.dumps(report))
    ran = here("ledger", "verify", "spent.db", "out.jsonl")
    assert (ran.code, b"is not recorded" in ran.out) == (1, True)


def test_a_folder_of_outputs_is_charged_file_by_file(
    budget: tuple[str, ...], folder: Path
) -> None:
    """The refused file is absent; the files before it exist and are charged."""
    (folder / "two.jsonl").write_text((folder / "in.jsonl").read_text())
    files = ("in.jsonl", "two.jsonl", "--out-dir", "out")
    ran = here("sanitize", "-f", "text", *files, *budget, "--limit", "30")
    assert (ran.code, spent()) == (3, MOST)
    assert {each.name for each in (folder / "out").iterdir()} == {
        "in.jsonl",
        "in.jsonl.dptext.json",
    }


def test_the_ledger_is_shown_and_exported_without_names(
    budget: tuple[str, ...],
) -> None:
    """Subjects stand in tables and in the export by their hashes alone."""
    assert (
        here("sanitize", "-f", "text", "in.jsonl", *budget, "--limit", "99").code == 0
    )
    ran = here("ledger", "show", "spent.db")
    assert b"18 nats" in ran.out
    rows = [
        json.loads(line)
        for line in here("ledger", "export", "spent.db").out.splitlines()
    ]
    assert sorted((row["nats"], row["records"]) for row in rows) == [
        (9.0, 1),
        (18.0, 2),
    ]
    assert MARKER not in ran.out.decode() + json.dumps(rows)


def test_a_ledger_holds_no_place_of_an_output(
    budget: tuple[str, ...], folder: Path
) -> None:
    """Folders and files may have the names of people, also of a run that is refused."""
    place = folder / "zqxjkfolder"
    place.mkdir()
    given = ("sanitize", "-f", "text", "in.jsonl", *budget)
    output = ("-o", "zqxjkfolder/zqxjkname.jsonl")
    assert here(*given, "--limit", "99", *output).code == 0
    refused(here(*given, "--limit", "1", *output), 3, "the limit is 1 nats")
    pair = ("in.jsonl", "zqxjkfolder/zqxjkname.jsonl", "--out-dir", "zqxjkother")
    assert here("sanitize", "-f", "text", *pair, *budget, "--limit", "999").code == 0
    for each in folder.glob("spent.db*"):
        assert b"zqxjk" not in each.read_bytes().replace(MARKER.encode(), b""), each


def test_verify_says_what_to_name(budget: tuple[str, ...], folder: Path) -> None:
    """A file that is not there, or has no report, is one line that says what to do."""
    run = (
        "sanitize",
        "-f",
        "text",
        "in.jsonl",
        *budget,
        "--limit",
        "18",
        "-o",
        "out.jsonl",
    )
    assert here(*run).code == 0
    Path("out.jsonl.dptext.json").unlink()
    for name in ("nothing.jsonl", "out.jsonl"):
        ran = here("ledger", "verify", "spent.db", name)
        assert ran.code == 2
        assert ran.err.startswith(f"dptext: {name}")
        assert "beside them" in ran.err
        assert ran.err.count("\n") == 1
