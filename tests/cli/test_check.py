"""`dptext check`: an export passes only with a valid public report within policy."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dptext.cli import check
from tests.cli.running import BALANCED, MARKER, Ran, here, small, write_policy

TRUSTED = f"dptext: {check.TRUST}\n"
Change = Callable[[dict[str, Any]], None]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, without a policy file of others."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """Sanitize one record; return the output and its report."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("written"))
        export = _export(small(tmp_path_factory.getbasetemp()))
        return export.read_bytes(), _side(export).read_bytes()


@pytest.fixture
def export(written: tuple[bytes, bytes], folder: Path) -> Path:
    """Put that output and its report into the folder."""
    export = Path("out.jsonl")
    export.write_bytes(written[0])
    _side(export).write_bytes(written[1])
    return export


def _export(options: tuple[str, ...], *more: str) -> Path:
    Path("in.jsonl").write_text('{"text":"the film was good"}\n')
    ran = here(
        "sanitize", "-f", "text", "in.jsonl", *options, "-o", "out.jsonl", "-q", *more
    )
    assert ran.code == 0, ran.err
    return Path("out.jsonl")


def _side(export: Path) -> Path:
    return export.with_name(export.name + ".dptext.json")


def _change(export: Path, change: Change, digest: bool = False) -> None:
    """Change the sidecar by hand; with digest, adapt the digest of the settings."""
    data = json.loads(_side(export).read_bytes())
    change(data)
    if digest:
        settings = msgspec.json.encode(data["run"]["settings"], order="deterministic")
        data["run"]["settings_digest"] = hashlib.sha256(settings).hexdigest()
    _side(export).write_text(json.dumps(data))


def _fails(ran: Ran, *said: str, lines: int = 1) -> None:
    assert ran.code == 1
    assert ran.err == TRUSTED
    out = ran.out.decode()
    assert out.count("\n") == lines, out
    assert all(line.startswith("out.jsonl: ") for line in out.splitlines())
    assert MARKER not in out
    for part in said:
        assert part in out


def _passes(ran: Ran) -> None:
    assert (ran.code, ran.out) == (0, b"")
    assert ran.err in ("", TRUSTED)


def test_covered_export_passes(export: Path) -> None:
    """A fresh export passes, and its sidecar is passed over."""
    _passes(here("check", str(export)))
    _passes(here("check", str(export), str(_side(export))))
    ran = here("check", str(_side(export)))
    assert (ran.code, ran.out, ran.err) == (0, b"", "")


def test_no_name_is_a_mistake(tmp_path: Path) -> None:
    """A variable that is not set must not pass in a pipeline; an empty folder may."""
    for more in ((), ("-q",), ("--format", "json"), ("--set", "max_risk=20%")):
        ran = here("check", *more)
        assert (ran.code, ran.out) == (2, b"")
        assert ran.err.startswith("dptext: nothing to check: name exports or folders")
    empty = here("check", str(tmp_path))
    assert (empty.code, empty.out) == (0, b"")
    assert "no exports in this folder" in empty.err


def test_missing_sidecar(export: Path) -> None:
    """Without its sidecar an export fails."""
    _side(export).unlink()
    _fails(here("check", str(export)), "no public report", "out.jsonl.dptext.json")
    ran = here("check", str(export), "-q")
    assert (ran.code, ran.out, ran.err) == (1, b"", "")


def test_edited_export(export: Path) -> None:
    """An export that was changed after its report was written fails."""
    export.write_text(f'{{"text":"{MARKER}"}}\n')
    _fails(here("check", str(export)), "digests differ", " with the same settings")


