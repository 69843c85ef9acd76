"""Adversaries: how well the best possible attack does against a mechanism."""
