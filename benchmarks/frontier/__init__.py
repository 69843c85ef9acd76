"""Mechanisms at equal risk: docs/results/frontier.md."""
