"""Reports of older versions are read, shown and judged as they were.

samples/ holds exports with their reports and internal reports, as the last dptext of
each version wrote them with the lexicon words.vec.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from rich.console import Console

from dptext import __version__
from dptext.errors import UsageError
from dptext.guarantees import policy
from dptext.lexicons import find
from dptext.report import document, exports, terminal, verify, views
from dptext.report.exports import SIDECAR
from dptext.report.recompute import Recomputer
from dptext.report.verify import Rule
from tests.cli.running import here

SAMPLES = Path(__file__).parent / "samples"
EXPORTS = sorted(
    path for path in SAMPLES.glob("*/*") if path.with_name(path.name + SIDECAR).exists()
)
REPORTS = sorted(SAMPLES.glob("*/*.json"))
INTERNAL = [path for path in REPORTS if ".internal." in path.name]
POLICY = policy.parse(
    {
        "notion": ["LDP", "metric-DP", "eps-delta"],
        "unverified": ["version"],
        "allow": ["punctuation", "stop_word", "number", {"identifying": "id"}],
    },
    "test",
)
# Of each kind figures, settings and names of copied fields, and another value.
EDITS: dict[str, list[tuple[str, Any]]] = {
    "words-3": [
        ("guarantee.epsilon", 0.1),
        ("run.vocabulary", 7),
        ("run.settings.mechanism.name", "tem"),
        ("output.copied", []),
        ("risk_note", 1),
        ("words", None),
        ("output.rows", 1),
        ("run.more", 1),
    ],
    "vectors-1": [
        ("guarantee.epsilon", 0.1),
        ("run.step", 0.5),
        ("run.table_digest", "0" * 64),
        ("measures.ruler.nearest", 0.01),
        ("output.rows", 99),
        ("output.copied", []),
        ("run.profile", "embed"),
        ("success", True),
    ],
    "words-4": [
        ("guarantee.epsilon", 0.1),
        ("guarantee.loss.farthest", 0.1),
        ("run.settings.mechanism.name", "santext"),
        ("output.copied", []),
        ("words.vocabulary", 7),
        ("words.readers", []),
        ("words.in_context", None),
        ("vectors", 1),
        ("run.more", 1),
    ],
    "vectors-4": [
        ("guarantee.epsilon", 0.1),
        ("vectors.step", 0.5),
        ("vectors.table_digest", "0" * 64),
        ("vectors.measures.ruler.nearest", 0.01),
        ("output.rows", 99),
        ("output.copied", []),
        ("words", {}),
    ],
}


def named(path: Path) -> str:
    """Name a sample."""
    return f"{path.parent.name}/{path.name}"


def judged(path: Path, report: bytes) -> verify.Verdict:
    """Judge a sample by a report."""
    export = exports.on_disk(path)
    export = exports.Export(
        export.name, export.sha256, export.size, report, export.open
    )
    recomputer = Recomputer([find(str(SAMPLES / "words.vec"))])
    return verify.verdict(export, POLICY, recomputer)


@pytest.mark.parametrize("path", REPORTS, ids=named)
def test_an_older_report_is_read_and_shown(path: Path, tmp_path: Path) -> None:
    """It becomes a document of this version that follows its schema."""
    report = document.decode(path.read_bytes(), "report")
    data = json.loads(document.encode(report))
    assert data["version"] == document.VERSION
    jsonschema.Draft202012Validator(document.schema()).validate(data)
    assert (report.words is None) == path.parent.name.startswith("vectors")
    ran = here("report", str(path))
    assert ran.code == 0, ran.err
    assert " ".join(report.guarantee.sentence.split()) in " ".join(
        ran.out.decode().replace("│", " ").split()
    )
    ran = here("report", str(path), "--html", str(tmp_path / "page.html"))
    assert ran.code == 0, ran.err


def figures(node: Any) -> list[Any]:
    """Return all numbers in a report, sorted."""
    if isinstance(node, dict):
        return sorted(
            value for k, v in node.items() if k != "version" for value in figures(v)
        )
    if isinstance(node, list):
        return sorted(value for each in node for value in figures(each))
    return [node] if isinstance(node, int | float) else []


@pytest.mark.parametrize("path", REPORTS, ids=named)
def test_no_figure_is_lost(path: Path) -> None:
    """An upgrade moves figures and adds success; of readers the strongest stay."""
    before = json.loads(path.read_bytes())
    after = json.loads(msgspec.json.encode(document.decode(path.read_bytes(), "r")))
    added = [True] * (before["report"] == "dptext-embed")
    added += [False] * ("detected" not in before["run"]["layout"])
    readers = (after["words"] or {}).pop("readers", [])
    measured = (before.get("words") or before).pop("in_context", [])
    assert figures(after) == sorted(figures(before) + added)
    best = [
        max(round(each["classes"][0]["success"], 4) for each in corpus["readings"])
        for corpus in measured
    ]
    assert [each["success"] for each in readers] == sorted(best, reverse=True)


@pytest.mark.parametrize("path", EXPORTS, ids=named)
def test_an_older_report_is_judged(path: Path) -> None:
    """It passes as it is, and no longer where a figure was edited."""
    side = path.with_name(path.name + SIDECAR).read_bytes()
    assert judged(path, side).findings == ()
    for field, value in EDITS[path.parent.name]:
        report = json.loads(side)
        *way, last = field.split(".")
        inner = report
        for name in way:
            inner = inner[name]
        if last in inner and inner[last] is None:
            continue  # neither a copied field nor a risk is named
        inner[last] = value
        findings = judged(path, json.dumps(report).encode()).findings
        assert findings, field
        assert {each.rule for each in findings} <= {Rule.CHANGED, Rule.INVALID}


@pytest.mark.parametrize("path", INTERNAL, ids=named)
def test_an_older_internal_report_is_not_released(path: Path) -> None:
    """Upgraded or not, what holds figures of private text does not pass."""
    name = path.name.partition(".")[0]
    (export,) = (
        each
        for each in EXPORTS
        if each.parent == path.parent and each.name.startswith(f"{name}.")
    )
    findings = judged(export, path.read_bytes()).findings
    assert any("internal" in each.message for each in findings)


def test_sentences_of_an_older_version_may_differ() -> None:
    """That is a gap, which a policy accepts or not, where no figure does."""
    path = SAMPLES / "words-3" / "rank.jsonl"
    report = json.loads(path.with_name(path.name + SIDECAR).read_bytes())
    report["guarantee"]["sentence"] = "Nothing of the sort."
    verdict = judged(path, json.dumps(report).encode())
    assert verdict.findings == ()
    assert any("another version" in note for note in verdict.notes)


def test_a_report_of_another_version_may_lack_a_figure() -> None:
    """One that a later version added; in a report of this version it is missing."""
    path = SAMPLES / "words-4" / "rank.jsonl"
    older = document.decode(path.with_name(path.name + SIDECAR).read_bytes(), "report")
    report = json.loads(document.encode(document.public(older)))
    assert report["words"].pop("deniability")
    for version, passes in (("0.0.9", True), (__version__, False)):
        report["run"]["dptext"] = version
        findings = judged(path, json.dumps(report).encode()).findings
        assert (findings == ()) == passes


@pytest.mark.parametrize("name", ["worst_loss", "numerical_slack"])
def test_a_guarantee_of_another_version_is_whole(name: str) -> None:
    """A figure that is taken out of it does not follow from the settings."""
    path = SAMPLES / "words-4" / "rank.jsonl"
    older = document.decode(path.with_name(path.name + SIDECAR).read_bytes(), "report")
    report = json.loads(document.encode(document.public(older)))
    report["run"]["dptext"] = "0.0.9"
    assert report["guarantee"][name] is not None
    report["guarantee"][name] = None
    messages = [
        each.message for each in judged(path, json.dumps(report).encode()).findings
    ]
    assert any(f"guarantee.{name} does not follow" in each for each in messages)


def test_a_report_of_another_version_names_the_same_files(tmp_path: Path) -> None:
    """Names of files, as of the decoder's model, may not be missing."""
    source, out = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("The film was good.\n")
    assert here("sanitize", str(source), "-o", str(out), "-q").code == 0
    side = exports.beside(out)
    report = json.loads(side.read_bytes())
    report["run"]["dptext"] = "0.0.9"
    side.write_text(json.dumps(report))
    assert here("check", str(out)).code == 0
    report["words"]["decoder_files"] = {}
    side.write_text(json.dumps(report))
    assert b"words.decoder_files" in here("check", str(out)).out


