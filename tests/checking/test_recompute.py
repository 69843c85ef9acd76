"""Reports are compared field by field, with room for rounding and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from dptext.checking.recompute import differences

SAMPLED: dict[str, Any] = {
    "success": 0.4,
    "low": 0.3,
    "bands": [{"name": "all", "success": 0.2}],
    "method": "sampled, 20,000 draws",
}


@pytest.mark.parametrize(
    ("wanted", "actual", "paths"),
    [
        ({"a": 1.0}, {"a": 1.0 + 1e-9}, []),
        ({"a": 1.0}, {"a": 1.0001}, ["x.a"]),
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": True}, ["x.a"]),
        ({"a": None}, {"a": 0.0}, ["x.a"]),
        ({"a": ["b", "c"]}, {"a": ["b"]}, ["x.a"]),
        ({"a": ["b"]}, {"a": ["c"]}, ["x.a"]),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, ["x.a"]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3, "d": 2}}, ["x.a.b", "x.a.c", "x.a.d"]),
        ({"a": 1}, None, ["x"]),
        (2.3e-9, 2.4e-9, ["x"]),
    ],
)
def test_differences_are_named_by_their_path(
    wanted: Any, actual: Any, paths: list[str]
) -> None:
    """A list counts as one value; numbers may differ by rounding."""
    assert [path for path, _ in differences(wanted, actual, "x")] == paths


@pytest.mark.parametrize(
    ("change", "paths"),
    [
        ({"success": 0.4015}, []),
        ({"success": 0.41}, ["risk.success"]),
        ({"low": None}, ["risk.low"]),
        ({"bands": [{"name": "all", "success": 0.2015}]}, []),
        ({"bands": [{"name": "all", "success": 0.1}]}, ["risk.bands"]),
        ({"bands": [{"name": "some", "success": 0.2}]}, ["risk.bands"]),
        ({"bands": []}, ["risk.bands"]),
        ({"method": "exact"}, ["risk.method"]),
    ],
)
def test_sampled_risks_may_differ_by_a_few_draws(
    change: dict[str, Any], paths: list[str]
) -> None:
    """Rounding decides a few of 20,000 draws, never a percent of them."""
    changed = [p for p, _ in differences(SAMPLED, {**SAMPLED, **change}, "risk")]
    assert changed == paths
