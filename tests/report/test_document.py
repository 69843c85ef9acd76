"""A report is one document: it follows its schema and survives being written."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.console import Console

import dptext.report
from dptext import pipeline, profile
from dptext.engine import documents
from dptext.engine.job import Job, Written
from dptext.engine.tally import Tally
from dptext.errors import UsageError
from dptext.measures.public import NoRisk, PublicMeasures
from dptext.randomness import RunKey
from dptext.report import document, terminal, views
from dptext.run.selection import Selection
from tests import small
from tests.cli.running import here, lexicon
from tests.report.pages import RECIPES, internal_report

SCHEMA = Path(dptext.report.__file__).with_name("schema.json")


def test_committed_schema_is_the_schema() -> None:
    """The schema that ships is the one that the classes give.

    In which order a version of msgspec writes its keys does not matter.
    """
    assert json.loads(SCHEMA.read_text()) == json.loads(json.dumps(document.schema()))


def test_schema_is_a_schema() -> None:
    """The committed schema is itself valid."""
    jsonschema.Draft202012Validator.check_schema(document.schema())


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("text", ["a0x b1x, zzz 12 c2x.\n", "", "!\n"])
def test_reports_follow_the_schema_and_survive(
    name: str, text: str, tmp_path: Path
) -> None:
    """Internal and public reports of real runs are valid and read back as written."""
    internal = internal_report(name, tmp_path, text)
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_bytes()))
    for each in (internal, document.public(internal)):
        data = document.encode(each)
        validator.validate(json.loads(data))
        again = document.decode(data, "test")
        assert document.encode(again) == data
        assert json.loads(data)["private"] == (
            None if each.audience == "public" else json.loads(data)["private"]
        )


@pytest.mark.parametrize("name", RECIPES)
def test_public_report_does_not_depend_on_the_text(name: str, tmp_path: Path) -> None:
    """Two inputs of different words give one public report, except for the output."""
    reports = []
    for number, text in enumerate(("a0x b1x, zzz 12 c2x.\n", "zzz zzz\n\nd3x 5\n")):
        folder = tmp_path / str(number)
        folder.mkdir()
        public = document.public(internal_report(name, folder, text))
        data = json.loads(document.encode(public))
        data.pop("output")
        reports.append(data)
    assert reports[0] == reports[1]
    assert reports[0]["private"] is None


def test_report_of_several_outputs_names_none(tmp_path: Path) -> None:
    """A report over several outputs has no single digest to name."""
    ready = pipeline.build(
        profile.parse(
            {
                "mechanism": {"name": "rank", "k": 8},
                "budget": {"name": "uniform", "epsilon": 2},
            },
            "test.yaml",
        ),
        small.cloud(20, 4),
    )
    job = Job(("a.txt", "b.jsonl"), None, Selection())
    written = [Written(name, 1, "0" * 64) for name in ("text", "jsonl")]
    report = documents.released(
        ready,
        job,
        RunKey.fresh(),
        written,
        PublicMeasures.measure(ready, with_risk=False),
    )
    assert report.output is None
    assert report.words is not None
    assert report.words.risk is None
    assert 'All fields other than "text"' in " ".join(
        report.guarantee.scope.not_covered
    )
    counted = documents.counted(report, ready, Tally.begin(ready.lexicon))
    assert counted.words is not None
    assert counted.words.deniability is not None
    assert document.public(counted) == document.public(report), "counts are private"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"\xff\xfe",
        b"null",
        b"{}",
        b'{"report": "zqxjkmarker7"}',
    ],
)
def test_what_is_no_report_is_refused_without_quoting_it(data: bytes) -> None:
    """Anything else than a report is one line of usage error that quotes nothing."""
    with pytest.raises(UsageError) as caught:
        document.decode(data, "file")
    assert str(caught.value).startswith("file: not")
    assert not str(caught.value).count("`")
    assert "zqxjkmarker7" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_wrong_value_is_named_by_its_place(tmp_path: Path) -> None:
    """A changed report says where it is wrong, not what stands there."""
    data = json.loads(document.encode(internal_report("rank", tmp_path)))
    data["run"]["key"] = "zqxjkmarker7"
    with pytest.raises(UsageError, match=r"\$\.run\.key") as caught:
        document.decode(json.dumps(data).encode(), "file")
    assert "zqxjkmarker7" not in str(caught.value)


@pytest.mark.parametrize("name", RECIPES)
def test_panel_shows_what_matters(name: str, tmp_path: Path) -> None:
    """The panel has the sentence, its limits, its conditions and the key's origin."""
    console = Console(record=True, width=100, file=open(tmp_path / "out", "w"))
    internal = internal_report(name, tmp_path)
    terminal.show([views.report(internal)], console)
    shown = " ".join(console.export_text().split())
    assert " ".join(internal.guarantee.wording.sentence.split()) in shown
    for line in (
        *internal.guarantee.scope.not_covered,
        *internal.guarantee.scope.conditions,
    ):
        assert " ".join(line.split()) in shown
    assert "drawn by the operating system for this run" in shown
    console.file.close()


