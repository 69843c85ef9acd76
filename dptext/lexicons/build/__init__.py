"""Building the English lexicon from GloVe, WordNet and public word lists."""

from __future__ import annotations

from dptext.lexicons.build.assemble import Sources, build_english

__all__ = ["Sources", "build_english"]
