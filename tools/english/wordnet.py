"""The WordNet 3.0 database, and its facts about words: use, relations, polarity.

How much a lemma is used divides a word among its parts of speech: the tagged counts of
WordNet (SemCor) and a prior for how ordinary a lemma is, with rules of thumb as its
constants. Verbs, adjectives and adverbs are more ordinary than nouns, several senses
and derived words more than one, names of animals and plants less. No corpus is read.

Polarity, good or bad, is spread from a few dozen seed words (lists): their
meanings pass it on to similar, derived and related meanings and to those with
definitions that name them; an antonym, or a "not" before the word in a definition,
turns it round.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError
from dptext.tokens import kinds
from dptext.tokens.language_data import sections
from dptext.tokens.regex import key_of, kind_of, split

# Lists written by hand.
LISTS = Path(__file__).with_name("lists")
# Part of speech -> the ending of its files, in the order in which synsets are numbered.
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_TYPES = ("n", "v", "a", "r", "a")  # ss_type 1..5 of a sense key; 5 is a satellite
LemmaWeights = Mapping[tuple[str, str], float]  # (lemma, part of speech) -> use
_Raw = tuple[str, int, int, tuple[str, ...], list[tuple[str, str, int, str]], str]
# An example is running English, a definition is not.
EXAMPLE_WEIGHT = 2.0
DEFINITION_WEIGHT = 1.0
TAGGED_WEIGHT = 3.0
# SemCor tags names with these lemmas, so that their counts are not those of the words.
NAME_TAGS = frozenset({"person", "group", "location"})
# Short words are used more (Zipf's law of abbreviation); up to these lengths.
_BREVITY = ((5, 2.5), (7, 2.0), (9, 1.4), (11, 1.0))
_LONG = 0.6
_ORDINARY = {"n": 0.5, "v": 1.0, "a": 0.8, "r": 0.8}
# Lexicographer files: animal, body, plant, substance; Latin and chemistry.
_TECHNICAL_FILES = frozenset({5, 20, 27})
_TECHNICAL = 0.25
# A shared meaning must be at least this part of the use of both words.
SMALLEST = 0.05
MOST = 12
_RELATIONS = {"&": 1.0, "!": -1.0, "^": 0.6, "+": 0.8, "\\": 0.8, "*": 0.4, "@": 0.15}
_NEGATIVE = frozenset(
    "not no without lacking lack nor never free devoid failing freedom absence".split()
)
_REACH = 3  # words after a negation that it turns round
_STEPS = 12
_KEPT = 0.85  # of what the neighbours say; the rest is a seed's own
_SCALE = 0.04  # the polarity at which a word counts as fairly good or bad


@dataclass(frozen=True, slots=True)
class Pointer:
    """A relation to another synset; source and target number lemmas, 0 for all."""

    symbol: str
    target: int
    source_lemma: int
    target_lemma: int


@dataclass(frozen=True, slots=True)
class Synset:
    """One meaning: its lemmas as written (spaces for underscores) and its gloss.

    file is the lexicographer's file number: 5 animals, 18 persons, 20 plants.
    """

    pos: str
    file: int
    lemmas: tuple[str, ...]
    pointers: tuple[Pointer, ...]
    gloss: str


@dataclass(frozen=True, slots=True)
class WordNet:
    """The database.

    senses: (lower-case lemma, part of speech) -> (synset, tagged count) by sense;
    exceptions: part of speech -> (irregular form, base form) pairs in file order.
    """

    synsets: tuple[Synset, ...]
    senses: Mapping[tuple[str, str], tuple[tuple[int, int], ...]]
    exceptions: Mapping[str, tuple[tuple[str, str], ...]]

    def named(self, lemma: str, pos: str) -> list[Synset]:
        """Return the meanings of a lemma, the first sense first."""
        return [self.synsets[number] for number, _ in self.senses[lemma, pos]]


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """A form's tie to its lemma: (lemma, part of speech), kind and share of its use."""

    lemma: str
    pos: str
    kind: str
    share: float


Links = Mapping[str, tuple[Link, ...]]  # key of a word -> its ties to lemmas


def read_database(folder: Path) -> WordNet:
    """Read the database from a folder that holds data.noun, index.sense and so on."""
    raw = [row for pos in FILES for row in _synsets(folder, pos)]
    numbers = {(pos, offset): i for i, (pos, offset, *_) in enumerate(raw)}
    synsets = tuple(
        Synset(pos, file, lemmas, tuple(_resolved(pointers, numbers)), gloss)
        for pos, _, file, lemmas, pointers, gloss in raw
    )
    exceptions = {pos: tuple(_exceptions(folder, pos)) for pos in FILES}
    return WordNet(synsets, _senses(folder, numbers), exceptions)