def test_advice_names_the_key_and_the_id_of_the_run(
    options: tuple[str, ...], key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another key or id would give a second version of each text."""
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text('{"id":"a","text":"the film was good"}\n')
    run = ("sanitize", "-f", "text", "in.jsonl", *options, "-o", "out.jsonl", "-q")
    for more, same in (
        (("--key-file", key), "the key and settings"),
        (("--key-file", key, "--id", "id"), "the key, id and settings"),
    ):
        assert here(*run, *more).code == 0
        Path("out.jsonl").write_text(f'{{"text":"{MARKER}"}}\n')
        _fails(here("check", "out.jsonl"), f"original with the same {same[4:]}: dptext")


def test_missing_and_unreadable_exports(export: Path) -> None:
    """A file that cannot be read is a finding, and others are still looked at."""
    Path("file").touch()
    export.unlink()
    ran = here("check", "no.jsonl", "file/x.jsonl", "out.jsonl")
    assert ran.code == 1
    assert [line.partition(":")[0] for line in ran.out.decode().splitlines()] == [
        "no.jsonl",
        "file/x.jsonl",
        "out.jsonl",
    ]


@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", MARKER.encode(), b"[" * 99_999])
def test_sidecar_that_is_no_report(export: Path, data: bytes) -> None:
    """A sidecar that is no report fails without being quoted."""
    _side(export).write_bytes(data)
    _fails(here("check", str(export)), "out.jsonl.dptext.json: not")


def test_internal_report_beside_an_export(
    options: tuple[str, ...], folder: Path
) -> None:
    """The internal report must not lie beside an export."""
    export = _export(options, "--report", "internal.json")
    Path("internal.json").replace(_side(export))
    _fails(here("check", str(export)), "internal report, which must not be released")


def _put(path: str, value: Any) -> Change:
    """Return what sets one field of a report: "guarantee.bound.epsilon"."""

    def change(data: dict[str, Any]) -> None:
        *outer, last = path.split(".")
        inner: Any = data
        for name in outer:
            inner = inner[int(name)] if isinstance(inner, list) else inner[name]
        inner[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("success", False, "did not succeed"),
        ("run.settings_digest", "0" * 64, "settings do not match their digest"),
        ("output", None, "digests differ"),
        ("output.bytes", 1, "a different size"),
        ("output.file", MARKER, "another name"),
        ("note", MARKER, "unknown keys"),
        ("guarantee.note", MARKER, "unknown keys"),
        ("guarantee.bound.worst_loss", None, "unknown keys"),
        ("guarantee.scope.adjacency", [], "unknown keys"),
        ("guarantee.scope.conditions", [], "unknown keys"),
        ("words.risk.bands", [], "unknown keys"),
        ("words.deniability", None, "unknown keys"),
        ("guarantee.wording.form_layouts", [], "unknown keys"),
        ("run.key", MARKER, "$.run.key"),
        ("version", 5, "a dptext report of version 5, and this dptext reads version 1"),
        ("version", "3", "$.version"),
        ("version", -1, "$.version"),
        ("version", 10**400, "$.version"),
        ("words.risk.success", -1.0, "$.words.risk.success"),
        ("words.risk.success", 1.5, "$.words.risk.success"),
        ("words.risk.low", "0.1", "$.words.risk.low"),
        ("guarantee.bound.epsilon", -3.0, "$.guarantee.bound.epsilon"),
        ("guarantee.bound.epsilon", True, "$.guarantee.bound.epsilon"),
        ("guarantee.bound.worst_loss", -1, "$.guarantee.bound.worst_loss"),
        ("guarantee.bound.notion", MARKER, "$.guarantee.bound.notion"),
        ("guarantee.bound.delta", 2.0, "$.guarantee.bound.delta"),
        ("run.layout.format", "text", "format does not support its fields"),
        ("run.layout.fields", None, "does not follow from the settings"),
        ("run.layout.format", None, "format does not support its fields"),
        ("run.layout.format", MARKER, "the format named in it"),
        ("output.bytes", -1, "$.output.bytes"),
    ],
)
def test_report_that_cannot_be_of_this_file(
    export: Path, path: str, value: Any, said: str
) -> None:
    """A report of another file, or no report at all, fails without being quoted."""
    _change(export, _put(path, value))
    _fails(here("check", str(export)), said)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("guarantee.bound.notion", "none"),
        ("guarantee.bound.notion", "metric-DP"),
        ("guarantee.bound.epsilon", 1.0),
        ("guarantee.bound.epsilon", 2.9999),
        ("guarantee.bound.delta", 0.1),
        ("guarantee.bound.level", "text"),
        ("guarantee.wording.sentence", MARKER),
        ("guarantee.bound.loss.median", 1.0),
        ("guarantee.bound.worst_loss", 1.0),
        ("guarantee.scope.covered", ["all words"]),
        ("guarantee.wording.text_level", ""),
        ("guarantee.scope.not_covered", []),
        ("guarantee.scope.not_covered", [MARKER]),
        ("guarantee.wording.source", MARKER),
        ("guarantee.scope.numerical_slack", None),
        ("guarantee.scope.strategy", "record"),
        ("words.risk.success", 0.01),
        ("words.risk.baseline", 0.01),
        ("words.risk", None),
        ("words.risk_note", MARKER),
        ("guarantee.wording.form_layouts", [MARKER]),
        ("run.key", "seed"),
        ("run.key", "key-file"),
        ("run.algorithm", MARKER),
        ("words.vocabulary", 45000),
        ("words.prior", MARKER),
        ("run.layout.fields", ["title"]),
        ("run.layout.id_field", "id"),
    ],
)
def test_report_that_does_not_follow_from_its_settings(
    export: Path, path: str, value: Any
) -> None:
    """Each field is computed anew: an edited one fails in one line, unquoted."""
    _change(export, _put(path, value))
    _fails(here("check", str(export)), "does not follow from the settings")


def test_notion_of_a_mechanism_that_has_none(
    options: tuple[str, ...], folder: Path
) -> None:
    """A mechanism that promises nothing cannot be given a guarantee by hand."""
    export = _export(options[:4], "--mechanism", "vickrey")
    _fails(here("check", str(export)), "guarantee is none")
    _change(export, _put("guarantee.bound.notion", "LDP"))
    _fails(here("check", str(export)), "guarantee.bound.notion", "they give none")


def test_risk_that_was_asked_for(options: tuple[str, ...], folder: Path) -> None:
    """A report passes with the risk that chose its epsilon, not with another one."""
    export = _export(options[:2], "--risk", "40%", "--set", "mechanism.k=8")
    _passes(here("check", str(export)))
    _change(export, _put("run.settings.budget.risk", 0.1), digest=True)
    _fails(here("check", str(export)), "do not match")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("run.settings", {"budget": 3, "tokens": [MARKER]}),
        ("run.settings.mechanism", {"name": "rank", "k": MARKER}),
        ("run.settings.mechanism.name", ["rank"]),
        ("run.settings.strategy", {}),
        ("run.settings.tokens", {}),
        ("run.settings.budget.epsilon", 1.0),
        ("run.settings.budget.epsilon", -1.0),
        ("run.settings.budget.epsilon", 1e300),
        ("run.settings.more", MARKER),
    ],
)
def test_settings_changed_with_their_digest(
    export: Path, path: str, value: Any
) -> None:
    """Odd settings under a right digest end in a finding, not in a crash."""
    _change(export, _put(path, value), digest=True)
    _fails(here("check", str(export)))


def test_copied_fields_that_the_file_does_not_have(
    options: tuple[str, ...], folder: Path
) -> None:
    """A report of a table names its copied columns, and those only."""
    Path("in.csv").write_text("id,text,stars\n1,the film was good,5\n")
    assert (
        here("sanitize", "-f", "text", "in.csv", *options, "-o", "out.csv", "-q").code
        == 0
    )
    export = Path("out.csv")
    output = json.loads(_side(export).read_bytes())["output"]
    assert output["copied"] == ["id", "stars"]
    _passes(here("check", "out.csv"))
    _change(export, _put("output.copied", ["id"]))
    ran = here("check", "out.csv")
    assert ran.code == 1
    assert b"its unchanged fields differ from the file's" in ran.out


def test_key_that_stands_twice(export: Path) -> None:
    """A key given twice fails: readers differ in which of the two they take."""
    text = _side(export).read_text()
    double = text.replace('"notion": "LDP"', '"notion": "none", "notion": "LDP"')
    assert double != text
    _side(export).write_text(double)
    _fails(here("check", str(export)), "a duplicate key")


@pytest.mark.parametrize("number", ["NaN", "1e999", "-1e-3", "null"])
def test_numbers_that_are_none(export: Path, number: str) -> None:
    """Numbers that cannot be are refused wherever the report needs one."""
    text = _side(export).read_text()
    _side(export).write_text(text.replace('"epsilon": 3.0', f'"epsilon": {number}'))
    _fails(here("check", str(export)))


@pytest.mark.parametrize(
    "settings",
    [
        ("--mechanism", "santext", "--epsilon", "2"),
        (
            "--mechanism",
            "tem",
            "--set",
            "budget.name=per-text",
            "--set",
            "budget.epsilon=9",
        ),
        ("--mechanism", "laplace", "--epsilon", "9"),
        ("--mechanism", "vickrey", "--epsilon", "9"),
        ("--mechanism", "gaussian", "--epsilon", "2"),
        ("--set", "strategy=record"),
        ("--set", "budget={name: position, epsilons: [3], rest: 2}"),
        ("--set", "budget={name: linguistic, epsilon: 12}"),
        ("--set", "tokens.punctuation=drop", "--set", "tokens.number=digits"),
        ("--set", "space=unit"),
        ("--id", "n"),
        ("--no-bayes-risk",),
        ("--seed", "3"),
    ],
)
def test_fresh_reports_follow_from_their_settings(
    options: tuple[str, ...], folder: Path, settings: tuple[str, ...]
) -> None:
    """For any settings, the writer's report equals the checker's."""
    sets_budget = any(each.startswith(("--epsilon", "budget")) for each in settings)
    base = (*options[:2], *BALANCED) if sets_budget else options
    Path("in.jsonl").write_text('{"text":"the film was good","n":1}\n')
    run = (
        "sanitize",
        "-f",
        "text",
        "in.jsonl",
        *base,
        *settings,
        "-q",
        "-o",
        "out.jsonl",
    )
    ran = here(*run)
    assert ran.code == 0, ran.err
    out = here("check", "out.jsonl").out.decode()
    assert "report" not in out, out


def test_report_written_for_standard_output(
    options: tuple[str, ...], folder: Path
) -> None:
    """A report that names no file passes beside the file that it has the digest of."""
    given = b'{"text":"the film was good"}\n'
    run = (
        "sanitize",
        "-f",
        "text",
        *options,
        "-q",
        "--public-report",
        "out.jsonl.dptext.json",
    )
    Path("out.jsonl").write_bytes(here(*run, given=given).out)
    _passes(here("check", "out.jsonl"))


@pytest.fixture
def elsewhere(export: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Move to a machine without the lexicon of the export."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    return export


def test_lexicon_that_is_not_at_hand(elsewhere: Path, options: tuple[str, ...]) -> None:
    """Without its lexicon a report fails, unless one brings it or accepts that."""
    said = ("lexicon", "--lexicon", "unverified: [lexicon]")
    _fails(here("check", str(elsewhere)), *said)
    ran = here("check", str(elsewhere), "--set", "unverified=lexicon")
    assert (ran.code, ran.out) == (0, b"")
    assert "could not be recomputed" in ran.err
    write_policy("unverified: lexicon")
    assert here("check", str(elsewhere), "-q").err == ""
    Path(".dptext.yaml").unlink()
    _passes(here("check", str(elsewhere), "--lexicon", options[1]))


def test_terms_hold_without_the_lexicon(elsewhere: Path) -> None:
    """A report that is not recomputed is still held against the policy."""
    run = (
        "check",
        str(elsewhere),
        "--set",
        "unverified=lexicon",
        "--set",
        "max_epsilon=1",
    )
    ran = here(*run)
    assert ran.code == 1
    assert b"the policy allows 1" in ran.out


def test_imported_lexicon_is_found(
    elsewhere: Path, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lexicon that was imported under any name serves to recompute."""
    monkeypatch.setenv("DPTEXT_HOME", str(elsewhere.parent.absolute() / "store"))
    ran = here("lexicon", "import", options[1], "--name", "other")
    assert ran.code == 0, ran.err
    _passes(here("check", str(elsewhere)))


def test_report_of_another_version(export: Path) -> None:
    """Other words or figures are those of that version, which can verify them."""
    _change(export, _put("run.dptext", "0.0.9"))
    _passes(here("check", str(export)))
    _change(export, _put("guarantee.wording.sentence", "Said otherwise."))
    said = ("check with dptext==0.0.9", "guarantee.wording.sentence")
    _fails(here("check", str(export)), *said)
    assert here("check", str(export), "--set", "unverified=version").code == 1
    _change(export, _put("guarantee.bound.epsilon", 1.0))
    ran = here("check", str(export), "--set", "unverified=version")
    _fails(ran, "guarantee.bound.epsilon does not follow")


def test_component_that_is_not_installed(export: Path) -> None:
    """A mechanism that is not on the machine is named by its stage, not quoted."""
    _change(export, _put("run.settings.mechanism", {"name": MARKER}), digest=True)
    _fails(here("check", str(export)), "the mechanism", "unverified: [parts]")


def test_settings_are_made_ready_once(
    options: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many files with one recipe cost one recipe: the lexicon is opened once."""
    from dptext import lexicons

    opened = []
    real = lexicons.by_digest

    def count(digest: str) -> Any:
        opened.append(digest)
        return real(digest)

    names = []
    for number in range(3):
        names.append(f"{number}.jsonl")
        Path("in.jsonl").write_text('{"text":"the film was good"}\n')
        here("sanitize", "-f", "text", "in.jsonl", *options, "-o", names[-1], "-q")
    monkeypatch.setattr(lexicons, "by_digest", count)
    _passes(here("check", *names))
    assert len(opened) == 1


def test_seeded_export(options: tuple[str, ...], folder: Path) -> None:
    """A seeded export never passes: it has no guarantee."""
    export = _export(options, "--seed", "1")
    _fails(here("check", str(export)), "guarantee is none")


def test_notion(options: tuple[str, ...], folder: Path) -> None:
    """The accepted kinds of guarantee can be narrowed."""
    export = _export(options)
    _passes(here("check", str(export), "--set", "notion=LDP"))
    _fails(here("check", str(export), "--set", "notion=metric-DP"), "guarantee is LDP")
    export = _export(options[:4], "--mechanism", "santext")
    both = ("--set", "notion=[metric-DP, LDP]")
    _passes(here("check", str(export), *both, "--set", "max_loss=1e6"))
    _fails(here("check", str(export), "--set", "notion=LDP"), "guarantee is metric-DP")


def test_a_verdict_against_handing_on_fails(
    options: tuple[str, ...], folder: Path
) -> None:
    """Unless a policy sets limits of protection, which decide then."""
    export = _export(options[:2], *BALANCED, "--epsilon", "30")
    _fails(here("check", str(export)), "most words can be guessed")
    _passes(here("check", str(export), "--set", "max_epsilon=30"))
    _fails(here("check", str(export), "--set", "max_loss=29"), "worst loss is 30 nats")


def test_epsilon_and_loss(options: tuple[str, ...], folder: Path) -> None:
    """The largest epsilon and the largest loss are limits that may be reached."""
    export = _export(options)
    _passes(here("check", str(export), "--set", "max_epsilon=3", "--set", "max_loss=3"))
    _fails(
        here("check", str(export), "--set", "max_epsilon=2.9"),
        "epsilon between any two words is 3 nats",
    )
    _fails(here("check", str(export), "--set", "max_loss=2.9"), "worst loss is 3 nats")
    export = _export(options, "--seed", "1")
    ran = here("check", str(export), "--set", "max_loss=100")
    _fails(ran, "worst loss is not bounded", lines=2)


def test_risk(options: tuple[str, ...], folder: Path) -> None:
    """The largest risk is a limit, and a risk that was not measured fails."""
    export = _export(options)
    _passes(here("check", str(export), "--set", "max_risk=99%"))
    _fails(here("check", str(export), "--set", "max_risk=0.1%"), "risk is", "0.10%")
    export = _export(options, "--no-bayes-risk")
    _passes(here("check", str(export)))
    _fails(here("check", str(export), "--set", "max_risk=99%"), "not measured")


def test_written_words(folder: Path) -> None:
    """The largest share is a limit; settings that were not measured fail.

    It is the share of words as they leave, above the risk of a draw, and an edited one
    is found.
    """
    export = _export(BALANCED)
    _passes(here("check", str(export), "--set", "max_written=35%"))
    _fails(
        here("check", str(export), "--set", "max_written=21%", "--set", "max_risk=21%"),
        "share of written words that are the original is 2",
        "the policy allows 21.00%",
    )
    sidecar = Path(f"{export}.dptext.json")
    report = json.loads(sidecar.read_bytes())
    for row in report["words"]["written"]:
        row["success"] = 0.01
    sidecar.write_text(json.dumps(report))
    _fails(here("check", str(export)), "words.written does not follow from")
    other = _export(("--risk", "22%"))
    _fails(here("check", str(other), "--set", "max_written=99%"), "not measured")
    ran = here("check", str(other), "--set", "max_written=20")
    assert ran.code == 2
    assert "as in 20% or 0.2" in ran.err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("stop_word", "keep"),
        ("number", "mask"),
        ("number", "digits"),
        ("unknown", "mask"),
        ("unknown", "keep"),
        ("case", "copy"),
    ],
)
def test_classes(name: str, value: str, options: tuple[str, ...], folder: Path) -> None:
    """A class of token that is not protected fails unless it is allowed."""
    export = _export(options, "--set", f"tokens.{name}={value}")
    if (name, value) in (("number", "digits"), ("case", "copy")):
        _passes(here("check", str(export)))  # as the default profile shows them
    else:
        _fails(here("check", str(export)), f"the policy does not allow {name}")
    strict = ("check", str(export), "--set", "allow=[punctuation, forms]")
    _fails(here(*strict), f"the policy does not allow {name}")
    _passes(here("check", str(export), "--set", f"allow=[punctuation, forms, {name}]"))


@pytest.mark.parametrize("strategy", ["record", "data-set"])
def test_equal_words(strategy: str, options: tuple[str, ...], folder: Path) -> None:
    """Equal words shown as equal fail unless the policy allows that."""
    export = _export(options, "--set", f"strategy={strategy}")
    _fails(here("check", str(export)), "equal words are shown as equal")
    write_policy("allow: [punctuation, forms, equal-words]")
    _passes(here("check", str(export)))


def test_punctuation(options: tuple[str, ...], folder: Path) -> None:
    """Punctuation is allowed by default; where it is not, it has to be dropped."""
    export = _export(options)
    strict = ("check", str(export), "--set", "allow=[forms, case]")
    _fails(here(*strict), "punctuation is shown; the policy does not allow")
    _export(options, "--set", "tokens.punctuation=drop")
    _passes(here(*strict))


def test_several_reasons_are_several_lines(
    options: tuple[str, ...], folder: Path
) -> None:
    """Each reason has its own line with the file's name."""
    export = _export(
        options, "--set", "tokens.number=keep", "--set", "tokens.unknown=keep"
    )
    _fails(here("check", str(export), "--set", "max_epsilon=1"), lines=3)


def test_policy_file_is_found(export: Path) -> None:
    """.dptext.yaml where the command runs is the policy; options go before it."""
    write_policy("max_epsilon: 2\nmax_risk: 99%")
    _fails(here("check", str(export)), "epsilon")
    _passes(here("check", str(export), "--set", "max_epsilon=4"))
    Path("other.yaml").write_text(
        "check: {notion: [LDP], max_loss: 5, allow: [punctuation, forms]}\n"
    )
    _passes(here("check", str(export), "--policy", "other.yaml"))


def test_plain_words_are_lists_of_one(export: Path) -> None:
    """A key that takes a list takes a plain word as well."""
    write_policy("notion: LDP\nallow: [punctuation, forms]")
    _passes(here("check", str(export)))
    write_policy("notion: metric-DP")
    _fails(here("check", str(export)), "the policy requires metric-DP")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_risk: 20", "as in 20% or 0.2"),
        ("max_risk: 7.5", "as in 7.5% or 0.075"),
        ("max_risk: 120%", "as in 20% or 0.2"),
        ("max_epsilon: .nan", "nan is not a finite number"),
        ("max_epsilo: 3", "did you mean 'max_epsilon'?"),
        ("allow: stop_words", "'stop_words'; did you mean 'stop_word'?"),
        ("", "check: give keys and values"),
        ("- 1", "check: give keys and values"),
    ],
)
def test_policy_says_what_to_write(export: Path, text: str, said: str) -> None:
    """A limit switched off by mistake, or a typing error, gets a hint in the error."""
    write_policy(text)
    ran = here("check", str(export))
    assert (ran.code, ran.out) == (2, b"")
    assert said in ran.err


