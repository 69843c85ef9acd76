"""Building the English lexicon from the WordNet database."""

from __future__ import annotations

from dptext.lexicons.build.assemble import build_english

__all__ = ["build_english"]
