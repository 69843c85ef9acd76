"""Splitting texts into pieces, and putting them together again."""