@pytest.mark.parametrize("value", ["20%", "0.2", '"0.2"'])
def test_share_in_a_policy(export: Path, value: str) -> None:
    """The risk of a policy is a share, in percent or not."""
    write_policy(f"max_risk: {value}")
    risk = json.loads(_side(export).read_bytes())["words"]["risk"]["success"]
    assert risk > 0.2
    _fails(here("check", str(export)), "the policy allows 20.00%")


def test_lexicons_of_the_policy(export: Path) -> None:
    """A policy may name the lexicons that it accepts by digest."""
    digest = json.loads(_side(export).read_bytes())["run"]["lexicon_digest"]
    write_policy(f'lexicons: ["{digest}"]\n')
    _passes(here("check", str(export)))
    write_policy('lexicons: ["0000"]\n')
    _fails(here("check", str(export)), "lexicon")


@pytest.mark.parametrize(
    "text",
    [
        "max_epsilo: 3",
        "max_epsilon: lots",
        "max_risk: high",
        "notion: [none]",
        "notion: LPD",
        "allow: [words]",
        "unverified: all",
        "copy: 3",
        "max_risk: 20",
        "max_risk: 120%",
        "max_risk: 1",
        "max_risk: true",
        "max_epsilon: .inf",
        "max_loss: -1",
        "",
        "# nothing",
        "- 1",
        "a: [",
    ],
)
def test_malformed_policy_file(export: Path, text: str) -> None:
    """A policy file that cannot be understood is a usage error: nothing passes."""
    write_policy(text)
    ran = here("check", str(export))
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.count("\n") == 1
    assert ".dptext.yaml" in ran.err


