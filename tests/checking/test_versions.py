"""A report of another version of dptext is verified as far as settings decide.

A forger may write any version into a report, so that no version may open a door.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dptext import signatures
from dptext.report.layout import sidecar_path
from tests.cli.running import Ran, here, small
from tests.keys import PRIVATE, PUBLIC, put

OTHER = "0.0.9"
ADVICE = f"check with dptext=={OTHER}"


@pytest.fixture(scope="module")
def decoded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sanitize with balanced, which has measured attackers."""
    return sanitized(tmp_path_factory.mktemp("decoded"), ("--profile", "balanced"))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sanitize with a small lexicon and a sampled risk."""
    folder = tmp_path_factory.mktemp("drawn")
    lexicon = small(folder)[:2]
    return sanitized(folder, (*lexicon, "--mechanism", "laplace", "--epsilon", "9"))


def sanitized(folder: Path, options: tuple[str, ...]) -> Path:
    """Sanitize a line of text; return the output."""
    source, out = folder / "in.txt", folder / "out.txt"
    source.write_text("The film was good.\n")
    ran = here("sanitize", str(source), "-o", str(out), "-q", *options)
    assert ran.code == 0, ran.err
    return out


def checked(
    out: Path,
    change: Callable[[dict[str, Any]], None],
    *options: str,
    version: str = OTHER,
) -> Ran:
    """Check an output with an edited report, as one of another version."""
    side = sidecar_path(out)
    honest = side.read_bytes()
    report = json.loads(honest)
    report["run"]["dptext"] = version
    change(report)
    settings = msgspec.json.encode(report["run"]["settings"], order="deterministic")
    report["run"]["settings_digest"] = hashlib.sha256(settings).hexdigest()
    data = json.dumps(report).encode()
    if "--verify-key" in options:
        data = signatures.sign(data, signatures.parse(PRIVATE, "key"))
    side.write_bytes(data)
    try:
        return here("check", str(out), *options)
    finally:
        side.write_bytes(honest)


def nothing(report: dict[str, Any]) -> None:
    """Edit nothing but the version."""


def better_attackers(report: dict[str, Any]) -> None:
    """Let attackers find next to nothing."""
    for each in report["words"]["attackers"]:
        each |= {"success": 0.01, "low": 0.009, "high": 0.011}


def no_attackers(report: dict[str, Any]) -> None:
    """Withhold what attackers find."""
    del report["words"]["attackers"]


def other_attacker(report: dict[str, Any]) -> None:
    """Name the measurement otherwise."""
    report["words"]["attackers"][0]["attacker"] = "epsilon=1"


def no_risk(report: dict[str, Any]) -> None:
    """Withhold the risk."""
    report["words"]["risk"] = None


def no_digest(report: dict[str, Any]) -> None:
    """Withhold which model decoded."""
    del report["words"]["decoder_files"]


def smaller_loss(report: dict[str, Any]) -> None:
    """Claim less loss."""
    report["guarantee"]["bound"]["worst_loss"] = 1.0


def no_loss(report: dict[str, Any]) -> None:
    """Withhold the loss."""
    del report["guarantee"]["bound"]["worst_loss"]


def other_metric(report: dict[str, Any]) -> None:
    """Put a figure into the name of the metric."""
    report["guarantee"]["bound"]["metric"] = {"name": "epsilon=1", "scale": 1.0}


def other_algorithm(report: dict[str, Any]) -> None:
    """Draw in a way that is not known."""
    report["run"]["algorithm"] = "epsilon=1"


def other_settings(report: dict[str, Any]) -> None:
    """Name a setting that is not known."""
    report["run"]["settings"]["more"] = 1


def smaller_figure(report: dict[str, Any]) -> None:
    """Write another figure into a sentence."""
    wording = report["guarantee"]["wording"]
    before = wording["sentence"]
    wording["sentence"] = before.replace(before[before.index("9") :][:1], "1", 1)
    assert wording["sentence"] != before


def other_words(report: dict[str, Any]) -> None:
    """Say the same in other words."""
    report["guarantee"]["scope"]["not_covered"] = [
        line.replace("are unchanged", "are the original's")
        for line in report["guarantee"]["scope"]["not_covered"]
    ]
    report["guarantee"]["scope"]["conditions"].pop(1)


@pytest.mark.parametrize(
    "change",
    [
        better_attackers,
        no_attackers,
        other_attacker,
        no_risk,
        no_digest,
        smaller_loss,
        no_loss,
        other_metric,
        other_algorithm,
        other_settings,
        smaller_figure,
    ],
)
@pytest.mark.parametrize("version", [OTHER, "999.0"])
def test_another_version_opens_no_door(
    decoded: Path, change: Callable[[dict[str, Any]], None], version: str
) -> None:
    """Edited or withheld values fail, whatever a policy accepts unverified."""
    every = ("--set", "unverified=[version, lexicon, parts]")
    assert checked(decoded, nothing, version=version).code == 0
    for options in ((), every):
        ran = checked(decoded, change, *options, version=version)
        assert ran.code == 1, change.__doc__


def test_measured_anew_is_not_verified(decoded: Path) -> None:
    """Figures of attackers may honestly differ: the check says which version knows."""
    said = checked(decoded, better_attackers).out.decode()
    assert (
        f"could not be recomputed: {ADVICE}, which wrote another words.attackers"
        in said
    )
    assert "accept" not in said
    said = checked(decoded, no_loss).out.decode()
    assert "guarantee.bound.worst_loss does not follow from the settings" in said


def test_samples_of_another_version_are_not_verified(drawn: Path) -> None:
    """A sampled risk may be drawn otherwise; a sample of this version may not."""

    def lower(report: dict[str, Any]) -> None:
        report["words"]["risk"]["success"] -= 0.05

    assert ADVICE in checked(drawn, lower).out.decode()
    this = json.loads(sidecar_path(drawn).read_bytes())["run"]["dptext"]
    ran = checked(drawn, lower, version=this)
    assert b"words.risk.success does not follow from the settings" in ran.out


def test_other_words_are_accepted_from_known_authors(
    decoded: Path, tmp_path: Path
) -> None:
    """Anybody may write another version into a report that nobody signed."""
    accepts = ("--set", "unverified=version")
    for options in ((), accepts):
        ran = checked(decoded, other_words, *options)
        assert (ran.code, ADVICE in ran.out.decode()) == (1, True)
    key = put(tmp_path / "team.pub", PUBLIC, 0o644)
    ran = checked(decoded, other_words, "--verify-key", str(key))
    assert ran.code == 1
    ran = checked(decoded, other_words, *accepts, "--verify-key", str(key))
    assert (ran.code, ADVICE in ran.err) == (0, True)
    ran = checked(decoded, smaller_figure, *accepts, "--verify-key", str(key))
    assert ran.code == 1


@pytest.mark.parametrize(
    "version",
    ["0.0.9, epsilon=1", "epsilon=1", "", "1" * 99, "0.1.0\n", "0.1.0+eps", "٠.١.٠"],
)
def test_a_version_is_a_version(decoded: Path, version: str) -> None:
    """Nothing else stands there, and it is not repeated."""
    ran = checked(decoded, nothing, version=version)
    assert ran.code == 1
    assert b"$.run.dptext" in ran.out