@pytest.mark.parametrize("sections", [(False, False), (True, True)])
def test_a_document_has_one_section(sections: tuple[bool, bool]) -> None:
    """One of words or one of vectors, never both and never none."""
    paths = "words-3/rank.jsonl", "vectors-1/mean.npy"
    reports = [
        json.loads(
            document.encode(
                document.decode((SAMPLES / f"{path}{SIDECAR}").read_bytes(), "report")
            )
        )
        for path in paths
    ]
    for name, report, wanted in zip(
        ("words", "vectors"), reports, sections, strict=True
    ):
        reports[0][name] = report[name] if wanted else None
    with pytest.raises(UsageError, match=r"at \$\.words"):
        document.decode(json.dumps(reports[0]).encode(), "report")


@pytest.mark.parametrize("change", ["more", "other", "shorter"])
def test_what_was_not_written_is_found(change: str) -> None:
    """Only keys may be absent: no value may differ, and no list be shorter."""
    data = (SAMPLES / "words-3" / "early.dptext.json").read_bytes()
    again = document.decode(data, "report")
    report, older = document.plain_of(data)
    assert older
    assert verify.written(report, again)
    if change == "more":
        report["run"]["more"] = 1
    elif change == "other":
        report["run"]["profile"] = "other"
    else:
        report["guarantee"]["not_covered"].pop()
    assert not verify.written(report, again)


@pytest.mark.parametrize("name", ["mean.npy", "word.npz"])
@pytest.mark.parametrize("settings", [{}, {"mechanism": None, "embed": 3}])
def test_reports_of_vectors_are_shown_whatever_their_settings(
    name: str, settings: dict[str, Any]
) -> None:
    """An edited report is shown; ids alone are copied, into all files but .npy."""
    plain = json.loads((SAMPLES / "vectors-4" / (name + SIDECAR)).read_bytes())
    plain["run"] |= {"settings": settings}
    plain["run"]["layout"] |= {"id_field": "who"}
    console = Console(record=True, width=100, file=io.StringIO())
    read = document.decode(json.dumps(plain).encode(), "x")
    terminal.show([views.report(read)], console)
    shown = " ".join(console.export_text().split())
    ids = "id" in plain["output"]["columns"]
    assert f"copied {'who' if ids else 'no other field'} " in shown
    assert "Mechanism not stated" in shown
    of_text = plain["guarantee"]["level"] == "text"
    assert ("any two texts" in shown) == of_text
    assert "the line 'kept'" not in shown
