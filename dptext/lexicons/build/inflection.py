"""Derivations and spelling variants of single English words, by rule.

Regular inflection is that of dptext.tokens.spelling.
"""

from __future__ import annotations

import re

from dptext.tokens import spelling

_VOWELS = re.compile(r"[aeiouy]+")
# -our words of British English whose American form has -or.
_OUR = (
    "arbour|ardour|armour|behaviour|candour|clamour|colour|demeanour|endeavour|favour|"
    "fervour|flavour|glamour|harbour|honour|humour|labour|neighbour|odour|parlour|"
    "rancour|rigour|rumour|saviour|savour|splendour|succour|tumour|valour|vapour|vigour"
)
_TO_AMERICAN = (
    (re.compile(rf"^((?:dis|mis|un)?)({_OUR})"), lambda m: m[1] + m[2][:-2] + "r"),
    (
        re.compile(r"^(cent|fib|goit|lit|lust|meag|och|sab|somb|spect|theat|tit)re"),
        r"\1er",
    ),
    (re.compile(r"yse(?=$|[drs])"), "yze"),
    (re.compile(r"^(def|off|pret|lic)ence"), r"\1ense"),
    (re.compile(r"^(anal|catal|dial|mon)ogue"), r"\1og"),
)
_TO_BRITISH = (
    (re.compile(r"(?<=[a-z]{3})iz(?=(?:e[drs]?|ers|es|ing|ation|ations|able)$)"), "is"),
    (re.compile(r"yz(?=(?:e[drs]?|ers|es|ing)$)"), "ys"),
)
_NOT_VARIANTS = frozenset({"capsize", "resize", "downsize", "oversize", "seize"})


def agent(verb: str) -> str:
    """Return the noun of the one who does it, with -er."""
    return spelling.comparative(verb)


def adverb(adjective: str) -> str:
    """Return the form with -ly."""
    if adjective.endswith("ic"):
        return adjective + "ally"
    if adjective.endswith("le") and len(adjective) > 4:
        return adjective[:-1] + "y"
    if adjective.endswith("ll"):
        return adjective + "y"
    if spelling.CONSONANT_Y.search(adjective) and syllables(adjective) > 1:
        return adjective[:-1] + "ily"
    return adjective + "ly"


def quality(adjective: str) -> str:
    """Return the noun of the quality, with -ness."""
    if spelling.CONSONANT_Y.search(adjective) and syllables(adjective) > 1:
        return adjective[:-1] + "iness"
    return adjective + "ness"


def syllables(word: str) -> int:
    """Count groups of vowels, a silent final e left out."""
    bare = word[:-1] if word.endswith("e") and not word.endswith("le") else word
    return max(1, len(_VOWELS.findall(bare)))


def variants(word: str) -> list[str]:
    """Return the British spelling of an American word, or the reverse."""
    if word in _NOT_VARIANTS:
        return []
    spellings = [rule.sub(to, word) for rule, to in (*_TO_AMERICAN, *_TO_BRITISH)]
    return [other for other in dict.fromkeys(spellings) if other != word]