@pytest.mark.parametrize("text", ["", "# nothing", "- 1", "a: [", "max_epsilon: 3"])
def test_malformed_configuration(export: Path, text: str) -> None:
    """A file without sections is a usage error, too, also where it names limits."""
    Path(".dptext.yaml").write_text(text)
    ran = here("check", str(export))
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.count("\n") == 1
    assert ".dptext.yaml" in ran.err


@pytest.mark.parametrize(
    "given",
    [
        ("--policy", "no.yaml"),
        ("--set", "notion=none"),
        ("--set", "notion=[]"),
        ("--set", "allow=words"),
        ("--set", "max_risk=high"),
        ("--set", "max_epsilon=-1"),
    ],
)
def test_wrong_options(export: Path, given: tuple[str, ...]) -> None:
    """Wrong options are usage errors: nothing passes."""
    ran = here("check", str(export), *given)
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err


@pytest.mark.parametrize("name", ["max_epsilon", "max_loss"])
@pytest.mark.parametrize("value", ["nan", ".nan", "-3"])
def test_limits_without_meaning(export: Path, name: str, value: str) -> None:
    """A limit that nothing exceeds by comparison is refused, not passed."""
    option = "--" + name.replace("_", "-")
    ran = here("check", str(export), option, value.lstrip("."))
    assert ran.code in (1, 2)
    write_policy(f"{name}: {value}")
    assert here("check", str(export)).code in (1, 2)


