"""`--drop` and `--pseudonym`: outputs, refusals and messages."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dptext.engine import source
from dptext.pseudonyms import Pseudonyms, is_token
from dptext.randomness import RunKey
from tests.cli.running import here

TEXTS = ("the film was good", "a sad story", "the house was old and dark")
ROWS: list[dict[str, Any]] = [
    {
        "id": number,
        "email": f"ada{number % 3}@example.org",
        "meta": {"plan": "b", "n": 1.50},
        "body": TEXTS[number % 3],
    }
    for number in range(30)
]
USED = ("--field", "body", "--drop", "meta.plan", "--pseudonym", "email")


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    """Return rows as JSON lines."""
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a file of rows."""
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_bytes(jsonl(ROWS))
    return tmp_path


def token(key: str, value: str) -> str:
    """Return the pseudonym of a value."""
    return Pseudonyms(RunKey.from_file(key)).token(value)


def test_what_is_dropped_does_not_leave_and_tokens_are_stable(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """All other fields stay; report, answer and check say what became of them."""
    args = ("sanitize", "in.jsonl", *USED, *options, "--key-file", key)
    ran = here(*args, "-o", "out.jsonl", "--json")
    assert ran.code == 0, ran.err
    rows = list(map(json.loads, Path("out.jsonl").read_text().splitlines()))
    assert [row["email"] for row in rows] == [token(key, r["email"]) for r in ROWS]
    assert {json.dumps(row["meta"]) for row in rows} == {'{"n": 1.5}'}
    assert b'"n": 1.50' not in Path("out.jsonl").read_bytes()
    assert [row["id"] for row in rows] == list(range(30))
    said = json.loads(ran.err)
    assert said["left_out"]["fields"] == ["meta.plan"]
    assert said["pseudonyms"]["fields"] == ["email"]
    assert said["unchanged"]["fields"] == ["id", "meta.n"]
    assert not any("email" in line for line in said["warnings"])
    report = json.loads(Path("out.jsonl.dptext.json").read_text())
    layout = report["run"]["layout"]
    assert (layout["dropped"], layout["pseudonyms"]) == (["meta.plan"], ["email"])
    lines = " ".join(report["guarantee"]["scope"]["not_covered"])
    fields = '"body", "meta.plan" and "email"'
    assert f"All fields other than {fields} are unchanged" in lines
    assert "no differential privacy" in lines
    ran = here("check", "out.jsonl")
    assert ran.code == 0, ran.out
    layout["pseudonyms"] = []
    Path("out.jsonl.dptext.json").write_text(json.dumps(report))
    assert here("check", "out.jsonl").code == 1


# Behind the first 4,096 texts processes read parts, here of both files.
@pytest.mark.parametrize(("jobs", "size"), [("1", 600), ("2", 5_000)])
def test_parts_folders_and_resumed_runs_write_the_same_bytes(
    jobs: str,
    size: int,
    folder: Path,
    options: tuple[str, ...],
    key: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However the work is divided, and wherever a run was interrupted."""
    monkeypatch.setattr(source, "SIZE", 2**12)
    rows = [{**ROWS[n % 30], "id": n} for n in range(size)]
    head = "id,email,body,n\r\n"
    lines = (f'{n},ada{n % 7}@x.org,"{TEXTS[n % 3]}",7\r\n' for n in range(size))
    Path("a.jsonl").write_bytes(jsonl(rows))
    Path("b.csv").write_text(head + "".join(lines))
    keyed = (*options, "--key-file", key, "--no-bayes-risk")
    used = ("--field", "body", "--drop", "id", "--pseudonym", "email")
    many = ("--out-dir", "many", "--resume")
    for name in ("a.jsonl", "b.csv"):
        alone = here("sanitize", name, *used, *keyed, "--out-dir", "alone")
        assert alone.code == 0, alone.err
    out = Path("alone", "b.csv").read_bytes()
    assert out.startswith(b"email,body,n\r\np_")
    assert out.count(b"\r\n") == size + 1
    assert all(line.count(b",") == 2 for line in out.splitlines())
    for name in ("a.jsonl", "b.csv"):
        ran = here("sanitize", name, *used, *keyed, "--jobs", jobs, *many)
        assert ran.code == 0, ran.err
        assert Path("many", name).read_bytes() == Path("alone", name).read_bytes()
    again = here("sanitize", "a.jsonl", *used, *keyed, "--jobs", jobs, *many)
    assert "1 of 1 files were already finished" in again.err
    # Another choice of fields is other work.
    fewer = ("--field", "body", "--drop", "email")
    other = here("sanitize", "a.jsonl", *fewer, *keyed, *many, "--json")
    assert json.loads(other.err)["left_out"]["fields"] == ["email"]
    assert b"email" not in Path("many", "a.jsonl").read_bytes()


def test_subject_and_id_count_and_then_go(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """A ledger charges the persons of the input; draws go by the ids of the input."""
    ledgered = ("--ledger", "l.db", "--subject", "email", "--limit", "5000")
    keyed = ("sanitize", "in.jsonl", "--field", "body", *options, "--key-file", key)
    plain = here(*keyed, *ledgered, "-o", "plain.jsonl", "--id", "id")
    assert plain.code == 0, plain.err
    spent = here("ledger", "show", "l.db", "--json").out
    dropped = ("--id", "id", "--drop", "id", "--drop", "email")
    gone = here(*keyed, *ledgered, *dropped, "-o", "gone.jsonl")
    assert gone.code == 0, gone.err
    rows = list(map(json.loads, Path("gone.jsonl").read_text().splitlines()))
    assert {tuple(row) for row in rows} == {("meta", "body")}
    before = map(json.loads, Path("plain.jsonl").read_text().splitlines())
    assert [row["body"] for row in rows] == [row["body"] for row in before]
    # The same draws of the same persons, at no further cost.
    after = json.loads(here("ledger", "show", "l.db", "--json").out)
    assert after["subjects"] == json.loads(spent)["subjects"]
    assert len(after["subjects"]) == 3
    assert here("check", "gone.jsonl").code == 0
    named = here(*keyed, "-o", "named.jsonl", "--id", "email", "--pseudonym", "email")
    assert named.code == 0, named.err
    assert here("check", "named.jsonl").code == 0


@pytest.mark.parametrize(
    ("used", "said"),
    [
        (("--pseudonym", "email"), "openssl rand -out pseudonyms.key 32"),
        (("--pseudonym", "email", "--seed", "1"), "guesses the seed"),
        (("--drop", "emial"), "drop 'emial': the input has no such field; did you "),
        (("--drop", "body"), "both a private text and left out"),
        (("--drop", "email", "--pseudonym", "email"), "both left out and a pseudonym"),
        (("--drop", "meta", "--drop", "meta.n"), "contains the field 'meta.n'"),
        (("--drop", "a..b"), "empty part"),
    ],
)
@pytest.mark.parametrize("out", [("-o", "out.jsonl"), ()])
def test_wrong_choices_end_in_one_line(
    used: tuple[str, ...],
    said: str,
    out: tuple[str, ...],
    folder: Path,
    options: tuple[str, ...],
) -> None:
    """Exit code 2, and nothing was written, on standard output neither."""
    ran = here("sanitize", "in.jsonl", "--field", "body", *used, *options, *out)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, b"", 1), ran.err
    assert said in ran.err
    assert os.listdir(folder) == ["in.jsonl"]


def test_lines_of_text_have_no_fields_to_drop(
    folder: Path, options: tuple[str, ...]
) -> None:
    """A choice that could not be kept is refused."""
    Path("in.txt").write_text("the film was good\n")
    ran = here("sanitize", "in.txt", "--drop", "email", *options, "-o", "out.txt")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "--drop: the input is text, and plain text has no fields" in ran.err


def test_both_are_keys_of_the_configuration(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """A file that names them makes a run of them, with the key of the environment."""
    Path(".dptext.yaml").write_text(
        "sanitize: {field: body, drop: [id, meta], pseudonym: email}\n"
        "check: {copy: [], pseudonyms: [email]}\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPTEXT_KEY_FILE", key)
        ran = here("sanitize", "in.jsonl", *options, "-o", "out.jsonl")
    assert ran.code == 0, ran.err
    rows = list(map(json.loads, Path("out.jsonl").read_text().splitlines()))
    assert {tuple(row) for row in rows} == {("email", "body")}
    assert all(is_token(row["email"]) for row in rows)
    assert here("check", "out.jsonl").code == 0
    for policy, said in (
        ("{pseudonyms: [id]}", "the policy does not list 'email' under pseudonyms"),
        ("{fields: [email]}", "the policy requires 'email' to be private; a pseudonym"),
    ):
        Path(".dptext.yaml").write_text(f"check: {policy}\n")
        ran = here("check", "out.jsonl")
        assert ran.code == 1
        assert said in ran.out.decode()


def test_columns_without_names_are_dropped_by_number(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """A check counts the columns of the output."""
    Path("in.csv").write_text("1,ada@x.org,the film was good\n" * 3)
    used = ("--no-header", "--field", "3", "--drop", "1", "--pseudonym", "2")
    keyed = (*options, "--key-file", key)
    ran = here("sanitize", "in.csv", *used, *keyed, "-o", "out.csv")
    assert ran.code == 0, ran.err
    first = Path("out.csv").read_text().splitlines()[0]
    assert first.startswith(f"{token(key, 'ada@x.org')},")
    assert here("check", "out.csv").code == 0, here("check", "out.csv").out


def test_exports_of_tables_with_lines_before_and_escapes(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """Skipped lines are in no output, which is surveyed and checked without them."""
    lines = (f"{n}\tada{n}@x.org\tthe film\\nwas good\t\\N\n" for n in range(9))
    Path("in.tsv").write_text(
        "Export\nof today\nid\temail\tbody\tnote\n" + "".join(lines)
    )
    read = ("in.tsv", "--skip-lines", "2", "--escapes", "backslash", "--field", "body")
    keyed = (*options, "--key-file", key, "--fail-on", "identifying")
    ran = here("sanitize", *read, *keyed, "-o", "out.tsv")
    assert ran.code == 5, ran.err
    assert "email" in ran.err
    used = ("--drop", "id", "--pseudonym", "email")
    ran = here("sanitize", *read, *used, *keyed, "-o", "out.tsv")
    assert ran.code == 0, ran.err
    header, *rows = Path("out.tsv").read_text().splitlines()
    assert header == "email\tbody\tnote"
    cells = [row.split("\t") for row in rows]
    assert [each[0] for each in cells] == [
        token(key, f"ada{n}@x.org") for n in range(9)
    ]
    assert all("\\n" in each[1] and each[2] == "\\N" for each in cells)
    ran = here("check", "out.tsv")
    assert ran.code == 0, ran.out
    wrong = here("sanitize", *read, "--drop", "emial", *options, "-o", "no.tsv")
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
    assert "did you mean 'email'?; columns: 'id', 'email'," in wrong.err


def test_chat_exports_leave_out_and_name_what_only_some_messages_have(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """One file is one record, with messages that differ."""
    messages = [
        {"from": "Ada Lovelace", "text": "the film was good"},
        {"actor": "Bob", "text": ["the ", {"text": "house", "href": "x.org/ada"}]},
        {"from": "Cleo", "text": ""},
    ]
    Path("chat.json").write_text(json.dumps({"messages": messages}))
    fields = ("-f", "messages.text", "-f", "messages.text.text")
    used = ("--drop", "messages.text.href", "--drop", "messages.actor")
    keyed = ("--pseudonym", "messages.from", *options, "--key-file", key)
    args = ("sanitize", "chat.json", *fields, *used, *keyed)
    ran = here(*args, "--fail-on", "identifying", "-o", "out.json")
    assert ran.code == 0, ran.err
    first, second, third = json.loads(Path("out.json").read_text())["messages"]
    assert first["from"] == token(key, "Ada Lovelace")
    assert second.keys() == {"text"}
    assert second["text"][1].keys() == {"text"}
    assert third == {"from": token(key, "Cleo"), "text": ""}
    assert here("check", "out.json").code == 0
    wrong = here(*args, "--drop", "messages.form", "-o", "no.json")
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
    assert "'messages.form': the input has no such field" in wrong.err
    assert not Path("no.json").exists()


def test_texts_of_a_folder_have_nothing_to_leave_out(
    folder: Path, options: tuple[str, ...]
) -> None:
    """A folder takes what one of its files takes; no report claims more."""
    Path("many").mkdir()
    Path("many", "a.csv").write_text("id,body\n1,the film was good\n")
    Path("many", "b.txt").write_text("the film was good\n")
    args = ("sanitize", "many", "--field", "body", "--drop", "id", *options)
    ran = here(*args, "--out-dir", "out", "--json")
    assert ran.code == 0, ran.err
    assert Path("out", "a.csv").read_text().startswith("body\n")
    for name, gone in (("a.csv", ["id"]), ("b.txt", [])):
        report = json.loads(Path("out", f"{name}.dptext.json").read_text())
        assert report["run"]["layout"].get("dropped", []) == gone
    assert here("check", "out").code == 0


def test_strings_of_json_have_no_fields_to_drop(
    folder: Path, options: tuple[str, ...]
) -> None:
    """Said in one line, before anything is written."""
    Path("in.json").write_text('["the film was good", "a sad story"]')
    for wrong in (("--drop", "id"), ("--id", "id")):
        ran = here("sanitize", "in.json", *wrong, *options, "-o", "out.json")
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert "the records are plain strings without fields" in ran.err
    stopped = ("--fail-on", "identifying", "-o", "out.json")
    assert here("sanitize", "in.json", *options, *stopped).code == 0


def test_tokens_follow_from_the_key() -> None:
    """Who lacks the key cannot compute the token of a value."""
    keys = (RunKey(letter * 32, "key-file") for letter in (b"a", b"b"))
    one, other = (Pseudonyms(each).token("ada@x.org") for each in keys)
    assert one != other
