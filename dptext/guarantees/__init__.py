"""Guarantees: what a run promises, in fields and in sentences. Never sees text."""
