"""Words that many people wrote: words unchanged, meaning, readers, leaks, made cases.

    python -m benchmarks words [--texts 300] [--only gain leaks made read]

Lists of `dptext words build` are drawn with a fixed seed from the test data (each row
one person) and from made tickets (the package faker). *gain*: words found, and share of
words unchanged without a list, with the words that join by themselves, and with all;
*leaks*: marked persons, places and organisations of which every word is unchanged,
under the list of the same corpus and under that of news (the worst case, since news
name people); *made*: one customer with 300 records of a word, bots, an agent's
signature; *read*: cosine of tickets and reviews with their private versions
(all-MiniLM-L6-v2) and the words that a reader of the same kind of text finds
(tools.attackers). Prints tables for docs/results/own-words.md.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from benchmarks import presentable
from benchmarks.identities import corpora, measures
from benchmarks.private_rows import DATA, read_rows
from dptext import lexicons, pipeline, profile
from dptext.engine.corpus_words import Persons
from dptext.partition import Law
from dptext.pipeline import Pipeline
from dptext.randomness import Randomness, RunKey
from dptext.tokens import kinds
from dptext.tokens.candidates import Candidates
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Record
from dptext.word_file import JOINED, RECORD, Entry, WordFile

_SEED, _DELTA = 1, 1e-6
_ENTITIES = {"person": "persons", "place": "places", "organisation": "organisations"}
_BATCH = 2000
Rows = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Drawn:
    """A list: words that join by themselves, and all that may be confirmed."""

    joined: frozenset[str]
    every: frozenset[str]


def by_row(texts: Iterable[str]) -> list[tuple[str, str]]:
    """Return texts as those of a person each."""
    return [(str(number), text) for number, text in enumerate(texts)]


@cache
def candidates() -> Candidates:
    """Return the candidates of the profile readable."""
    lexicon = lexicons.find("builtin")
    return Candidates(_tokens(None), lexicon, lexicon)


def _tokens(words: frozenset[str] | None) -> Policy:
    """Return the policy of readable, with a list."""
    policy = profile.load("readable").tokens
    if not words:
        return policy
    return replace(policy, words=_listed(words))


def _listed(words: frozenset[str]) -> WordFile:
    law = Law.calibrate(1.0, _DELTA)
    return WordFile(
        epsilon=1.0,
        delta=_DELTA,
        unit=RECORD,
        persons=0,
        cap=64,
        sigma=law.sigma,
        rho=law.rho,
        lists="",
        profile="",
        version="",
        key="seed",
        draw="",
        entries=tuple(Entry(JOINED, word, "0") for word in sorted(words)),
    )


def draw(rows: Rows, epsilon: float) -> Drawn:
    """Draw the list of persons and their texts."""
    law = Law.calibrate(epsilon, _DELTA)
    randomness = Randomness(RunKey.from_seed(_SEED), f"benchmark {epsilon}")
    persons, found = Persons(law, randomness), candidates()
    for begin in range(0, len(rows), _BATCH):
        part = rows[begin : begin + _BATCH]
        words: dict[int, list[str]] = defaultdict(list)
        for number, word in found.find([text for _, text in part]):
            words[number].append(word)
        for number, (person, _) in enumerate(part):
            persons.add_to(person, begin + number, words[number])
    _, drawn = persons.finish().release(law, randomness)
    every = frozenset(each.word for each in drawn)
    return Drawn(frozenset(filter(found.joins, every)), every)


def unchanged(texts: Sequence[str], words: frozenset[str] | None) -> float:
    """Return the share of words that are unchanged under a list."""
    tokenizer = Tokenizer(lexicons.find("builtin"), _tokens(words))
    copied = total = 0
    for begin in range(0, len(texts), _BATCH):
        kind = tokenizer.words(texts[begin : begin + _BATCH]).flags & kinds.KIND
        is_word = kinds.WORDLIKE[kind] & ~np.isin(
            kind, (kinds.NUMBER, kinds.FORMED, kinds.IDENTIFIER)
        )
        total += int(is_word.sum())
        copied += int((kind == kinds.COMMON).sum())
    return copied / total


def gain() -> None:
    """Print words found and words unchanged, by corpus and epsilon."""
    tickets = presentable.tickets(2400)
    trustpilot = ("trustpilot_en_train", "trustpilot_en_test")
    news = ("agnews_train19k", "agnews_test5600")
    made = {
        "made tickets": [each.text for each in tickets],
        "reviews": [row["text"] for name in trustpilot for row in read_rows(name)],
        "film reviews": [row["text"] for row in read_rows("imdb_5k")],
        "news": [row["text"] for name in news for row in read_rows(name)],
    }
    print("| corpus | people | epsilon | joined | offered | without | joined | all |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, texts in made.items():
        rows, before = by_row(texts), unchanged(texts, None)
        for epsilon in (1.0, 4.0):
            drawn = draw(rows, epsilon)
            shares = (unchanged(texts, each) for each in (drawn.joined, drawn.every))
            counts = f"{len(drawn.joined)} | {len(drawn.every) - len(drawn.joined)}"
            after = " | ".join(f"{each:.1%}" for each in shares)
            print(
                f"| {name} | {len(rows):,} | {epsilon:g} | {counts} | {before:.1%} | "
                f"{after} |"
            )


def _left(marked: corpora.Marked, words: frozenset[str] | None) -> dict[str, float]:
    """Return the share of entities of which every word is unchanged, by kind."""
    tokenizer = Tokenizer(lexicons.find("builtin"), _tokens(words))
    there: dict[str, list[bool]] = defaultdict(list)
    texts = tokenizer.words(marked.texts)
    begins = np.concatenate(([0], texts.ends))
    kind = texts.flags & kinds.KIND
    for number, label, value in marked.values:
        if label not in _ENTITIES or not any(map(str.isalpha, value)):
            continue
        first, last = int(begins[number - 1]), int(begins[number])
        pieces = texts.pieces[first:last]
        there[label].append(_is_left(pieces, kind[first:last], value))
    return {_ENTITIES[name]: float(np.mean(each)) for name, each in there.items()}


def _is_left(pieces: Sequence[str], kind: np.ndarray, value: str) -> bool:
    """Tell whether the first place of a value in its text is unchanged."""
    text = "".join(pieces)
    at = text.find(value)
    if at < 0:
        return False
    ends = np.cumsum([len(each) for each in pieces])
    starts = ends - [len(each) for each in pieces]
    inside = (ends > at) & (starts < at + len(value))
    changed = ~np.isin(kind, (kinds.COMMON, kinds.PUNCTUATION, kinds.SPACE))
    return not bool((inside & changed).any())


def leaks() -> None:
    """Print the entities that are left, under no list, an own one, and one of news."""
    news = by_row(
        row["text"]
        for name in ("agnews_train19k", "agnews_test5600")
        for row in read_rows(name)
    )
    foreign = {epsilon: draw(news, epsilon) for epsilon in (1.0, 4.0)}
    print("| corpus | list | words | persons | places | organisations |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for name in ("wikigold", "wnut17", "btc"):
        marked = corpora.marked(DATA, name, 0)
        rows = by_row(marked.texts)
        lists: dict[str, frozenset[str] | None] = {"none": None}
        for epsilon in (1.0, 4.0):
            own = draw(rows, epsilon)
            for kind, drawn in (("own", own), ("news", foreign[epsilon])):
                lists[f"{kind}, epsilon {epsilon:g}, joined"] = drawn.joined
                lists[f"{kind}, epsilon {epsilon:g}, all"] = drawn.every
        for label, words in lists.items():
            left = _left(marked, words)
            shares = " | ".join(
                f"{left.get(each, 0):.1%}" for each in _ENTITIES.values()
            )
            print(f"| {name} | {label} | {len(words or ())} | {shares} |")


def made() -> None:
    """Print which planted words enter a list."""
    tickets = [each.text for each in presentable.tickets(2400)]
    rows = by_row(tickets)
    customer = [("one", "my grobnik is broken again")] * 300
    bots = [(f"bot {n}", "buy kwimbles now") for n in range(300)]
    signed = [(who, f"{text}\nAnswered by Ostrowell") for who, text in rows]
    cases = {
        "one customer, 300 records, by subject": ([*rows, *customer], "grobnik"),
        "one customer, 300 records, by record": (
            by_row([*tickets, *(text for _, text in customer)]),
            "grobnik",
        ),
        "300 bots with 300 addresses": ([*rows, *bots], "kwimbles"),
        "an agent who signs every reply": (signed, "Ostrowell"),
    }
    print("| case | word | in the list |")
    print("| --- | --- | --- |")
    for name, (corpus, word) in cases.items():
        drawn = draw(corpus, 1.0)
        state = "joined" if word in drawn.joined else "offered"
        print(f"| {name} | {word} | {state if word in drawn.every else 'no'} |")


def read(count: int) -> None:
    """Print how meaning and words survive for readers, with and without a list."""
    corpora_of = {
        "tickets": [each.text for each in presentable.tickets(2400)],
        "reviews": [
            row["text"]
            for name in ("trustpilot_en_test", "trustpilot_en_train")
            for row in read_rows(name)
        ],
    }
    print("| corpus | list | unchanged | cosine | other rows | reader |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for name, texts in corpora_of.items():
        shown, lists = texts[:count], dict[str, frozenset[str] | None](none=None)
        for epsilon in (1.0, 4.0):
            drawn = draw(by_row(texts), epsilon)
            lists[f"epsilon {epsilon:g}, joined"] = drawn.joined
            lists[f"epsilon {epsilon:g}, all"] = drawn.every
        for label, words in lists.items():
            ready = _pipeline(words)
            after = [
                new
                for _, (new,) in ready.run(
                    (Record(n, (text,), None) for n, text in enumerate(shown)),
                    RunKey.from_seed(_SEED),
                )
            ]
            cosine = measures.cosines(shown, after) or {}
            found = measures.reader_of_the_kind(ready, "reviews", shown, _SEED)
            reader = "not measured"
            if found:
                reader = f"{found['found']:.1%} of {found['words']:,}"
            print(
                f"| {name} | {label} | {unchanged(shown, words):.1%} | "
                f"{cosine.get('same', 'not measured')} | "
                f"{cosine.get('other_rows', '')} | {reader} |"
            )


def _pipeline(words: frozenset[str] | None) -> Pipeline:
    recipe = profile.load("readable")
    recipe = replace(recipe, tokens=_tokens(words))
    return pipeline.build(recipe, lexicons.find("builtin"))


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=300)
    parts: dict[str, Callable[[], None]] = {"gain": gain, "leaks": leaks, "made": made}
    names = (*parts, "read")
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    arguments = parser.parse_args()
    for name in arguments.only:
        print(f"\n{name}\n")
        if name == "read":
            read(arguments.texts)
        else:
            parts[name]()


if __name__ == "__main__":
    main()
