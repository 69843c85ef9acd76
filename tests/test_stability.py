"""The promises of docs/stability.md: each has a test, and no stable name is gone.

tests/stable.txt has the names that programs use, as of the last release: options of
commands, keys, fields of reports, exit codes, names of Python. `python -m
tests.test_stability` writes them anew for a release (CONTRIBUTING.md).
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

import dptext
from dptext import registry, spark
from dptext.checking.policy import ExportPolicy
from dptext.cli.app import app
from dptext.integrations import presidio, scikit_learn
from dptext.report.document import Document
from tools import reference

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "stability.md").read_text("utf-8")
NAMES = Path(__file__).with_name("stable.txt")
STABLE = "tests/test_stability.py::test_no_stable_name_is_gone"
#: The beginning of each promise of the page, and tests that hold it.
HELD: dict[str, tuple[str, ...]] = {
    "command line": (
        STABLE,
        "tests/golden/test_golden.py::test_golden",
        "tests/cli/test_options.py::test_every_example_is_parsed",
    ),
    "settings": (
        STABLE,
        "tests/golden/test_golden.py::test_golden",
        "tests/test_profile.py::test_a_run_without_a_profile_is_readable",
    ),
    "report": (
        STABLE,
        "tests/report/test_document.py::test_committed_schema_is_the_schema",
        "tests/report/test_document.py::"
        "test_a_report_of_another_version_is_refused_by_its_number",
    ),
    "Python": (
        STABLE,
        "tests/test_api.py::test_every_public_name_is_there",
        "tests/test_api.py::test_types_are_those_of_the_calls",
    ),
    "components of other packages": (
        STABLE,
        "tests/conformance/test_outside.py::test_an_outside_mechanism_is_used_by_name",
        "tests/conformance/test_outside.py::"
        "test_the_components_of_the_page_pass_inside_dptext",
    ),
    "bytes under a key": (
        "tests/test_output_laws.py::test_outputs_are_those_of_the_laws",
        "tests/test_randomness.py::test_outputs_of_two_names_share_no_record",
        "tests/cli/test_earlier.py::test_the_same_key_and_settings_make_the_same",
    ),
    "With 2.0.0 the default changes": (
        "tests/test_profile.py::test_a_run_without_a_profile_is_readable",
        "tests/test_profile.py::test_a_risk_or_mechanism_starts_from_balanced",
        "tests/checking/test_accepting.py::"
        "test_the_default_policy_accepts_what_the_default_writes",
        "tests/test_stability.py::test_what_is_about_mechanisms_keeps_balanced",
    ),
    "Bytes under a key": (
        "tests/test_output_laws.py::"
        "test_no_byte_follows_from_the_version_of_the_program",
        "tests/test_stability.py::test_a_change_of_the_laws_is_told_first",
        "tests/test_randomness.py::test_whatever_differs_gives_other_bits",
        "tests/ledger/test_entries.py::test_the_same_draws_cost_once",
    ),
    "Guarantees take precedence": (
        "tests/guarantees/test_every_claim.py::test_no_text_loses_more_than_is_printed",
    ),
    "Measured figures": (
        "tests/checking/test_versions.py::test_measured_anew_is_not_verified",
    ),
    "The built-in lexicon": ("tests/lexicons/test_store.py::test_round_trip",),
}


def promises() -> list[str]:
    """Return the beginnings of the rows and bold sentences that promise something."""
    stable = PAGE.partition("## Stable")[2].partition("## Not stable")[0]
    rows = re.findall(r"^\| (\w[^|]*?) \|", stable, re.M)
    return rows + re.findall(r"^\*\*([^*]+)\*\*", stable, re.M)


def test_every_promise_has_a_test() -> None:
    """A new promise names its test here, and a test that is named exists."""
    assert set(promises()) <= HELD.keys()
    assert not [start for start in HELD if start not in PAGE]
    for test in (test for tests in HELD.values() for test in tests):
        path, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / path).read_text("utf-8"), test


def stable_names() -> Iterator[str]:
    """Yield the names that stay within a major version."""
    fields = (ROOT / "docs" / "report.md").read_text("utf-8")
    pages = {**reference.pages(), "report": fields}
    for page, text in pages.items():
        section = ""
        for line in text.splitlines():
            section = line.lstrip("# ") if line.startswith("#") else section
            row = re.match(r"\| `?(-{0,2}\w[\w.-]*)", line)
            if row and row[1] not in ("argument", "code", "field", "key", "option"):
                yield f"{page} {section} {row[1]}"
    for kind in (ExportPolicy, Document):
        yield from (f"{kind.__name__} {each.name}" for each in dataclasses.fields(kind))
    for name in dptext.__all__:
        yield from parameters(f"dptext.{name}", getattr(dptext, name))
    for module in (spark, presidio, scikit_learn):
        for name, member in inspect.getmembers(module, callable):
            if member.__module__ == module.__name__ and not name.startswith("_"):
                yield from parameters(f"{module.__name__}.{name}", member)
    for name in ("text", "texts", "table", "files", "plan", "report"):
        member = getattr(dptext.Sanitizer, name)
        yield from parameters(f"dptext.Sanitizer.{name}", member)
    yield from (f"entry points dptext.{stage}" for stage in registry.STAGES)


def parameters(name: str, thing: Any) -> Iterator[str]:
    """Yield the name of a thing, and its parameters."""
    yield name
    if callable(thing):
        yield from (f"{name} {each}" for each in inspect.signature(thing).parameters)


def test_no_stable_name_is_gone() -> None:
    """Options, keys, fields, codes and names of the last release are all there."""
    recorded = NAMES.read_text("utf-8").splitlines()
    assert len(recorded) > 900
    assert not set(recorded) - set(stable_names())


def test_what_is_about_mechanisms_keeps_balanced() -> None:
    """Compare, calibrate and the operator of Presidio measure draws of all words."""
    root: Any = get_command(app)
    for name in ("compare", "calibrate"):
        options = {each.name: each for each in root.get_command(None, name).params}
        assert options["profile"].default == "balanced"
    given = inspect.signature(presidio.Run).parameters
    assert given["profile"].default == "balanced"


def test_a_change_of_the_laws_is_told_first() -> None:
    """The changelog of the version that changed the laws of outputs says so on top."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    laws = dptext.pipeline.OUTPUT_LAWS
    newest = text.partition("\n## [")[2].partition("\n### ")[0]
    assert f"(`OUTPUT_LAWS` {laws})" in newest


if __name__ == "__main__":
    NAMES.write_text("\n".join(sorted({*stable_names()})) + "\n", "utf-8")
