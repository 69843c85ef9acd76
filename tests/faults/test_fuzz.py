"""Any bytes are read or refused in one line, and never a bug."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dptext import models, registry
from tests.faults import fuzzing

_EXTRAS = {"parquet": "pyarrow", "xlsx": "openpyxl", "zst": "zstandard"}


@pytest.mark.parametrize("name", fuzzing.TARGETS)
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_nearly_right_bytes_are_read_or_refused(name: str, data: st.DataObject) -> None:
    """Cut, flipped, doubled, deep, huge: an error of dptext or none."""
    if name in _EXTRAS and not models.has(_EXTRAS[name]):
        pytest.skip(f"{_EXTRAS[name]} is not installed")
    right = fuzzing.TARGETS[name][1]()
    fuzzing.hold(name, data.draw(fuzzing.nearly(right)))


def test_every_format_is_a_target() -> None:
    """A new format is fuzzed, too."""
    assert set(registry.names("formats")) <= fuzzing.TARGETS.keys()


@pytest.mark.parametrize("name", fuzzing.TARGETS)
@settings(max_examples=5, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(name: str, data: bytes) -> None:
    """Bytes of nothing in particular."""
    if name in _EXTRAS and not models.has(_EXTRAS[name]):
        pytest.skip(f"{_EXTRAS[name]} is not installed")
    fuzzing.hold(name, data)


@pytest.mark.parametrize("name", fuzzing.TARGETS)
def test_the_bytes_that_are_changed_are_right(name: str) -> None:
    """The unchanged bytes of the tests above are read."""
    if name in _EXTRAS and not models.has(_EXTRAS[name]):
        pytest.skip(f"{_EXTRAS[name]} is not installed")
    target, right = fuzzing.TARGETS[name]
    target(right())
