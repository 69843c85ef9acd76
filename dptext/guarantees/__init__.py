"""Guarantees of runs, as data and in sentences. Never sees text."""
