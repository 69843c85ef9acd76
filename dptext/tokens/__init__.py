"""Splits texts into pieces, and joins them again."""
