"""Every field of a public report is in one class of docs/checking.md, and treated so.

A new field is edited here without further work; the table of that page is the only
place that names its class.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dptext.checking import exports, policy
from dptext.checking.recompute import Recomputer
from dptext.checking.verify import Finding, Rule
from dptext.cli import check
from dptext.errors import DptextError
from dptext.lexicons import find
from dptext.report import document
from dptext.run.work import SIDECAR
from dptext.settings import digest_of_data
from tests import keys
from tests.cli.running import BALANCED, here, lexicon

Plain = dict[str, Any]
Edit = Callable[[Plain], object]
COMPUTED, COMPARED = "knows, or computes again", "compares with the file"
BELIEVED = "believes"
POLICY = policy.parse(
    {
        "max_loss": 1e9,
        "allow": [{"identifying": ["who", "id"]}],
    },
    "test",
)
ENDPOINT = {"name": "endpoint", "url": "http://127.0.0.1:9/v1", "model": "m"}
NUMBERED = (*BALANCED, "--epsilon", "3", "--set", "mechanism.k=8")
EMBED = ("embed", "--mechanism", "laplace", "--epsilon", "2", "--pool", "word")
RUNS = {
    "out.jsonl": ("sanitize", *NUMBERED, "--id", "id", "--drop", "n"),
    "keyed.jsonl": ("sanitize", *NUMBERED, "--pseudonym", "who", "--key-file", "key"),
    "out.csv": ("sanitize", *NUMBERED),
    "seeded.jsonl": ("sanitize", *NUMBERED, "--seed", "1"),
    "risk.jsonl": ("sanitize", "--risk", "30%"),
    "seeded-risk.jsonl": ("sanitize", "--risk", "30%", "--seed", "1"),
    "out.npz": (*EMBED, "--id", "id"),
}


class Made(NamedTuple):
    """Outputs with their reports, and what recomputes these."""

    folder: Path
    recomputer: Recomputer
    #: Digest of another lexicon that is here.
    other: str

    def report(self, name: str) -> Plain:
        """Return the report that a run wrote."""
        return dict(json.loads((self.folder / (name + SIDECAR)).read_bytes()))

    def findings(self, name: str, report: bytes | Plain) -> list[Finding]:
        """Return what `check` finds in an output with this report."""
        data = report if isinstance(report, bytes) else json.dumps(report).encode()
        export = exports.on_disk(self.folder / name)
        with_report = replace(export, report=data)
        return list(check.judged(lambda: with_report, POLICY, (), self.recomputer)[0])

    def rewritten(self, name: str, edit: Edit) -> bytes:
        """Return a report with an edit and with all that follows from it."""
        plain = self.report(name)
        edit(plain)
        plain["run"]["settings_digest"] = digest_of_data(plain["run"]["settings"])
        edited = document.decode(json.dumps(plain).encode(), "test")
        output, layout = edited.output, plain["run"]["layout"]
        assert output is not None
        if layout != self.report(name)["run"]["layout"] and output.copied is not None:
            # The copied fields follow from those that are named as private.
            export = exports.on_disk(self.folder / name)
            with contextlib.suppress(DptextError):
                copied = exports.read_head(edited.run.layout, export).copied
                output = replace(output, copied=copied)
            edited = replace(edited, output=output)
        wanted = self.recomputer.compare(edited).wanted
        if wanted is None:
            return document.encode(edited)
        run, stated = wanted.run, edited.run
        run = replace(run, dptext=stated.dptext, profile=stated.profile)
        wanted = replace(wanted, run=replace(run, lexicon=stated.lexicon))
        wanted = replace(wanted, output=edited.output, signature=edited.signature)
        return document.encode(wanted)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Write an output of each run."""
    folder = tmp_path_factory.mktemp("made")
    words, other = lexicon(folder), folder / "other.vec"
    other.write_text(Path(words).read_text().replace("water", "wine"))
    keys.put(folder / "key", bytes(range(32)))
    rows = [
        {"id": f"a{n}", "who": f"p{n % 3}", "n": n, "text": "the film was good"}
        for n in range(5)
    ]
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [";".join(map(str, row.values())) for row in rows]
    (folder / "in.csv").write_text("\n".join(["id;who;n;text", *lines]) + "\n")
    for name, (command, *options) in RUNS.items():
        source = folder / ("in.csv" if name.endswith(".csv") else "in.jsonl")
        if name.endswith(".csv"):
            options += ["--delimiter", ";"]
        options = [str(folder / "key") if each == "key" else each for each in options]
        options += ["-f", "text", "--lexicon", words, "-q", "-o", str(folder / name)]
        ran = here(command, str(source), *options)
        assert ran.code == 0, ran.err
    lexicons = [find(words), find(str(other))]
    return Made(folder, Recomputer(lexicons), lexicons[1].digest)


