"""Which words get in, and how common words and names of one spelling are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from dptext.lexicons.build import closed
from dptext.lexicons.build.evidence import Evidence
from dptext.tokens import kinds
from dptext.tokens.regex import key_of, kind_of, split

# A name this often in lower case in glosses and tags is rather a common word.
COMMON = 15.0
# Classes that are grammar only; what WordNet says of nouns of that spelling ("in" the
# inch) is not about them.
_GRAMMAR = (
    "determiner", "pronoun", "preposition", "conjunction", "auxiliary", "contraction",
    "clitic", "particle", "adverb", "interjection",
)  # fmt: skip


def grammatical() -> frozenset[str]:
    """Return the keys of the words that are grammar only."""
    classes = closed.classes()
    return frozenset(key_of(word) for name in _GRAMMAR for word in classes[name])


def select(counts: Mapping[str, float], size: int) -> dict[str, float]:
    """Return the most frequent keys with their counts, all closed-class words in it.

    By descending count, then by the alphabet.
    """
    needed = {key_of(word) for word in closed.frequencies()}
    ranked = sorted(counts, key=lambda key: (key not in needed, -counts[key], key))
    chosen = sorted(ranked[:size], key=lambda key: (-counts[key], key))
    return {key: counts[key] for key in chosen}


def fits(word: str) -> bool:
    """Tell whether the splitter of dptext sees one word, without digits, in it."""
    return (
        split(word) == [word]
        and kind_of(word) == kinds.WORD
        and not any(map(str.isdigit, word))
        and not word.endswith("'s")
        and len(word) > 1
    )


def shown(word: str, evidence: Evidence, named: Mapping[str, str]) -> str:
    """Write a name as a name, unless it is a common word too ("bill", "rose")."""
    common = evidence.written.get(word, Counter[str]())[word] >= COMMON
    return named[word] if word in named and not common else evidence.display(word)
