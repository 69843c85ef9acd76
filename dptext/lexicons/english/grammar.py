"""What a word is in grammar: part of speech and inflection, class, kind of name.

Each word gets a row of square roots of shares, so that the product of two rows is the
part that both have in common (Bhattacharyya): 1 for words of one kind, 0 for words of
none in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons.english import lists
from dptext.lexicons.english.forms import Link
from dptext.lexicons.english.wordnet import WordNet
from dptext.tokens.numbers import NAMES
from dptext.tokens.regex import key_of
from dptext.types import PARTS

Shares = dict[str, float]
# Where WordNet names one thing: the first lemma met on the way up tells its kind.
_KINDS = {
    "city": "city", "town": "city", "country": "country", "state": "state",
    "American state": "state", "province": "state", "island": "land",
    "mountain": "land", "mountain range": "land", "continent": "land",
    "river": "water", "lake": "water", "sea": "water", "ocean": "water",
    "body of water": "water", "region": "land", "location": "land",
    "person": "family", "deity": "deity", "organization": "body", "language": "tongue",
    "war": "event", "event": "event",
}  # fmt: skip
_VOTERS, _BLOCK = 10, 1024
_NAME = 0.3  # what all names share
_CLOSED = 0.3  # what all words of closed classes share
_GIVEN = ("man", "woman", "family")
# Forms that rules derive -> part of speech and inflection.
_DERIVED = {
    "ly": "r base", "ness": "n base", "un": "a base", "agent": "n base",
    "agents": "n plural", "able": "a base",
}  # fmt: skip


# The tag of a word -> its part of speech (dptext.types.PARTS).
_PARTS = {"n": "noun", "v": "verb", "a": "adjective", "s": "adjective", "r": "adverb"}


def profiles(
    wordnet: WordNet,
    words: Sequence[str],
    keys: Sequence[str],
    links: Mapping[str, tuple[Link, ...]],
    weights: Mapping[tuple[str, str], float],
    grammatical: frozenset[str],
    vectors: NDArray[Any],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.uint8]]:
    """Return rows of grammar (V, g), of subject (V, f) and parts of speech (V,).

    Subjects are WordNet's lexicographer files; parts are rows of dptext.types.PARTS.
    vectors (V or more, d) of length 1: names that no list has are of the kinds that
    their nearest names are of.
    """
    classes = _closed_classes()
    named = _given_names()
    grammar: list[Shares] = []
    subjects: list[Shares] = []
    named_rows: dict[int, list[str]] = {}
    asking: list[int] = []
    for row, (word, key) in enumerate(zip(words, keys, strict=True)):
        ties = links.get(key, ())
        if key in grammatical or "number word" in classes.get(key, ()):
            grammar.append(_of_closed(classes[key]))
            subjects.append(dict.fromkeys(classes[key], 1.0))
            continue
        kinds = _name_kinds(wordnet, word, key, ties, named)
        if kinds:
            named_rows[row] = kinds
        elif word[:1].isupper() and not ties:
            asking.append(row)
        grammar.append(_of_name(kinds) if kinds else _of_open(ties, weights))
        subjects.append(_files(wordnet, ties, weights))
    for row, kinds in _kinds_of_neighbours(vectors, named_rows, asking):
        grammar[row] = _of_name(kinds)
    parts = np.array([PARTS.index(_part(shares)) for shares in grammar], np.uint8)
    return _rows(grammar), _rows(subjects), parts


def _part(shares: Shares) -> str:
    """Return the part of speech that most of a word's uses have."""
    if "closed" in shares:
        return "number" if "number word" in shares else "function-word"
    if "name" in shares:
        return "name"
    uses: Shares = {}
    for tag, share in shares.items():
        part = _PARTS.get(tag.split(" ")[0], "other")
        uses[part] = uses.get(part, 0.0) + share
    return max(sorted(uses), key=uses.__getitem__)


def _closed_classes() -> dict[str, list[str]]:
    classes_of: dict[str, list[str]] = {key_of(name): ["number word"] for name in NAMES}
    for name, pairs in lists.classes().items():
        for word in pairs:
            classes_of.setdefault(key_of(word), []).append(name)
    return classes_of


def _of_closed(classes: Sequence[str]) -> Shares:
    shares = {name: (1.0 - _CLOSED) / len(classes) for name in classes}
    return {"closed": _CLOSED, **shares}


