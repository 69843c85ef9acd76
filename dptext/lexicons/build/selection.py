"""Which words get in, and the public count of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from dptext.errors import LexiconError
from dptext.lexicons import numbers
from dptext.lexicons.build import closed, counts, modern, names
from dptext.lexicons.build.evidence import Evidence
from dptext.lexicons.build.forms import Link
from dptext.lexicons.build.wordnet import WordNet
from dptext.tokens import kinds
from dptext.tokens.regex import key_of, kind_of, split

MILLION = 1e6
# A word with a hyphen is divided when it is unknown: it needs its place less.
HYPHEN = 0.3
# Forms of grammar words must have this much use in glosses ("cans", "mines").
USED = 2.0
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
    found = closed.classes()
    return frozenset(key_of(word) for name in _GRAMMAR for word in found[name])


def select(
    wordnet: WordNet,
    links: Mapping[str, tuple[Link, ...]],
    evidence: Evidence,
    weights: Mapping[tuple[str, str], float],
    size: int,
) -> dict[str, float]:
    """Return word as written -> count per million, by descending count, numbers too."""
    fixed = {word: 1e3 * figure for word, figure in closed.frequencies().items()}
    fixed |= numbers.counts(1e3 * closed.NUMBERS_PER_MILLE)
    keys = {key_of(word) for word in fixed}
    grammar = grammatical()
    named = {key_of(name): name for group in names.names() for name in group}
    least = 1e3 * names.PER_MILLE
    if size < len(keys) + len(named):
        msg = f"an English lexicon needs at least {len(keys) + len(named)} words"
        raise LexiconError(msg)
    open_words = {
        word: weight * (HYPHEN if "-" in word else 1.0)
        for word, weight in counts.weigh(links, evidence, weights).items()
        if word not in keys
        and fits(word)
        and not _odd(links.get(word, ()), evidence.used[word], grammar)
    }
    scale = (MILLION - sum(fixed.values())) / sum(open_words.values())
    scaled = {word: weight * scale for word, weight in open_words.items()}
    for name in named:
        if name not in keys:
            scaled[name] = max(least, scaled.get(name, 0.0))
    for word, figure in modern.least().items():
        if (key := key_of(word)) in scaled:
            scaled[key] = max(1e3 * figure, scaled[key])
    ranked = sorted(scaled, key=lambda w: (w not in named, -scaled[w], w))
    for word in ranked[: size - len(fixed)]:
        fixed[shown(word, evidence, named)] = scaled[word]
    return dict(sorted(fixed.items(), key=lambda item: (-item[1], key_of(item[0]))))


def _odd(ties: tuple[Link, ...], used: float, grammar: frozenset[str]) -> bool:
    """Tell whether this is a form of grammar words only, and unused ("veriest")."""
    return used < USED and bool(ties) and all(tie.lemma in grammar for tie in ties)


def fits(word: str) -> bool:
    """Tell whether the splitter of dptext sees one word, without digits, in it."""
    return (
        split(word) == [word]
        and kind_of(word) == kinds.WORD
        and not any(map(str.isdigit, word))
        and not word.endswith("'s")
        and (len(word) > 1)
    )


def shown(word: str, evidence: Evidence, named: Mapping[str, str]) -> str:
    """Write a name as a name, unless it is a common word too ("bill", "rose")."""
    shown = evidence.display(word)
    common = evidence.written.get(word, Counter[str]())[word] >= COMMON
    return named[word] if word in named and not common else shown
