"""`dptext check`: an export passes only with a valid public report within policy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.cli.running import MARKER, Ran, here

Change = Callable[[dict[str, Any]], None]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, without a policy file of others."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def export(options: tuple[str, ...], folder: Path) -> Path:
    """Sanitize one record to out.jsonl."""
    return _export(options)


def _export(options: tuple[str, ...], *more: str) -> Path:
    Path("in.jsonl").write_text('{"text":"the film was good"}\n')
    ran = here("sanitize", "in.jsonl", *options, "-o", "out.jsonl", "-q", *more)
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
    assert ran.err == ""
    out = ran.out.decode()
    assert out.count("\n") == lines, out
    assert all(line.startswith("out.jsonl: ") for line in out.splitlines())
    assert MARKER not in out
    for part in said:
        assert part in out


def _passes(ran: Ran) -> None:
    assert (ran.code, ran.out, ran.err) == (0, b"", "")


def test_covered_export_passes(export: Path) -> None:
    """A fresh export passes, its sidecar is passed over, no files are no finding."""
    _passes(here("check", str(export)))
    _passes(here("check", str(export), str(_side(export))))
    _passes(here("check", str(_side(export))))
    _passes(here("check"))


def test_missing_sidecar(export: Path) -> None:
    """Without its sidecar an export fails."""
    _side(export).unlink()
    _fails(here("check", str(export)), "no public report", "out.jsonl.dptext.json")
    ran = here("check", str(export), "-q")
    assert (ran.code, ran.out, ran.err) == (1, b"", "")


def test_edited_export(export: Path) -> None:
    """An export that was changed after its report was written fails."""
    export.write_text(f'{{"text":"{MARKER}"}}\n')
    _fails(here("check", str(export)), "digests differ")


def test_missing_and_unreadable_exports(export: Path) -> None:
    """A file that cannot be read is a finding, and others are still looked at."""
    Path("folder.jsonl").mkdir()
    export.unlink()
    ran = here("check", "no.jsonl", "folder.jsonl", "out.jsonl")
    assert ran.code == 1
    assert [line.partition(":")[0] for line in ran.out.decode().splitlines()] == [
        "no.jsonl",
        "folder.jsonl",
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
    _fails(here("check", str(export)), "internal one, which must not be released")


def _seeded(data: dict[str, Any]) -> None:
    data["run"]["key"] = "seed"


def _failed(data: dict[str, Any]) -> None:
    data["success"] = False


def _digest(data: dict[str, Any]) -> None:
    data["run"]["settings_digest"] = "0" * 64


def _other_output(data: dict[str, Any]) -> None:
    data["output"] = None


def _note(data: dict[str, Any]) -> None:
    data["note"] = MARKER


def _deep_note(data: dict[str, Any]) -> None:
    data["guarantee"]["note"] = MARKER


def _weaker(data: dict[str, Any]) -> None:
    data["guarantee"]["epsilon"] = 1.0


def _value(data: dict[str, Any]) -> None:
    data["run"]["key"] = MARKER


def _version(data: dict[str, Any]) -> None:
    data["version"] = 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_seeded, "a seeded run has no guarantee"),
        (_failed, "did not succeed"),
        (_digest, "settings do not match their digest"),
        (_other_output, "digests differ"),
        (_note, "keys that dptext does not write"),
        (_deep_note, "keys that dptext does not write"),
        (_weaker, "the settings have another epsilon"),
        (_value, "$.run.key"),
        (_version, "$.version"),
    ],
)
def test_sidecar_changed_by_hand(export: Path, change: Change, said: str) -> None:
    """A report that contradicts itself fails, without quoting what was put in."""
    _change(export, change)
    _fails(here("check", str(export)), said)


def test_settings_changed_with_their_digest(export: Path) -> None:
    """Odd settings under a right digest end in findings, not in a crash."""

    def odd(data: dict[str, Any]) -> None:
        data["run"]["settings"] = {"budget": 3, "tokens": [MARKER]}

    _change(export, odd, digest=True)
    ran = here("check", str(export))
    assert ran.code == 1
    assert b"another epsilon" in ran.out
    assert b"stop_word" in ran.out
    assert MARKER.encode() not in ran.out


def test_seeded_export(options: tuple[str, ...], folder: Path) -> None:
    """A seeded export never passes: it has no guarantee."""
    export = _export(options, "--seed", "1")
    _fails(here("check", str(export)), "guarantee is none")


def test_notion(options: tuple[str, ...], folder: Path) -> None:
    """The accepted kinds of guarantee can be narrowed."""
    export = _export(options)
    _passes(here("check", str(export), "--notion", "LDP"))
    _fails(here("check", str(export), "--notion", "metric-DP"), "guarantee is LDP")
    export = _export(options[:4], "--mechanism", "santext")
    _passes(here("check", str(export), "--notion", "metric-DP", "--notion", "LDP"))
    _fails(here("check", str(export), "--notion", "LDP"), "guarantee is metric-DP")


def test_epsilon_and_loss(options: tuple[str, ...], folder: Path) -> None:
    """The largest epsilon and the largest loss are limits that may be reached."""
    export = _export(options)
    _passes(here("check", str(export), "--max-epsilon", "3", "--max-loss", "3"))
    _fails(
        here("check", str(export), "--max-epsilon", "2.9"),
        "epsilon between any two words is 3 nats",
    )
    _fails(here("check", str(export), "--max-loss", "2.9"), "worst loss is 3 nats")
    export = _export(options, "--seed", "1")
    ran = here("check", str(export), "--max-loss", "100")
    _fails(ran, "worst loss is not bounded", lines=2)


def test_risk(options: tuple[str, ...], folder: Path) -> None:
    """The largest risk is a limit, and a risk that was not measured fails."""
    export = _export(options)
    _passes(here("check", str(export), "--max-risk", "99%"))
    _fails(here("check", str(export), "--max-risk", "0.1%"), "risk is", "0.10%")
    export = _export(options, "--no-ruler")
    _passes(here("check", str(export)))
    _fails(here("check", str(export), "--max-risk", "99%"), "not measured")


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
    _fails(here("check", str(export)), f"class {name} are not protected")
    _passes(here("check", str(export), "--allow", "punctuation", "--allow", name))


def test_punctuation(options: tuple[str, ...], folder: Path) -> None:
    """Punctuation is allowed by default; where it is not, it has to be dropped."""
    export = _export(options)
    strict = ("check", str(export), "--allow", "case")
    _fails(here(*strict), "class punctuation are not protected")
    _export(options, "--set", "tokens.punctuation=drop")
    _passes(here(*strict))


def test_several_reasons_are_several_lines(
    options: tuple[str, ...], folder: Path
) -> None:
    """Each reason has its own line with the file's name."""
    export = _export(
        options, "--set", "tokens.number=keep", "--set", "tokens.unknown=keep"
    )
    _fails(here("check", str(export), "--max-epsilon", "1"), lines=3)


