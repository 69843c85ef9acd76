"""Mechanisms at equal risk: docs/frontier.md."""