@cache
def schema() -> Plain:
    """Return the schema of reports."""
    return dict(document.schema())


def resolved(part: Plain) -> Plain:
    """Return a part of the schema, of an optional one that which is not null."""
    if "$ref" in part:
        return resolved(schema()["$defs"][part["$ref"].rpartition("/")[2]])
    options = [each for each in part.get("anyOf", ()) if each != {"type": "null"}]
    return resolved(options[0]) if options else part


def leaves(part: Plain, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Give the paths of all fields without parts; a list has those of its items."""
    part = resolved(part)
    items = part.get("items")
    inner = part.get("properties")
    if isinstance(items, dict) and resolved(items).get("properties"):
        inner = resolved(items)["properties"]
    if not inner:
        yield path
    for name, each in (inner or {}).items():
        yield from leaves(each, (*path, name))


def values(part: Plain) -> Iterator[Any]:
    """Give values of a field that follow the schema."""
    part = resolved(part)
    if "enum" in part or "const" in part:
        yield from part.get("enum", [part.get("const")])
    elif "properties" in part:
        names = part.get("required", ())
        yield {name: next(values(part["properties"][name])) for name in names}
    elif part.get("type") == "object":
        yield {"x": next(values(part.get("additionalProperties", {})))}
    elif part.get("type") == "array":
        yield [next(values(each)) for each in part.get("prefixItems", [part["items"]])]
    elif part.get("type") == "string":
        texts = ("x", "ab", "ab" * 8, "1.0.0", "ab" * 32, "cd" * 32, "ab" * 64)
        yield from (x for x in texts if re.search(part.get("pattern", ""), x))
    elif part.get("type") == "boolean":
        yield from (True, False)
    else:
        numbers = (3, 4) if part.get("type") == "integer" else (0.25, 0.5, 1.5)
        yield from (x for x in numbers if x <= part.get("maximum", x))


def sample(*path: str) -> Any:
    """Return a value of a part of a report."""
    part = schema()
    for name in path:
        part = resolved(part)["properties"][name]
    return next(values(part))


def edited(report: Any, part: Plain, path: tuple[str, ...]) -> Any:
    """Return a report with another value in one place, parts above it included."""
    part = resolved(part)
    if not path:
        return next((x for x in values(part) if x != report), "x")
    if part.get("type") == "array":
        report = report or [next(values(part["items"]))]
        return [edited(report[0], part["items"], path), *report[1:]]
    report = report or next(values(part))
    inner = edited(report.get(path[0]), part["properties"][path[0]], path[1:])
    return {**report, path[0]: inner}


@cache
def classes() -> dict[str, str]:
    """Return the class of each field that the table of the page names."""
    page = Path(__file__).parents[2] / "docs" / "checking.md"
    named: dict[str, str] = {}
    for name in (COMPUTED, COMPARED, BELIEVED):
        row = re.search(rf"^\| {name} \| (.*) \|$", page.read_text("utf-8"), re.M)
        assert row is not None, name
        for field in re.findall("`([^`]+)`", row[1]):
            assert field not in named, field
            named[field] = name
    return named


def class_of(path: tuple[str, ...]) -> tuple[str, str]:
    """Return the field of the table that a field belongs to, and its class."""
    for length in range(len(path), 0, -1):
        name = ".".join(path[:length])
        if name in classes():
            return name, classes()[name]
    return "", ""


def put(path: str, value: Any) -> Edit:
    """Return an edit of one field."""

    def edit(report: Plain) -> None:
        *above, last = path.split(".")
        for name in above:
            report = report.setdefault(name, {})
        report[last] = value

    return edit


def test_every_field_has_one_class() -> None:
    """Each leaf of the schema is named, or inside of a named part; no name is idle."""
    named = {path: class_of(path) for path in leaves(schema())}
    assert [".".join(path) for path, (name, _) in named.items() if not name] == []
    assert {name for name, _ in named.values()} == {*classes()}
    tested = {*BELIEVED_EDITS, *COMPARED_EDITS}
    kinds = {name for name, kind in classes().items() if kind != COMPUTED}
    assert {name for name in kinds if not any(map(inside(name), tested))} == set()


def inside(name: str) -> Callable[[str], bool]:
    """Return a test whether a field is this one, or a part of it."""
    return lambda field: f"{field}.".startswith(f"{name}.")


def test_computed_fields_bear_no_edit(made: Made) -> None:
    """Another value that the schema allows fails in each of them, null ones, too."""
    passed, invalid = [], []
    for path in leaves(schema()):
        name, kind = class_of(path)
        if kind != COMPUTED:
            continue
        run = "out.npz" if path[0] == "vectors" else "out.jsonl"
        report = edited(made.report(run), schema(), path)
        found = made.findings(run, report)
        if not found:
            passed.append(".".join(path))
        if path[0] != "private" and {each.rule for each in found} == {Rule.INVALID}:
            invalid.append(name)
    assert passed == []
    # Those that have one value only.
    assert {*invalid} <= {"report", "version"}


BELIEVED_EDITS: dict[str, tuple[str, Edit]] = {
    "run.settings": ("out.csv", put("run.settings.budget.epsilon", 1.5)),
    "run.key": ("seeded.jsonl", put("run.key", "system")),
    "run.lexicon": ("out.csv", put("run.lexicon", "mine")),
    "run.lexicon_digest": ("out.csv", put("run.lexicon_digest", "other")),
    "run.profile": ("out.csv", put("run.profile", "mine")),
    "run.dptext": ("out.csv", put("run.dptext", "0.0.9")),
    "run.recorded": ("out.csv", put("run.recorded", sample("run", "recorded"))),
    "run.layout.fields": ("out.csv", put("run.layout.fields", ["text", "who"])),
    "run.layout.shuffled": ("out.csv", put("run.layout.shuffled", True)),
    "run.layout.id_field": ("out.csv", put("run.layout.id_field", "n")),
    "run.layout.missing": ("out.jsonl", put("run.layout.missing", "pass")),
    "run.layout.quoting": ("out.csv", put("run.layout.quoting", False)),
    "run.layout.encoding": ("out.csv", put("run.layout.encoding", "latin-1")),
    "run.layout.escapes": ("out.csv", put("run.layout.escapes", "none")),
    "words.no_risk": ("out.csv", put("words.no_risk", "switched off")),
    "output.used.proxy": (
        "out.csv",
        put("output.used", {"host": "127.0.0.1:9", "model": "m", "proxy": True}),
    ),
    "signature": ("out.csv", put("signature", sample("signature"))),
}


@pytest.mark.parametrize("field", BELIEVED_EDITS)
def test_believed_fields_bear_an_edit(made: Made, field: str) -> None:
    """With all that follows from it: what the page says is no less than the truth."""
    name, edit = BELIEVED_EDITS[field]
    honest = made.report(name)

    def together(report: Plain) -> None:
        edit(report)
        if field == "run.lexicon_digest":
            report["run"]["lexicon_digest"] = made.other
        if field == "output.used.proxy":
            report["run"]["settings"]["decoder"] = ENDPOINT

    report = made.rewritten(name, together)
    assert json.loads(report) != honest
    assert made.findings(name, report) == []


COMPARED_EDITS: dict[str, tuple[str, Edit]] = {
    "output.file": ("out.csv", put("output.file", "other.csv")),
    "output.bytes": ("out.csv", put("output.bytes", 1)),
    "output.sha256": ("out.csv", put("output.sha256", "ab" * 32)),
    "output.copied": ("out.csv", put("output.copied", ["id", "who"])),
    "output.sheets": ("out.csv", put("output.sheets", {"Info": False})),
    "output.columns": ("out.npz", put("output.columns", ["id", "vector"])),
    "output.rows": ("out.npz", put("output.rows", 3)),
    "run.layout.format": ("out.csv", put("run.layout.format", "jsonl")),
    "run.layout.delimiter": ("out.csv", put("run.layout.delimiter", ",")),
    "run.layout.header": ("out.csv", put("run.layout.header", False)),
    "run.layout.sheets": ("out.csv", put("run.layout.sheets", ["Mine"])),
    "run.layout.dropped": ("out.jsonl", put("run.layout.dropped", ["who"])),
    "run.layout.pseudonyms": (
        "keyed.jsonl",
        put("run.layout.pseudonyms", ["who", "id"]),
    ),
}
# Names of fields that the file does not contradict.
UNSEEN: dict[str, tuple[str, Edit]] = {
    "a field left out that never was": (
        "out.jsonl",
        put("run.layout.dropped", ["n", "diagnosis"]),
    ),
    "no field left out": ("out.jsonl", put("run.layout.dropped", [])),
    "no pseudonyms": ("keyed.jsonl", put("run.layout.pseudonyms", [])),
    "pseudonyms that never were": (
        "keyed.jsonl",
        put("run.layout.pseudonyms", ["who", "insurance"]),
    ),
}


@pytest.mark.parametrize("case", UNSEEN)
def test_names_that_contradict_nothing_pass(made: Made, case: str) -> None:
    """The page says so: `check` sees the copy, not the fields of the original."""
    page = Path(__file__).parents[2] / "docs" / "checking.md"
    assert "contradict nothing and pass" in " ".join(page.read_text("utf-8").split())
    name, edit = UNSEEN[case]
    report = made.rewritten(name, edit)
    assert json.loads(report) != made.report(name)
    assert made.findings(name, report) == []


# Contradictions that settings, layout and file show together.
SIBLINGS: dict[str, tuple[str, Edit]] = {
    "a column that was left out": ("out.csv", put("run.layout.dropped", ["n"])),
    "fields that the file contains not": (
        "out.csv",
        put("run.layout.fields", ["text", "more"]),
    ),
    "one that is private": ("out.jsonl", put("run.layout.dropped", ["text"])),
    "one inside of it": ("out.jsonl", put("run.layout.pseudonyms", ["n"])),
    "pseudonyms without a key": ("keyed.jsonl", put("run.key", "system")),
    "shuffled vectors": ("out.npz", put("run.layout.shuffled", True)),
    "vectors with dropped fields": ("out.npz", put("run.layout.dropped", ["x"])),
    "vectors with pseudonyms": ("out.npz", put("run.layout.pseudonyms", ["x"])),
    **{
        f"risk {risk} of {name}": (name, put("run.settings.budget.risk", risk))
        for name in ("out.csv", "risk.jsonl", "out.npz")
        for risk in (0.01, 0.9)
    },
    "epsilon of a risk": ("risk.jsonl", put("run.settings.budget.epsilon", 1.5)),
    "attacker_risk": ("risk.jsonl", put("run.settings.budget.attacker_risk", 0.1)),
}


@pytest.mark.parametrize("edit", [*COMPARED_EDITS, *SIBLINGS])
def test_compared_fields_bear_no_edit(made: Made, edit: str) -> None:
    """Even with all that follows from it."""
    name, change = {**COMPARED_EDITS, **SIBLINGS}[edit]
    assert made.findings(name, made.report(name)) == []
    assert made.findings(name, made.rewritten(name, change))


@pytest.mark.parametrize("change", ["key", "no_risk"])
def test_a_risk_is_measured_where_the_report_has_none(made: Made, change: str) -> None:
    """A run with a seed or without a risk is none that met one in its settings."""
    name = {"key": "seeded-risk.jsonl", "no_risk": "risk.jsonl"}[change]

    def edit(report: Plain) -> None:
        report["run"]["settings"]["budget"]["risk"] = 0.2
        if change == "no_risk":
            report["words"]["no_risk"] = "switched off"

    found = made.findings(name, made.rewritten(name, edit))
    assert any("do not match" in each.message for each in found), found


def test_a_risk_that_holds_is_accepted(made: Made) -> None:
    """Of a seeded run, too, under a policy that asks nothing else of it."""
    for name in ("risk.jsonl", "seeded-risk.jsonl"):
        found = made.findings(name, made.report(name))
        assert {each.rule for each in found} <= {Rule.POLICY}