def _given_names() -> dict[str, list[str]]:
    kinds_of: dict[str, list[str]] = {}
    for kind, group in zip(_GIVEN, lists.names(), strict=True):
        for name in group:
            kinds_of.setdefault(key_of(name), []).append(kind)
    return kinds_of


def _name_kinds(
    wordnet: WordNet,
    word: str,
    key: str,
    ties: Sequence[Link],
    named: Mapping[str, list[str]],
) -> list[str]:
    """Return the kinds of what a capitalised word names, [] where it is no name."""
    if not word[:1].isupper():
        return []
    if key in named:
        return named[key]
    numbers = [
        number for tie in ties for number, _ in wordnet.senses[tie.lemma, tie.pos]
    ]
    of_senses = [_kind(wordnet, number) for number in numbers]
    kinds = [kind for kind in of_senses if kind]
    return list(dict.fromkeys(kinds)) if len(kinds) * 2 > len(of_senses) else []


def _kind(wordnet: WordNet, number: int) -> str:
    """Return the kind of the one thing that a meaning names, "" if it names none."""
    above = [p.target for p in wordnet.synsets[number].pointers if p.symbol == "@i"]
    if not above:
        return ""
    for here in above:  # grows: the way up, nearest first
        known = [
            _KINDS[name] for name in wordnet.synsets[here].lemmas if name in _KINDS
        ]
        if known:
            return known[0]
        up = [p.target for p in wordnet.synsets[here].pointers if p.symbol == "@"]
        above.extend(target for target in up if target not in above)
    return "thing"


def _kinds_of_neighbours(
    vectors: NDArray[Any], named: Mapping[int, list[str]], asking: Sequence[int]
) -> Iterator[tuple[int, list[str]]]:
    """Yield each asking row with the commonest kind of its nearest named rows."""
    if not named:
        return
    known = np.array([*named])
    others = vectors[known].astype(np.float64)
    for begin in range(0, len(asking), _BLOCK):
        rows = asking[begin : begin + _BLOCK]
        cosines = vectors[rows].astype(np.float64) @ others.T
        ranked = -np.rint(cosines * 2.0**20) * 2.0**17 + np.arange(len(known))
        most = min(_VOTERS, len(known))
        nearest = np.argpartition(ranked, most - 1, axis=1)[:, :most]
        for row, voters in zip(rows, known[nearest].tolist(), strict=True):
            votes = Counter(kind for voter in voters for kind in named[voter])
            most_votes = max(votes.values())
            yield row, [min(k for k, count in votes.items() if count == most_votes)]


def _of_name(kinds: Sequence[str]) -> Shares:
    shares = {f"name {kind}": (1.0 - _NAME) / len(kinds) for kind in kinds}
    return {"name": _NAME, **shares}


def _of_open(ties: Sequence[Link], weights: Mapping[tuple[str, str], float]) -> Shares:
    shares: Shares = {}
    for tie in ties:
        use = tie.share * weights[tie.lemma, tie.pos]
        tag = _DERIVED.get(tie.kind, f"{tie.pos} {tie.kind}")
        shares[tag] = shares.get(tag, 0.0) + use
    return _whole(shares) or {"other": 1.0}


def _files(
    wordnet: WordNet, ties: Sequence[Link], weights: Mapping[tuple[str, str], float]
) -> Shares:
    shares: Shares = {}
    for tie in ties:
        senses = wordnet.senses[tie.lemma, tie.pos]
        use = tie.share * weights[tie.lemma, tie.pos] / sum(c + 1.0 for _, c in senses)
        for synset, count in senses:
            file = f"file {wordnet.synsets[synset].file}"
            shares[file] = shares.get(file, 0.0) + use * (count + 1.0)
    return _whole(shares) or {"other": 1.0}


def _whole(shares: Shares) -> Shares:
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()} if total else {}


def _rows(shares_of: Sequence[Shares]) -> NDArray[np.float64]:
    """Return the square roots of shares, one column a name in order: (V, t)."""
    columns = {
        name: i for i, name in enumerate(sorted({n for s in shares_of for n in s}))
    }
    rows = np.zeros((len(shares_of), len(columns)))
    for row, shares in enumerate(shares_of):
        for name, share in shares.items():
            rows[row, columns[name]] = np.sqrt(share)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
