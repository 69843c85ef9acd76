"""Engines: ways to execute a run; all write the same bytes."""

from __future__ import annotations
