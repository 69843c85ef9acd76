"""Lists of words and tables of a language: files of dptext/data/words.

A file has lines of comment, which begin with "#", and sections: [heading], then words
with white space between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "data" / "words"


def sections(name: str, folder: Path = _FOLDER) -> list[tuple[str, list[str]]]:
    """Return the headings of a file, in order, each with its words."""
    parts: list[tuple[str, list[str]]] = []
    for line in lines(name, folder):
        if line.startswith("["):
            parts.append((line[1:-1], []))
        else:
            parts[-1][1].extend(line.split())
    return parts


def lines(name: str, folder: Path = _FOLDER) -> Iterator[str]:
    """Yield the lines of a file, comments left out."""
    for line in (folder / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            yield line


def stop_words(language: str) -> frozenset[str]:
    """Return the function words of a language by its code; none where none are known.

    They are keys (dptext.tokens.regex.key_of).
    """
    return _by_language("stop_words").get(language, frozenset())


def vulgar_words(language: str) -> frozenset[str]:
    """Return the words of a language that are never written in the place of others."""
    return _by_language("vulgar_words").get(language, frozenset())


@cache
def _by_language(name: str) -> Mapping[str, frozenset[str]]:
    return {language: frozenset(words) for language, words in sections(name)}
