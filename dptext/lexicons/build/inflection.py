"""Regular English inflection and spelling variants of single words, by rule."""

from __future__ import annotations

import re

_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)$")
_CONSONANT_Y = re.compile(r"[^aeiou]y$")
_CONSONANT_O = re.compile(r"[^aeiou]o$")
# Nouns in -o that take -es; the others take -s.
_OES = frozenset(
    "buffalo cargo domino echo embargo go hero mango mosquito motto negro potato "
    "tomato tornado torpedo veto volcano".split()
)
# One vowel between consonants at the end of a one-syllable word: the last is doubled.
_DOUBLES = re.compile(r"^[^aeiou]*(?:qu)?[aeiou][bdgklmnprt]$")
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


def plural(noun: str) -> str:
    """Return the regular plural."""
    if noun.endswith("o") and noun not in _OES:
        return noun + "s"
    return third_person(noun)


def third_person(verb: str) -> str:
    """Return the regular form with -s."""
    if _CONSONANT_Y.search(verb):
        return verb[:-1] + "ies"
    if _SIBILANT.search(verb) or _CONSONANT_O.search(verb):
        return verb + "es"
    return verb + "s"


def past(verb: str) -> str:
    """Return the regular form with -ed."""
    if verb.endswith("e"):
        return verb + "d"
    return _stem(verb, keep_y=False) + "ed"


def participle(verb: str) -> str:
    """Return the regular form with -ing."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and len(verb) > 2:
        return verb[:-1] + "ing"
    return _stem(verb, keep_y=True) + "ing"


def agent(verb: str) -> str:
    """Return the noun of the one who does it, with -er."""
    return verb + "r" if verb.endswith("e") else _stem(verb, keep_y=False) + "er"


def comparative(adjective: str) -> str:
    """Return the form with -er."""
    return agent(adjective)


def superlative(adjective: str) -> str:
    """Return the form with -est."""
    return comparative(adjective)[:-1] + "st"


def adverb(adjective: str) -> str:
    """Return the form with -ly."""
    if adjective.endswith("ic"):
        return adjective + "ally"
    if adjective.endswith("le") and len(adjective) > 4:
        return adjective[:-1] + "y"
    if adjective.endswith("ll"):
        return adjective + "y"
    if _CONSONANT_Y.search(adjective) and syllables(adjective) > 1:
        return adjective[:-1] + "ily"
    return adjective + "ly"


def quality(adjective: str) -> str:
    """Return the noun of the quality, with -ness."""
    if _CONSONANT_Y.search(adjective) and syllables(adjective) > 1:
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
    found = [rule.sub(to, word) for rule, to in (*_TO_AMERICAN, *_TO_BRITISH)]
    return [other for other in dict.fromkeys(found) if other != word]


def _stem(word: str, *, keep_y: bool) -> str:
    if not keep_y and _CONSONANT_Y.search(word):
        return word[:-1] + "i"
    if _DOUBLES.search(word):
        return word + word[-1]
    return word + "k" if word.endswith("ic") else word
