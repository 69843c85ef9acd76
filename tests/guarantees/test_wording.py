"""A sentence is a rendering: rewording it changes no figure, verdict or colour."""

from __future__ import annotations

import ast
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dptext
from dptext.checking import verify
from dptext.checking.policy import ExportPolicy
from dptext.checking.recompute import known_risk
from dptext.guarantees import sentences, templates
from dptext.guarantees.claims import Strengths, Unprotected
from dptext.guarantees.statement import Statement, Wording
from dptext.report import protection
from dptext.report.blocks import Badge
from dptext.report.document import Document
from dptext.types import ONE, Guarantee, Metric, MetricKind, Notion
from tests.guarantees import test_sentences
from tests.report.pages import internal_report

POLICIES = (
    ExportPolicy(),
    ExportPolicy(notion=("LDP",), max_epsilon=4.0),
    ExportPolicy(
        notion=("metric-DP",), max_loss=20.0, allow=(Unprotected.EQUAL_WORDS,)
    ),
)
# All that people read and nothing decides by.
LISTS = ("adjacency", "covered", "conditions", "not_covered")
SHOWN = {
    "sentence",
    "text_level",
    "translation",
    "form_layouts",
    "risk_note",
    "reason",
    *LISTS,
}


def plain(said: Statement) -> Statement:
    """Return a statement without its prose."""
    metric = replace(said.bound.metric, name="x")
    without: dict[str, Any] = dict.fromkeys(LISTS, ())
    wording = Wording(sentence="x", text_level="x", decoding=said.wording.decoding)
    return replace(
        said,
        bound=replace(said.bound, metric=metric, unit="x"),
        scope=replace(said.scope, **without),
        wording=wording,
    )


def verdicts(said: Statement) -> tuple[Strengths, Badge]:
    """Return what a statement is worth, and the badge that shows it."""
    return said.strength, protection.badge(said)


def reword(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every sentence of a statement "x"."""

    def reworded(table: dict[str, Any]) -> None:
        for key, value in table.items():
            if isinstance(value, dict):
                reworded(value)
            else:
                monkeypatch.setitem(table, key, "x")

    reworded(templates.TEMPLATES)
    monkeypatch.setitem(templates.TEMPLATES, "origin", {})
    monkeypatch.setattr(sentences, "_how_long", lambda *_: "")


def test_rewording_changes_no_figure_and_no_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With "x" for every sentence all figures, strengths and colours stay."""
    before = [(plain(said), verdicts(said)) for said in test_sentences.every()]
    reword(monkeypatch)
    after = list(test_sentences.every())
    assert {said.wording.sentence for said in after} == {"x"}
    assert [(plain(said), verdicts(said)) for said in after] == before
    assert len({str(judged) for _, judged in before}) > 10


def test_what_check_finds_does_not_follow_from_prose(tmp_path: Path) -> None:
    """Policies and contradictions are judged by the fields of a report."""
    document = internal_report("rank", tmp_path)
    assert document.words is not None
    silent = replace(document.words, risk_note="x")
    for said in itertools.islice(test_sentences.every(), 0, None, 7):
        for policy in POLICIES:
            full = replace(document, guarantee=said)
            bare = replace(document, guarantee=plain(said), words=silent)
            assert judged(full, policy) == judged(bare, policy)


def judged(document: Document, policy: ExportPolicy) -> list[str]:
    """Return what a report lacks by a policy, and its contradictions."""
    return [
        *verify._terms(document, known_risk(document), policy),
        *verify._parts(document, policy),
        *verify._contradictions(document),
    ]


def test_each_notion_and_level_has_its_templates() -> None:
    """A template for a kind of budget stands beside the general one, never alone."""
    for name in ("sentence", "text"):
        keys = {tuple(key.split()) for key in templates.TEMPLATES[name]} - {("none",)}
        general = {key for key in keys if len(key) == 2}
        assert {key[:2] for key in keys} == general
        assert len(general) == 7


def test_no_module_decides_by_prose() -> None:
    """Nothing compares, searches or matches what people read."""
    for path in sorted(Path(dptext.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            parts: list[ast.AST] = []
            if isinstance(node, ast.Compare):
                parts = [node.left, *node.comparators]
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in ("startswith", "endswith", "find", "index"):
                    parts = [node.func.value]
                if ast.unparse(node.func.value) == "re":
                    parts = list(node.args)
            names = {each.attr for each in parts if isinstance(each, ast.Attribute)}
            assert not names & SHOWN, f"{path}:{getattr(node, 'lineno', 0)}"


def test_a_metric_is_the_same_whatever_it_is_called() -> None:
    """A metric has an identity; a cut, a space or another kind makes another one."""
    space = Metric(MetricKind.EUCLIDEAN, "Euclidean distance", "identity")
    assert replace(space, name="x") == space
    others = (
        replace(space, identity="unit"),
        replace(space, cut=2.0),
        replace(space, kind=MetricKind.MAHALANOBIS),
        ONE,
    )
    promise = Guarantee(Notion.METRIC, space, "1/distance", 3.0, "test")
    assert promise.counts(replace(space, name="x"))
    for other in others:
        assert other != space
        assert not promise.counts(other)
    # A cut that follows from epsilon is no plain distance either.
    assert not replace(promise, max_loss=5.0).counts(space)


def test_other_packages_may_write_a_notion_as_text() -> None:
    """An unknown notion is refused when the guarantee is built."""
    promise = Guarantee("none", ONE, "nats", 1.0, "test")  # type: ignore[arg-type]
    assert promise.notion is Notion.NONE
    with pytest.raises(ValueError, match="LPD"):
        Guarantee("LPD", ONE, "nats", 1.0, "test")  # type: ignore[arg-type]
    assert f"{Notion.METRIC} {Notion.LDP}" == "metric-DP LDP"
