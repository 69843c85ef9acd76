"""What ships with the package is complete: nobody waits for a result that is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from dptext import load_profile, open_pipeline, registry
from dptext.profile import shipped
from dptext.report.assemble import risk_of


@pytest.mark.parametrize("name", shipped())
def test_risks_of_shipped_profiles_are_not_computed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every epsilon from a risk, and every risk, is read from the shipped results."""
    mechanism = load_profile(name).mechanism.name
    if registry.find("mechanisms", mechanism).FAMILY == "context":
        pytest.skip(f"{name} needs a model, and its risk is not measured")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    risk_of(open_pipeline(name))
    assert not list(tmp_path.rglob("*.json")), "run benchmarks/ship_results.py"
