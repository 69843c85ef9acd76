"""Fixtures of tests of reports."""

from __future__ import annotations

from tests.cli.conftest import options

__all__ = ["options"]