RECORD = '{"text":"the film was good","id":7,"by":{"name":"bad","tags":["old"]}}\n'


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("fields: text", ""),
        ("fields: [text, body]", ""),
        ("fields: [text, by]", "'by.name', 'by.tags' to be private"),
        ("fields: by.name", "'by.name' to be private"),
        ("copy: [id, by]", ""),
        ("copy: [id, by.name, by.tags]", ""),
        ("copy: [id]", "does not list 'by.name', 'by.tags' under copy"),
        ("copy: []", "'id'"),
        ("copy: [by]\nfields: [text]", "'id' under copy"),
        ("copy: []\nexclude: 'other/*'", "'id'"),
    ],
)
def test_fields_of_the_policy(
    options: tuple[str, ...], folder: Path, policy: str, said: str
) -> None:
    """The policy says which fields must be private and which may be copied."""
    Path("in.jsonl").write_text(RECORD)
    assert (
        here(
            "sanitize", "-f", "text", "in.jsonl", *options, "-o", "out.jsonl", "-q"
        ).code
        == 0
    )
    write_policy(policy + "")
    ran = here("check", "out.jsonl")
    _fails(ran, said) if said else _passes(ran)


@pytest.mark.parametrize(
    ("name", "content", "more"),
    [
        ("t.csv", "id,text\n1,the film\n", ("-f", "text")),
        ("t.tsv.gz", "id\ttext\n1\tthe film\n", ("-f", "text")),
        ("t.csv", "1;the film\n", ("--no-header", "--field", "2", "--delimiter", ";")),
    ],
)
def test_columns_of_the_policy(
    options: tuple[str, ...],
    folder: Path,
    name: str,
    content: str,
    more: tuple[str, ...],
) -> None:
    """Columns count as fields; without header they have numbers."""
    import gzip

    raw = content.encode()
    Path("in").mkdir()
    Path("in", name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    ran = here("sanitize", f"in/{name}", *options, *more, "-o", name, "-q")
    assert ran.code == 0, ran.err
    column = "1" if "--no-header" in more else "id"
    write_policy(f"copy: ['{column}']")
    _passes(here("check", name))
    write_policy("copy: [other]")
    ran = here("check", name)
    assert ran.code == 1
    assert f"'{column}' under copy" in ran.out.decode()


def test_names_of_fields_that_could_be_text(
    options: tuple[str, ...], folder: Path
) -> None:
    """A key that is no plain name is not shown: it could hold text."""
    key = f"who {MARKER} is?"
    Path("in.jsonl").write_text(json.dumps({"text": "the film", key: 1}) + "\n")
    assert (
        here(
            "sanitize", "-f", "text", "in.jsonl", *options, "-o", "out.jsonl", "-q"
        ).code
        == 0
    )
    write_policy("copy: []")
    _fails(here("check", "out.jsonl"), "a field under copy")


def test_private_columns_that_the_file_has_not(
    options: tuple[str, ...], folder: Path
) -> None:
    """A report with a private column that the file lacks fails where fields matter."""
    Path("in.csv").write_text("id,text\n1,the film\n")
    assert (
        here("sanitize", "-f", "text", "in.csv", *options, "-o", "out.csv", "-q").code
        == 0
    )
    data = Path("out.csv").read_bytes().replace(b"text", b"body")
    Path("out.csv").write_bytes(data)
    side = Path("out.csv.dptext.json")
    report = json.loads(side.read_bytes())
    report["output"]["sha256"] = hashlib.sha256(data).hexdigest()
    side.write_text(json.dumps(report))
    write_policy("fields: [text]")
    ran = here("check", "out.csv")
    assert ran.code == 1
    assert b"its fields cannot be read, or differ from those in its report" in ran.out


@pytest.mark.parametrize("staged", [False, True])
def test_an_array_of_objects_is_an_export(export: Path, staged: bool) -> None:
    """A .json file of records needs a report in a folder, too; settings do not."""
    for name, content in (
        ("settings.json", '{"a": [{"b": 1}]}'),
        ("list.json", "[1, 2]"),
        ("records.json", '\ufeff [\n {"text": "the film"}]'),
    ):
        Path(name).write_text(content, "utf-8")
    arguments = ["."]
    if staged:
        for git in (["init", "-q"], ["add", "."]):
            subprocess.run(["git", *git], check=True)
        arguments = ["--staged"]
    ran = here("check", *arguments)
    assert ran.code == 1
    (line,) = ran.out.decode().splitlines()
    assert "records.json: no public report" in line
    Path(".dptext.yaml").write_text("check: {exclude: [records.json]}\n")
    if staged:
        subprocess.run(["git", "add", "."], check=True)
    assert here("check", *arguments).code == 0


def test_documents_are_no_exports(export: Path) -> None:
    """Beside exports, README.md is passed over; what could be data is not."""
    Path("README.md").write_text(MARKER)
    ran = here("check", str(export), "README.md")
    assert (ran.code, ran.out) == (0, b"")
    assert "README.md: not checked" in ran.err
    for name in ("dump.dat", "README.txt", "notes.csv"):
        Path(name).write_text(MARKER)
        ran = here("check", name)
        assert ran.code == 1
        assert b"no public report" in ran.out
        assert b"if this file is an original, do not share it" in ran.out
    write_policy("exclude: [README.txt, '*.dat']")
    assert here("check", "README.txt", "dump.dat").code == 0
    write_policy("include: '*.md'")
    assert here("check", "README.md").code == 1


def test_an_excluded_export_is_named(export: Path) -> None:
    """It passes, and a line says that it was not looked at."""
    write_policy("copy: []\nexclude: out.jsonl")
    ran = here("check", "out.jsonl")
    assert (ran.code, ran.out) == (0, b"")
    assert ran.err == "out.jsonl: not checked (the policy excludes it)\n"


def test_document_with_a_report_is_an_export(
    options: tuple[str, ...], folder: Path
) -> None:
    """A file that has a report is an export under any name."""
    Path("in.jsonl").write_text('{"text":"the film was good"}\n')
    run = ("sanitize", "-f", "text", "in.jsonl", *options, "--format", "jsonl", "-q")
    assert here(*run, "-o", "README.md").code == 0
    _passes(here("check", "README.md"))
    Path("README.md").write_text("the film was good")
    assert here("check", "README.md").code == 1


def test_a_folder_stands_for_the_exports_in_it(export: Path) -> None:
    """At any depth, as in the hook; documents and git's files are not exports."""
    for name in ("a/b/deep.csv", "a/README.md", "a/notes.bin", ".git/x.jsonl"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("text\nfilm\n")
    Path("in.jsonl").unlink(missing_ok=True)
    for folder, below in ((".", "a/b/deep.csv"), ("a", "a/b/deep.csv")):
        ran = here("check", folder)
        assert ran.code == 1, ran.err
        assert ran.out.decode().startswith(f"{below}: no public report")
        assert ran.out.count(b"\n") == 1
    Path("a/b/deep.csv").unlink()
    assert here("check", ".").code == 0
    ran = here("check", "a")
    assert (ran.code, ran.out) == (0, b"")
    assert ran.err == (
        "a: no exports in this folder\na/README.md, a/notes.bin: not checked (its "
        "name does not look like an export)\n"
    )
    assert ".git: not checked (git's own folder)" in here("check", ".").err
    assert here("check", "a", "-q").err == ""
    export.write_bytes(b"{}\n")
    assert b"another file" in here("check", str(export.parent)).out


def test_everything_in_a_folder_is_accounted_for(export: Path) -> None:
    """What leaves with it is checked, or named, and fails where it may hold text."""
    Path("in.jsonl").unlink(missing_ok=True)
    outside = Path("outside")
    (outside / "inner").mkdir(parents=True)
    for name in ("raw.csv", "inner/raw.csv"):
        (outside / name).write_text(f"text\n{MARKER}\n")
    folder = Path("folder")
    (folder / "below").mkdir(parents=True)
    for each in (export, _side(export)):
        each.rename(folder / each.name)
    report = json.loads(_side(folder / export.name).read_bytes())
    internal = json.dumps({**report, "audience": "internal"})
    fails = {
        "link.csv": "no public report",
        "plain": "no public report",
        "below/all": "a link to a folder",
        "gone": "a broken link",
        "gone.csv": "a broken link",
        "pipe": "device or pipe",
        ".hidden.csv": "no public report",
        ".out.jsonl.0123abcd.part": "an unfinished output",
        "raw.csv.bak": "a part or copy",
        "raw.json~": "a part or copy",
        "alone.csv.dptext.json": "a report without its file",
        "report.json": "an internal report",
        "quarantine.txt": "no public report",
    }
    passes = {"README.md", "notes.bin", "samples", "settings.json", "excluded.csv"}
    (folder / "link.csv").symlink_to((outside / "raw.csv").absolute())
    (folder / "plain").symlink_to((outside / "raw.csv").absolute())
    (folder / "below/all").symlink_to((outside / "inner").absolute())
    (folder / "samples").symlink_to("below")
    for name in ("gone", "gone.csv"):
        (folder / name).symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    for name in (".hidden.csv", ".out.jsonl.0123abcd.part", "raw.csv.bak", "raw.json~"):
        (folder / name).write_text(f"text\n{MARKER}\n")
    for name in ("quarantine.txt", "README.md", "notes.bin", "excluded.csv"):
        (folder / name).write_text(MARKER)
    (folder / "settings.json").write_text("{}")
    (folder / "alone.csv.dptext.json").write_text("{}")
    (folder / "report.json").write_text(internal)
    exclude = ("--set", "exclude=excluded.csv")
    ran = here("check", "folder", *exclude)
    found = dict(line.split(": ", 1) for line in ran.out.decode().splitlines())
    assert ran.code == 1
    assert found.keys() == {f"folder/{name}" for name in fails}
    for name, reason in fails.items():
        assert reason in found[f"folder/{name}"]
    for name in passes:
        assert f"folder/{name}" in ran.err
    assert MARKER not in ran.out.decode() + ran.err
    data = json.loads(here("check", "folder", *exclude, "--format", "json").out)
    assert [each["file"] for each in data["exports"] if each["success"]] == [
        "folder/out.jsonl"
    ]
    named = {each["file"] for key in ("exports", "not_checked") for each in data[key]}
    wanted = {*fails, *passes, "out.jsonl"}
    assert named == {f"folder/{name}" for name in wanted}
    for name in fails:
        (folder / name).unlink()
    assert here("check", "folder", *exclude).code == 0


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read anything"
)
def test_a_folder_that_cannot_be_read_is_found(folder: Path) -> None:
    """An unread file does not pass."""
    (folder / "x" / "y").mkdir(parents=True)
    (folder / "x" / "y").chmod(0)
    ran = here("check", "x")
    (folder / "x" / "y").chmod(0o700)
    assert (ran.code, ran.out) == (1, b"x/y: cannot be read: Permission denied\n")


def test_an_empty_name_is_no_folder(export: Path) -> None:
    """A variable of a script that is not set does not check the working folder."""
    ran = here("check", "")
    assert (ran.code, ran.out) == (2, b"")
    assert "empty" in ran.err
