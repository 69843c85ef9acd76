"""`dptext init`: what it shows, asks and writes, and that runs need no options then."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import made_topics
from tests.cli.running import MARKER, command, environment, here, on_terminal, there

ROWS: list[dict[str, Any]] = [
    {
        "id": number,
        "opened": f"2026-03-0{number + 1}",
        "customer": name,
        "account": {"no": 10_000 + number, "tags": ["new"]},
        "status": "Open",
        "body": f"The {MARKER} lamp was broken, and number {number} came late.",
    }
    for number, name in enumerate(("Mary Smith", "Aino Virtanen", "Wei Zhang") * 2)
]
PRIVATE = ["body"]
DROPPED = ["customer", "account.no"]
COPIED = ["id", "opened", "account.tags", "status"]
READABLE = ["punctuation", "common-words", "number", "case", "forms", "classes"]
READABLE += ["grammar"]
# The settings and the policy for each audience, without the fields.
PEOPLE = {"profile": "readable"}, {"max_epsilon": 2.5, "allow": READABLE}
PROGRAMS = (
    {"profile": "balanced", "risk": "20%"},
    {"max_risk": "20%", "allow": ["punctuation", "forms"]},
)


def _flat() -> list[list[str]]:
    rows = [[row["id"], row["customer"], row["body"]] for row in ROWS]
    return [["id", "customer", "body"], *([str(each) for each in row] for row in rows)]


def write(folder: Path, suffix: str) -> str:
    """Write records in a format and return the path."""
    path = folder / f"in.{suffix}"
    if suffix == "jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    elif suffix == "txt":
        path.write_text("".join(f"{row['body']}\n" for row in ROWS))
    elif suffix == "parquet":
        pa = pytest.importorskip("pyarrow")
        import pyarrow.parquet as pq

        head, *rows = _flat()
        pq.write_table(
            pa.table(dict(zip(head, zip(*rows, strict=True), strict=True))), path
        )
    else:
        mark = {"csv": ",", "tsv": "\t"}[suffix]
        quoted = ([f'"{each}"' for each in row] for row in _flat())
        path.write_text("".join(f"{mark.join(row)}\n" for row in quoted))
    return str(path)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("audience", "wanted"), [("", PEOPLE), ("people", PEOPLE), ("programs", PROGRAMS)]
)
def test_settings_are_printed_where_nobody_can_be_asked(
    audience: str, wanted: tuple[dict[str, Any], dict[str, Any]], folder: Path
) -> None:
    """Without a terminal, standard output is the file, for people by default."""
    asked = ("--audience", audience) if audience else ()
    ran = here("init", write(folder, "jsonl"), *asked)
    assert (ran.code, ran.err) == (0, "")
    settings, policy = wanted
    fields = {"fields": PRIVATE, "copy": COPIED, "pseudonyms": []}
    assert yaml.safe_load(ran.out) == {
        "sanitize": {"field": PRIVATE, "drop": DROPPED, **settings},
        "check": {**policy, **fields},
    }
    assert MARKER.encode() not in ran.out
    assert b"Smith" not in ran.out
    assert not Path(".dptext.yaml").exists()


def test_identifying_fields_are_kept_only_by_name(folder: Path) -> None:
    """What looks as if it identified people is left out unless an option names it."""
    source = write(folder, "jsonl")
    said = here("init", source, "--field", "body").out.decode()
    assert (
        "# left out, since it looks identifying: 'customer' (names of people)" in said
    )
    assert "# left out, since it looks identifying: 'account.no' (personal" in said
    ran = here("init", source, "--copy", "customer", "--pseudonym", "account.no")
    said = ran.out.decode()
    assert "# unchanged, though it looks identifying: 'customer' (names" in said
    assert "# a pseudonym, which can be linked: 'account.no'" in said
    assert "# pseudonyms need a key: --key-file pseudonyms.key" in said
    settings = yaml.safe_load(said)
    assert settings["sanitize"]["pseudonym"] == ["account.no"]
    assert "drop" not in settings["sanitize"]
    assert settings["check"]["copy"] == ["id", "opened", "customer", *COPIED[2:]]
    assert settings["check"]["pseudonyms"] == ["account.no"]
    assert settings["check"]["allow"] == [*READABLE, {"identifying": ["customer"]}]
    Path(".dptext.yaml").write_text(said.replace("- account.no", "- status"))
    (folder / "k").write_bytes(bytes(range(7, 71)))
    (folder / "k").chmod(0o600)
    here("sanitize", source, "-o", "out.jsonl", "--key-file", "k")
    ran = here("check", "out.jsonl")
    # Neither number nor state was asked about in its present role.
    assert ran.code == 1
    assert "'account.no'" in ran.out.decode()
    assert "customer" not in ran.out.decode()
    ran = here("init", source, "--copy", "customer", "--drop", "customer")
    assert (ran.code, ran.out) == (2, b"")
    assert "field 'customer' is both drop and copy" in ran.err


@pytest.mark.parametrize(
    ("name", "values", "is_text"),
    [
        ("subject", ["Where is my order #318904?", "Refund please", "Login fails"], 1),
        ("subject", ["Refund please", "Lamp is broken", "Password reset"] * 20, 1),
        ("reason", ["Too late", "Wrong size sent", "Did not fit"] * 20, 1),
        ("topic", ["Refund please", "Lamp is broken", "No answer yet"], 1),
        ("status", ["In progress", "On hold", "Not started"] * 20, 0),
        ("city", ["New York", "Rio de Janeiro", "Den Haag"], 0),
        ("subject", ["Mathematics", "English", "History"], 0),
        ("title", ["Dr", "Mr", "Mrs"] * 5, 0),
        ("code", ["a-1", "b-2", "c-3"], 0),
    ],
)
def test_short_free_text_is_text(
    name: str, values: list[str], is_text: bool, folder: Path
) -> None:
    """Subjects and reasons of a few words are private; codes and states are not."""
    rows = [
        {name: value, "body": f"The lamp of number {number} was broken again."}
        for number, value in enumerate(values)
    ]
    Path("in.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    fields = yaml.safe_load(here("init", "in.jsonl").out)["sanitize"]["field"]
    assert (name in fields) == bool(is_text)


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "tsv", "parquet", "txt"])
def test_runs_need_no_options_afterwards(suffix: str, folder: Path) -> None:
    """With the settings that were printed, sanitize and check need no options."""
    source, out = write(folder, suffix), str(folder / f"out.{suffix}")
    Path(".dptext.yaml").write_bytes(here("init", source).out)
    ran = here("sanitize", source, "-o", out)
    assert ran.code == 0, ran.err
    ran = here("check", out)
    assert ran.code == 0, ran.out
    if suffix in ("jsonl", "csv", "tsv"):
        assert b"Virtanen" not in Path(out).read_bytes()


def test_the_first_file_of_a_folder_is_looked_at(folder: Path) -> None:
    """Its settings hold for all; a line names it and says how many there are."""
    (folder / "in").mkdir()
    for name in ("b.csv", "a.csv"):
        (folder / "in" / name).write_text("text\nThe broken lamp was late again.\n" * 3)
    ran = here("init", "in")
    assert ran.err == "dptext: in: looking at in/a.csv, 1 more not looked at\n"
    Path(".dptext.yaml").write_bytes(ran.out)
    assert here("sanitize", "in", "-o", "out").code == 0
    assert here("check", "out").code == 0
    ran = here("init", "-", given=b"text\n")
    assert (ran.code, ran.out) == (2, b"")
    assert "save it to a file" in ran.err


def test_a_column_of_any_name_and_encoding_is_surveyed(folder: Path) -> None:
    """One that is called text, in Parquet and in a workbook; and one in UTF-16."""
    rows: dict[str, list[Any]] = {"text": ["The broken lamp was late again."] * 3}
    rows["n"] = [1, 2, 3]
    wanted = {"field": ["text"], **PEOPLE[0]}
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(rows), "a.parquet")
    book = pytest.importorskip("openpyxl").Workbook()
    for row in (["text", "n"], *zip(*rows.values(), strict=True)):
        book.active.append(list(row))
    book.save("a.xlsx")
    for name in ("a.parquet", "a.xlsx"):
        assert yaml.safe_load(here("init", name).out)["sanitize"] == wanted
    Path("a.csv").write_text(f"text\n{rows['text'][0]}\n", "utf-16")
    ran = here("init", "a.csv", "--encoding", "utf-16")
    assert wanted.items() <= yaml.safe_load(ran.out)["sanitize"].items()
    Path(".dptext.yaml").write_bytes(ran.out)
    assert here("sanitize", "a.csv", "-o", "o.csv").code == 0


def test_texts_of_few_values_are_texts(folder: Path) -> None:
    """Long ones that repeat are no states, and a number in one identifies no column."""
    texts = [
        "The caller 078-05-1120 asked again why the payment for the washing machine "
        "has not arrived, and wants to be called back before nine on Monday.",
        "We told the caller that the technician comes on Friday between eight and one.",
    ]
    rows = [{"state": "open", "note": texts[n % 2]} for n in range(60)]
    short = [{"remark": each} for each in ("ask 078-05-1120 now", "all is fine here")]
    for name, every in (("long", rows), ("short", short * 3)):
        path = folder / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in every))
    wanted = {"field": ["note"], "profile": "readable"}
    assert yaml.safe_load(here("init", "long.jsonl").out)["sanitize"] == wanted
    wanted["field"] = ["remark"]
    assert yaml.safe_load(here("init", "short.jsonl").out)["sanitize"] == wanted


def test_workbooks_of_several_sheets_are_surveyed_whole(folder: Path) -> None:
    """All sheets; text of a page is no private field, and leaves as little as names."""
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.title = "Info"
    book.active["A1"] = "Monthly report of the desk for support"
    book.active["A3"] = "It was written by hand in May and is not yet complete."
    rows: dict[str, list[Any]] = {
        "long": [["id", "day"], *([n, "open"] for n in range(1200))],
        "notes": [
            ["id", "note"],
            *([n, f"The {MARKER} was broken, {n}."] for n in range(9)),
        ],
        "people": [
            ["who", "mail"],
            *([f"n{n}", f"n{n}@example.org"] for n in range(9)),
        ],
    }
    for name, lines in rows.items():
        sheet = book.create_sheet(name)
        for line in lines:
            sheet.append(line)
    book.save("a.xlsx")
    ran = here("init", "a.xlsx")
    assert ran.code == 0, ran.err
    settings = yaml.safe_load(ran.out)
    assert settings["sanitize"] == {
        "field": ["notes!note"],
        "drop": ["Info!Monthly report of the desk for support", "people!mail"],
        "profile": "readable",
    }
    assert "# left out, since its sheet is no table: 'Info!Monthly" in ran.out.decode()
    Path(".dptext.yaml").write_bytes(ran.out)
    assert here("sanitize", "a.xlsx", "-o", "o.xlsx").code == 0
    ran = here("check", "o.xlsx")
    assert ran.code == 0, ran.out


def test_layout_and_missing_fields_are_kept(folder: Path) -> None:
    """Options that say how a file is read, and records without a text, are settings."""
    path = folder / "in.dat"
    path.write_text("id;note\n1;It was a broken lamp.\n2;\n3;Where is my order now?\n")
    ran = here("init", str(path), "--format", "csv", "--delimiter", ";")
    sanitize = yaml.safe_load(ran.out)["sanitize"]
    assert sanitize == {
        **{"field": ["note"], "format": "csv", "delimiter": ";", **PEOPLE[0]}
    }
    path = folder / "in.jsonl"
    path.write_text('{"note":"It was a broken lamp."}\n{"id":2}\n')
    assert yaml.safe_load(here("init", str(path)).out)["sanitize"]["missing"] == "pass"


@pytest.mark.parametrize(
    ("name", "content", "options", "code", "said"),
    [
        ("in.jsonl", '{"id":1}\n', (), 2, "no private field: name one"),
        ("in.jsonl", '{"id":1}\n', ("-f", "idd"), 2, "did you mean 'id'"),
        ("in.jsonl", "", (), 4, "in.jsonl: no record has a field; give another file"),
        ("in.jsonl", "zqxjkmarker7\n", (), 4, "in.jsonl:1: not valid JSON"),
        ("in.xyz", "\0", (), 2, "choose one with --format"),
        ("-", "", (), 2, "save it to a file"),
        ("absent.csv", None, (), 2, "absent.csv"),
        ("in.csv", "id,text\n1,\xe9\n", (), 4, "; give --encoding"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(
    name: str,
    content: str | None,
    options: tuple[str, ...],
    code: int,
    said: str,
    folder: Path,
) -> None:
    """One line states the error, and standard output stays empty."""
    if content is not None and name != "-":
        (folder / name).write_text(content, encoding="latin-1")
    ran = here("init", name, *options)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, b"", 1), ran.err
    assert said in ran.err
    assert MARKER not in ran.err


def dialogue(folder: Path, answers: str, *arguments: str) -> tuple[str, int]:
    """Run a command on a terminal, type answers, return the output and the code."""
    env = environment(COLUMNS="100", NO_COLOR="1")
    ran = on_terminal(command(*arguments), env, typed=answers.encode(), cwd=folder)
    return ran.err, ran.code


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX terminals")
def test_a_guided_start(folder: Path) -> None:
    """Fields, previews at three risks and questions; then runs need no options."""
    source = write(folder, "jsonl")
    answers = "who\npr\n\nkeep\nwhat\np\nps\nprivate\ndrop\nrest\n\n\n"
    shown, code = dialogue(folder, answers, "init", source)
    assert code == 0, shown
    assert "who: give people, programs or statistics" in shown
    assert "Fields of the first 1,000 records, or of all if there are fewer" in shown
    assert shown.index("Who will read it") < shown.index("id (not text) [copy]: ")
    assert "customer (names of people) [drop]: " in shown
    assert "what: give private, drop, pseudonym, copy or rest" in shown
    assert "p: private or pseudonym?" in shown
    assert "account.no contains no text: give drop, pseudonym or copy" in shown
    for risk in ("10%", "20%", "35%"):
        assert f"risk {risk}" in shown
    assert shown.count(MARKER) == 3, "the originals of three records"
    settings = Path(".dptext.yaml").read_text()
    wanted = {"field": PRIVATE, "drop": ["account.no"], "pseudonym": ["customer"]}
    assert yaml.safe_load(settings)["sanitize"] == {**wanted, **PROGRAMS[0]}
    assert MARKER not in settings
    # A terminal is where other options are not needed, either.
    said = shown[shown.rindex("Write .dptext.yaml?") :]  # a preview may say next, too
    once, sanitize, check = re.findall("next[^:]*: (.*)\n", said)
    assert "--key-file pseudonyms.key" in sanitize
    subprocess.run(once, shell=True, check=True, cwd=folder)
    shown, code = dialogue(folder, "", *shlex.split(sanitize)[1:])
    assert code == 0, shown
    allowed = ("--set", "allow.identifying=account.no")
    assert there(*shlex.split(check)[1:], *allowed, cwd=folder).code == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX terminals")
def test_without_a_private_field_one_question_is_asked(folder: Path) -> None:
    """The others do not come again, and the longest text is suggested."""
    path = folder / "a.csv"
    path.write_text("state,id\nit is open now,1\nit is open now,2\n")
    shown, code = dialogue(
        folder, "people\nkeep\nkeep\nid2\nstate\n\n", "init", "a.csv"
    )
    assert code == 0, shown
    assert shown.count("state (") == 1, shown
    assert "Which field is private [state]: " in shown
    assert "id2: " in shown
    assert yaml.safe_load(Path(".dptext.yaml").read_text())["sanitize"]["field"] == [
        "state"
    ]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX terminals")
def test_no_file_is_replaced_without_consent(folder: Path) -> None:
    """A wrong answer is asked again; a file that is there stays unless one says yes."""
    source, path = write(folder, "txt"), Path(".dptext.yaml")
    path.write_text("check: {}\n")
    shown, code = dialogue(folder, "programs\nlots\n10%\n\n", "init", source)
    assert (code, path.read_text()) == (0, "check: {}\n"), shown
    assert "give a share between 0 and 1" in shown
    assert "nothing was written" in shown
    shown, code = dialogue(folder, "\x04", "init", source)
    assert (code, path.read_text()) == (130, "check: {}\n"), shown
    shown, code = dialogue(folder, "programs\n10%\ny\n", "init", source)
    assert code == 0, shown
    assert yaml.safe_load(path.read_text())["sanitize"] == {
        "profile": "balanced",
        "risk": "10%",
    }


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX terminals")
def test_people_get_a_preview_of_readable_texts(folder: Path) -> None:
    """Enter is for people; no risk is asked for: who reads it decides the profile."""
    source = write(folder, "jsonl")
    shown, code = dialogue(folder, "\nrest\n\n", "init", source)
    assert code == 0, shown
    assert "common words can still show who a person is" in shown
    assert "Risk, how often" not in shown
    assert "readable" in shown
    settings = yaml.safe_load(Path(".dptext.yaml").read_text())
    assert settings["sanitize"]["profile"] == "readable"
    assert "common-words" in settings["check"]["allow"]


@pytest.mark.slow
@pytest.mark.parametrize("audience", ["people", "programs", "statistics"])
def test_settings_of_every_audience_serve_the_next_commands(
    audience: str, folder: Path
) -> None:
    """Written settings are those that sanitize and check accept."""
    if audience == "statistics":
        made_topics.make("topics")
    source = write(folder, "jsonl")
    ran = here("init", source, "--audience", audience)
    assert ran.code == 0, ran.err
    Path(".dptext.yaml").write_bytes(ran.out)
    ran = here("sanitize", source, "-o", "out.jsonl")
    assert ran.code == 0, ran.err
    ran = here("check", "out.jsonl")
    assert (ran.code, ran.out) == (0, b""), ran.out


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX terminals")
def test_statistics_on_a_terminal_name_topics_first(folder: Path) -> None:
    """The command that makes topics comes before the run that needs them."""
    source = write(folder, "txt")
    shown, code = dialogue(folder, "stat\n\n", "init", source)
    assert code == 0, shown
    first, then = shown.partition("next, once: dptext topics build ")[::2]
    assert "PUBLIC_TEXT --name topics" in then
    assert "next: dptext sanitize" in then
    assert "next:" not in first
    document = made_topics.make("topics")
    words = here("sanitize", source, "-o", "out.txt")
    assert words.code == 0, words.err
    lines = Path("out.txt").read_text().splitlines()
    assert set(lines) <= set(document.sizes["8"].phrases)


def test_it_proposes_the_languages_of_the_first_records(tmp_path: Path) -> None:
    """Records in German and English get both languages, English ones alone none."""
    lines = (
        "Der Karton war leider offen und das Gerät darin ist ganz kaputt.",
        "The parcel was open and the device inside it is broken.",
    )
    for texts, codes in ((lines, ["en", "de"]), (lines[1:], None)):
        records = [json.dumps({"text": text}) for text in texts]
        file = tmp_path / "mixed.jsonl"
        file.write_text("\n".join(records) + "\n", encoding="utf-8")
        done = here("init", str(file), "--audience", "people")
        assert yaml.safe_load(done.out)["sanitize"].get("language") == codes