def test_panel_takes_names_as_they_are(tmp_path: Path) -> None:
    """Brackets in a profile's or lexicon's name are no markup."""
    internal = internal_report("rank", tmp_path)
    odd = json.loads(document.encode(internal))
    odd["run"]["profile"] = "[/nonsense] [red]"
    odd["run"]["lexicon"] = "[/nonsense]"
    odd["private"]["words"]["metrics"] = {"[/x]": {}}
    odd["private"]["words"]["treatment"] = {}
    odd["private"]["words"]["epsilon_per_text"] = {"max": 1.0}
    console = Console(record=True, width=100, file=open(tmp_path / "out", "w"))
    page = views.report(document.decode(json.dumps(odd).encode(), "odd"))
    terminal.show([page], console)
    assert "[/nonsense] [red]" in console.export_text()
    console.file.close()


def test_losses_of_a_seeded_run_are_not_shown_as_bounds(tmp_path: Path) -> None:
    """Where there is no guarantee the panel prints no finite loss."""
    odd = json.loads(document.encode(internal_report("rank", tmp_path)))
    odd["guarantee"]["bound"]["notion"] = "none"
    odd["guarantee"]["strength"] = dict.fromkeys(("word", "text"), "no guarantee")
    console = Console(record=True, width=100, file=open(tmp_path / "out", "w"))
    page = views.report(document.decode(json.dumps(odd).encode(), "odd"))
    terminal.show([page], console)
    shown = console.export_text()
    assert "No guarantee" in shown
    assert "loss in nats, at most" not in shown
    console.file.close()


@pytest.mark.parametrize("version", [0, 2, 5, 99])
def test_a_report_of_another_version_is_refused_by_its_number(
    version: int, tmp_path: Path
) -> None:
    """The message names both versions and the remedy, for any other content."""
    data = json.loads(document.encode(internal_report("rank", tmp_path)))
    data["version"] = version
    data["guarantee"] = {"resolution": 1e-12}
    said = f"of version {version}, and this dptext reads version 1: make the file"
    with pytest.raises(UsageError, match=said) as caught:
        document.decode(json.dumps(data).encode(), "file")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("sections", [(False, False), (True, True)])
def test_a_document_has_one_section(
    sections: tuple[bool, bool], tmp_path: Path
) -> None:
    """One of words or one of vectors, never both and never none."""
    report = vectors(tmp_path)
    words = json.loads(
        document.encode(document.public(internal_report("rank", tmp_path)))
    )
    for name, part, wanted in zip(
        ("words", "vectors"), (words, report), sections, strict=True
    ):
        report[name] = part[name] if wanted else None
    with pytest.raises(UsageError, match=r"at \$\.words"):
        document.decode(json.dumps(report).encode(), "report")


def vectors(folder: Path, pool: str = "mean", suffix: str = "npy") -> dict[str, Any]:
    """Embed two texts and return the public report."""
    source, out = folder / "in.jsonl", folder / f"out.{suffix}"
    source.write_text('{"text":"the film was good","who":"a"}\n')
    words = ("--lexicon", lexicon(folder), "--epsilon", "2", "--pool", pool)
    ran = here("embed", "-f", "text", str(source), *words, "-q", "-o", str(out))
    assert ran.code == 0, ran.err
    report: dict[str, Any] = json.loads(
        (folder / f"{out.name}.dptext.json").read_bytes()
    )
    return report


@pytest.mark.parametrize(("pool", "suffix"), [("mean", "npy"), ("word", "npz")])
@pytest.mark.parametrize("settings", [{}, {"mechanism": None, "embed": 3}])
def test_reports_of_vectors_are_shown_whatever_their_settings(
    pool: str, suffix: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    """An edited report is shown; ids alone are unchanged, in all files but .npy."""
    plain = vectors(tmp_path, pool, suffix)
    plain["run"] |= {"settings": settings}
    plain["run"]["layout"] |= {"id_field": "who"}
    if suffix == "npz":
        plain["output"]["columns"].append("id")
    console = Console(record=True, width=100, file=io.StringIO())
    terminal.show(
        [views.report(document.decode(json.dumps(plain).encode(), "x"))], console
    )
    shown = " ".join(console.export_text().split())
    assert f"unchanged {'who' if suffix == 'npz' else 'no other column'}." in shown
    assert "Mechanism not stated" in shown
    assert ("any two texts" in shown) == (pool == "mean")


def test_a_report_says_why_there_is_no_risk(tmp_path: Path) -> None:
    """The reason is a field: the note beside it decides nothing."""
    words = internal_report("rank", tmp_path).words
    assert words is not None
    assert words.no_risk is None
    text = internal_report("tem-text", tmp_path)
    assert text.words is not None
    assert text.words.no_risk is NoRisk.VARYING_EPSILON
    assert json.loads(document.encode(text))["words"]["no_risk"] == "varying epsilon"
    # The words of one text have one epsilon: it differs from text to text.
    assert text.words.risk_note == "not measured: words may have different epsilons"