def digest_of_database(folder: Path) -> str:
    """Return the sha256 of the names and contents of the files that `read` reads."""
    hasher = hashlib.sha256()
    data = (f"data.{ending}" for ending in FILES.values())
    odd = (f"{ending}.exc" for ending in FILES.values())
    for name in (*data, *odd, "index.sense"):
        content = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        hasher.update(f"{name} {content}\n".encode())
    return hasher.hexdigest()


def _lines(path: Path) -> Iterator[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise LexiconError(
            f"{path}: {error.strerror}; give the folder of the WordNet 3.0 database "
            "(Debian packages wordnet-base and wordnet-sense-index)"
        ) from None
    except UnicodeDecodeError:
        raise LexiconError(f"{path}: not a WordNet 3.0 file") from None
    return iter(text.splitlines())


def _synsets(folder: Path, pos: str) -> Iterator[_Raw]:
    path = folder / f"data.{FILES[pos]}"
    for number, line in enumerate(_lines(path), 1):
        if line.startswith("  "):  # the licence stands in front
            continue
        try:
            yield _synset(pos, line)
        except (ValueError, IndexError):
            msg = f"{path}: line {number} is not a WordNet 3.0 synset"
            raise LexiconError(msg) from None


def _synset(pos: str, line: str) -> _Raw:
    data, _, gloss = line.partition("|")
    parts = data.split()
    count = int(parts[3], 16)
    lemmas = tuple(_plain(parts[4 + 2 * i]) for i in range(count))
    at = 4 + 2 * count
    first = at + 1
    pointers = [
        (parts[i], parts[i + 2], int(parts[i + 1]), parts[i + 3])
        for i in range(first, first + 4 * int(parts[at]), 4)
    ]
    return pos, int(parts[0]), int(parts[1]), lemmas, pointers, gloss.strip()


def _plain(lemma: str) -> str:
    """Drop the adjective's place marker, "(a)", "(p)" or "(ip)"."""
    return lemma.partition("(")[0].replace("_", " ")


def _resolved(
    pointers: list[tuple[str, str, int, str]], numbers: Mapping[tuple[str, int], int]
) -> Iterator[Pointer]:
    for symbol, pos, offset, ends in pointers:
        target = numbers.get((pos, offset))
        if target is not None:
            yield Pointer(symbol, target, int(ends[:2], 16), int(ends[2:], 16))


def _senses(
    folder: Path, numbers: Mapping[tuple[str, int], int]
) -> dict[tuple[str, str], tuple[tuple[int, int], ...]]:
    path = folder / "index.sense"
    senses: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for number, line in enumerate(_lines(path), 1):
        try:
            key, offset, position, count = line.split()
            lemma, _, rest = key.partition("%")
            pos = _TYPES[int(rest[0]) - 1]
            synset = numbers[pos, int(offset)]
            sense = (int(position), synset, int(count))
        except (ValueError, IndexError, KeyError):
            msg = f"{path}: line {number} does not fit the data files"
            raise LexiconError(msg) from None
        senses.setdefault((lemma.replace("_", " "), pos), []).append(sense)
    return {
        key: tuple((synset, count) for _, synset, count in sorted(senses[key]))
        for key in sorted(senses)
    }


def _exceptions(folder: Path, pos: str) -> Iterator[tuple[str, str]]:
    for line in _lines(folder / f"{FILES[pos]}.exc"):
        form, *bases = line.split()
        for base in bases:
            yield form.replace("_", " "), base.replace("_", " ")


def split_words(text: str) -> Iterator[str]:
    """Yield the words of a text as the splitter of dptext sees them."""
    for piece in split(text):
        if kind_of(piece) == kinds.WORD:
            yield piece.strip().replace("’", "'")


def gloss_words(synset: Synset) -> Iterator[tuple[str, float, bool]]:
    """Yield each word of a gloss, its weight, and whether it begins an example."""
    for number, text in enumerate(synset.gloss.split('"')):
        weight = EXAMPLE_WEIGHT if number % 2 else DEFINITION_WEIGHT
        for position, word in enumerate(split_words(text)):
            yield word, weight, bool(number % 2) and not position


def used_in_glosses(wordnet: WordNet) -> Counter[str]:
    """Count the words of all glosses by key, those of examples more."""
    used = Counter[str]()
    for synset in wordnet.synsets:
        for word, weight, _ in gloss_words(synset):
            used[key_of(word)] += weight  # type: ignore[assignment]
    return used


def lemma_weights(wordnet: WordNet) -> LemmaWeights:
    """Return (lemma, part of speech) -> tagged use plus the prior for ordinariness."""
    return {
        (lemma, pos): TAGGED_WEIGHT * _tagged(lemma, senses)
        + _brevity(lemma) * _ordinary(pos, wordnet.named(lemma, pos))
        for (lemma, pos), senses in wordnet.senses.items()
        if " " not in lemma
    }


def _tagged(lemma: str, senses: tuple[tuple[int, int], ...]) -> int:
    return 0 if lemma in NAME_TAGS else sum(count for _, count in senses)


def _ordinary(pos: str, synsets: Sequence[Synset]) -> float:
    derived = sum(p.symbol in "+\\" for synset in synsets for p in synset.pointers)
    several = len(synsets) - 1
    prior = _ORDINARY[pos] + 0.7 * several + 0.15 * min(derived, 6)
    if all(synset.file in _TECHNICAL_FILES for synset in synsets):
        prior *= _TECHNICAL
    return prior


def _brevity(lemma: str) -> float:
    return next((factor for most, factor in _BREVITY if len(lemma) <= most), _LONG)


def synonyms(
    wordnet: WordNet, words: Sequence[str], links: Links
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return (ends (V,), ids (s,)): those of x are ids[ends[x - 1] : ends[x]].

    Synonyms are words in the same inflection with lemmas of one synset; all words are
    keys. The most alike come first: by the product of the parts that the shared
    meanings have in the use of both words, then by id.
    """
    bearing = _bearing(wordnet, words, links)
    weights: list[dict[int, float]] = [{} for _ in words]
    for members in bearing.values():
        for x, part in members:
            for y, other in members:
                if x != y:
                    weights[x][y] = weights[x].get(y, 0.0) + part * other
    chosen = [
        [y for _, y in sorted((-weight, y) for y, weight in alike.items())[:MOST]]
        for alike in weights
    ]
    ends = np.cumsum([len(ids) for ids in chosen]).astype(np.int32)
    return ends, np.array([y for ids in chosen for y in ids], np.int32)


def _bearing(
    wordnet: WordNet, words: Sequence[str], links: Links
) -> dict[tuple[int, str], list[tuple[int, float]]]:
    """Return (synset, inflection) -> the words that can express it, with their part."""
    bearing: dict[tuple[int, str], list[tuple[int, float]]] = {}
    for x, word in enumerate(words):
        for link in links.get(word, ()):
            senses = wordnet.senses[link.lemma, link.pos]
            total = sum(count + 1.0 for _, count in senses)
            for synset, count in senses:
                if (part := (count + 1.0) / total) >= SMALLEST:
                    bearing.setdefault((synset, link.kind), []).append((x, part))
    return bearing


def antonyms(wordnet: WordNet, keys: Sequence[str], links: Links) -> list[list[int]]:
    """Return for each word those that mean the opposite, in any inflection.

    For all forms of the two lemmas: "hotter" stands for no form of "cold".
    """
    bearing: dict[tuple[str, str], list[int]] = {}
    for row, key in enumerate(keys):
        for link in links.get(key, ()):
            bearing.setdefault((link.lemma, link.pos), []).append(row)
    opposites: list[set[int]] = [set() for _ in keys]
    for synset in wordnet.synsets:
        for pointer in synset.pointers:
            if pointer.symbol == "!":
                other = wordnet.synsets[pointer.target]
                one = synset.lemmas[pointer.source_lemma - 1].lower(), synset.pos
                two = other.lemmas[pointer.target_lemma - 1].lower(), other.pos
                for here, there in ((one, two), (two, one)):
                    for row in bearing.get(here, ()):
                        opposites[row].update(bearing.get(there, ()))
    return [sorted(others - {row}) for row, others in enumerate(opposites)]


def information_content(
    wordnet: WordNet,
    words: Sequence[str],
    links: Links,
    prior: NDArray[np.float64],
    grammatical: frozenset[str],
) -> NDArray[np.float32]:
    """Return how much is said by naming a word's meanings (Resnik 1995): (V,), nats.

    The mean over the synsets of its lemmas. Grammatical words and words outside WordNet
    have -ln of their share of the public prior (V,) instead.
    """
    by_synset = content_of_synsets(wordnet)
    content = -np.log(prior)
    for row, word in enumerate(words):
        lemmas = sorted({(link.lemma, link.pos) for link in links.get(word, ())})
        numbers = [n for lemma in lemmas for n, _ in wordnet.senses[lemma]]
        if numbers and word not in grammatical:
            content[row] = by_synset[numbers].mean()
    return content.astype(np.float32)


def content_of_synsets(wordnet: WordNet) -> NDArray[np.float64]:
    """Return -ln of the share of each synset and all below it: (s,) nats.

    Tagged counts plus one, so that every synset has some; the whole is that of its part
    of speech. Adjectives and adverbs have nothing below them.
    """
    uses = np.ones(len(wordnet.synsets))
    for senses in wordnet.senses.values():
        for synset, count in senses:
            uses[synset] += count
    total = np.zeros(len(uses))
    use_of_part: Counter[str] = Counter()
    for number, meaning in enumerate(wordnet.synsets):
        ancestors = [number]  # grows on the way up, each once
        for here in ancestors:
            ancestors += dict.fromkeys(
                pointer.target
                for pointer in wordnet.synsets[here].pointers
                if pointer.symbol in ("@", "@i") and pointer.target not in ancestors
            )
        total[ancestors] += uses[number]
        use_of_part[meaning.pos] += int(uses[number])
    shares = np.array([use_of_part[meaning.pos] for meaning in wordnet.synsets])
    return np.asarray(np.log(shares / total))


def polarity(
    wordnet: WordNet, words: Sequence[str], links: Links, weights: LemmaWeights
) -> NDArray[np.float64]:
    """Return the polarity of words (keys), -1 bad to 1 good: (V,)."""
    by_synset = np.tanh(_polarity_of_synsets(wordnet, links) / _SCALE)
    polarities = np.zeros(len(words))
    for row, word in enumerate(words):
        total = uses = 0.0
        for link in links.get(word, ()):
            use = link.share * weights[link.lemma, link.pos]
            turned = -1.0 if link.kind == "un" else 1.0
            senses = wordnet.senses[link.lemma, link.pos]
            counts = np.array(
                [count + 1.0 / (1 + i) for i, (_, count) in enumerate(senses)]
            )
            of_senses = by_synset[[number for number, _ in senses]]
            total += turned * use * float(counts @ of_senses / counts.sum())
            uses += use
        polarities[row] = total / uses if uses else 0.0
    return polarities


def _polarity_of_synsets(wordnet: WordNet, links: Links) -> NDArray[np.float64]:
    """Spread the seeds: (s,), near 0 for meanings that no seed reaches."""
    seeds = np.zeros(len(wordnet.synsets))
    for name, lemmas in sections("polarity", LISTS):
        sign, pos = name.split()
        for lemma in lemmas:
            senses = wordnet.senses.get((lemma, pos), ())
            for position, (synset, _) in enumerate(senses):
                seeds[synset] += (1.0 if sign == "good" else -1.0) / (1 + position) ** 2
    heard = [
        (row, column, part)
        for row, synset in enumerate(wordnet.synsets)
        for column, part in sorted(_heard(wordnet, synset, links).items())
    ]
    table = np.array(heard, np.float64).reshape(-1, 3)
    rows, columns, parts = *table[:, :2].T.astype(np.intp), table[:, 2]
    here = seeds.copy()
    for _ in range(_STEPS):  # bincount adds one by one, in this order
        here = (1.0 - _KEPT) * seeds + _KEPT * np.bincount(
            rows, parts * here[columns], len(seeds)
        )
    return here


def _heard(wordnet: WordNet, synset: Synset, links: Links) -> dict[int, float]:
    """Return what a meaning hears from others, in parts of absolute sum 1 at most."""
    ties = [
        (pointer.target, _RELATIONS[pointer.symbol])
        for pointer in synset.pointers
        if pointer.symbol in _RELATIONS
    ]
    ties += _heard_from_definition(wordnet, synset, links)
    strength = sum(abs(part) for _, part in ties)
    heard: dict[int, float] = {}
    for column, part in ties:
        heard[column] = heard.get(column, 0.0) + part / max(strength, 1.0)
    return heard


def _heard_from_definition(
    wordnet: WordNet, synset: Synset, links: Links
) -> list[tuple[int, float]]:
    """Return the first meanings of the words of a definition, with sign and weight."""
    signs: list[tuple[int, float]] = []
    turned = 0
    for word in split_words(" ".join(synset.gloss.split('"')[::2])):
        key = key_of(word)
        if key in _NEGATIVE:
            turned = _REACH
            continue
        turned -= 1
        ties = links.get(key, ())
        if not ties or len(key) < 3:
            continue
        tie = max(ties, key=lambda t: (t.pos == "a", t.share, t.lemma))
        senses = wordnet.senses[tie.lemma, tie.pos]
        signs.append((senses[0][0], -1.0 if turned >= 0 else 1.0))
    return [(number, sign / len(signs)) for number, sign in signs]
