"""Writes drawn words as texts, and redraws what needs no budget."""