def test_policy_file_is_found(export: Path) -> None:
    """.dptext.yaml where the command runs is the policy; options go before it."""
    Path(".dptext.yaml").write_text("max_epsilon: 2\nmax_risk: 99%\n")
    _fails(here("check", str(export)), "epsilon")
    _passes(here("check", str(export), "--max-epsilon", "4"))
    Path("other.yaml").write_text("notion: [LDP]\nmax_loss: 5\nallow: [punctuation]\n")
    _passes(here("check", str(export), "--policy", "other.yaml"))


def test_lexicons_of_the_policy(export: Path) -> None:
    """A policy may name the lexicons that it accepts by digest."""
    digest = json.loads(_side(export).read_bytes())["run"]["lexicon_digest"]
    Path(".dptext.yaml").write_text(f'lexicons: ["{digest}"]\n')
    _passes(here("check", str(export)))
    Path(".dptext.yaml").write_text('lexicons: ["0000"]\n')
    _fails(here("check", str(export)), "lexicon")


@pytest.mark.parametrize(
    "text",
    [
        "max_epsilo: 3",
        "max_epsilon: lots",
        "max_risk: high",
        "notion: [none]",
        "notion: LDP",
        "allow: [words]",
        "- 1",
        "a: [",
    ],
)
def test_malformed_policy_file(export: Path, text: str) -> None:
    """A policy file that cannot be understood is a usage error: nothing passes."""
    Path(".dptext.yaml").write_text(text)
    ran = here("check", str(export))
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.count("\n") == 1
    assert ".dptext.yaml" in ran.err


@pytest.mark.parametrize(
    "given",
    [
        ("--policy", "no.yaml"),
        ("--notion", "none"),
        ("--allow", "words"),
        ("--max-risk", "high"),
        ("--max-epsilon", "-1"),
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
    Path(".dptext.yaml").write_text(f"{name}: {value}\n")
    assert here("check", str(export)).code in (1, 2)
