"""Engines: ways to carry out a run; the same bytes from each."""

from __future__ import annotations
