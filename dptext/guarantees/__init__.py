"""Guarantees of runs, in fields and in sentences. Never sees text."""
