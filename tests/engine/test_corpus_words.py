"""Counting persons for a list of words: their words, their weights, their memory."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext.engine.corpus_words import Persons, Sums
from dptext.partition import CAP, Law
from dptext.randomness import Randomness, RunKey

LAW = Law.calibrate(1.0, 1e-6)
ONE = LAW.weight(1)
NAMES = st.sampled_from("abcdefg")


def source(seed: int = 1) -> Randomness:
    """Return the randomness of a build."""
    return Randomness(RunKey.from_seed(seed), "tests")


def counted(
    records: Iterable[tuple[str, list[str]]], randomness: Randomness | None = None
) -> Sums:
    """Return the sums of records of persons."""
    persons = Persons(LAW, randomness or source())
    for number, (person, words) in enumerate(records):
        persons.add_to(person, number, words)
    return persons.finish()


def by_word(sums: Sums) -> dict[str, int]:
    """Return the sum of each word."""
    return dict(zip(sums.words, sums.sums.tolist(), strict=True))


def test_records_of_a_person_count_once() -> None:
    """300 records of one customer are one person, and 300 records as many."""
    records = [("c", ["grobnik"])] * 300 + [("d", ["grobnik", "hassle"])]
    sums = counted(records)
    assert by_word(sums) == {"grobnik": ONE + LAW.weight(2), "hassle": LAW.weight(2)}
    assert sums.persons == 2
    alone = Persons(LAW, source())
    for _, words in records:
        alone.add_record(words)
    assert by_word(alone.finish())["grobnik"] == 300 * ONE + LAW.weight(2)


def test_a_word_of_one_person_is_not_released_and_one_of_many_is() -> None:
    """By subject 300 records of one planted word do not join; by record they do."""
    many = [(str(n), ["kwimbles"]) for n in range(300)]
    records = many + [("one", ["grobnik"])] * 300
    _, drawn = counted(records).release(LAW, source())
    assert [each.word for each in drawn] == ["kwimbles"]
    alone = Persons(LAW, source())
    for _, words in records:
        alone.add_record(words)
    _, drawn = alone.finish().release(LAW, source())
    assert {each.word for each in drawn} == {"kwimbles", "grobnik"}


@given(st.lists(st.tuples(NAMES, st.lists(NAMES, max_size=4)), max_size=12))
@settings(max_examples=60, deadline=None)
def test_the_sums_are_those_of_sets(records: list[tuple[str, list[str]]]) -> None:
    """However records are spread, and whatever their order."""
    sets: dict[str, set[str]] = {}
    for person, words in records:
        sets.setdefault(person, set()).update(words)
    expected: dict[str, int] = {}
    for found in sets.values():
        for word in found:
            expected[word] = expected.get(word, 0) + LAW.weight(len(found))
    sums = counted(records)
    assert by_word(sums) == expected
    assert sums.persons == len(sets)
    other = counted(reversed(records))
    assert (other.words, other.digest) == (sums.words, sums.digest)
    assert other.release(LAW, source()) == sums.release(LAW, source())


def test_the_cap_keeps_words_by_a_keyed_hash() -> None:
    """Of 200 words 64 stay, in any order; another key keeps others."""
    words = [f"w{n}" for n in range(200)]
    kept = by_word(counted([("p", words)]))
    assert len(kept) == CAP
    assert set(kept.values()) == {LAW.weight(CAP)}
    mixed = random.Random(3).sample(words, 200)
    spread = [("p", mixed[n : n + 7]) for n in range(0, 200, 7)]
    assert by_word(counted(spread * 2)) == kept
    other = set(by_word(counted([("p", words)], source(2))))
    assert other != set(kept)


def test_equal_corpora_are_one_draw_and_others_are_not() -> None:
    """Under one key; a neighbour has independent noise on all words."""
    records = [(str(n), ["kwimbles", "hassle"]) for n in range(200)]
    one = counted(records).release(LAW, source())
    assert counted(records[::-1]).release(LAW, source()) == one
    neighbour = counted([*records, ("new", ["grobnik"])]).release(LAW, source())
    assert neighbour[0] != one[0]
    assert [each.sum for each in neighbour[1]] != [each.sum for each in one[1]]
    assert counted(records).release(LAW, source(2))[1] != one[1]


def test_a_record_without_words_that_count_changes_the_draw() -> None:
    """Else an equal list would tell that whoever was added has no such words."""

    def drawn(*records: tuple[str, ...]) -> str:
        persons = Persons(LAW, source())
        for number in range(200):
            persons.note(str(number), ["my kwimbles"])
            persons.add_to(str(number), number, ["kwimbles"])
        for person, *texts in records:
            persons.note(person, texts)
            persons.add_to(person, 0, [])
        return persons.finish().release(LAW, source())[0]

    corpora: tuple[list[tuple[str, ...]], ...] = (
        [],
        [("a", "good")],
        [("b", "good")],
        [("a", "good", "")],
        [("a", "goo", "d")],
        [("a", "good"), ("a", "good")],
    )
    assert len({drawn(*records) for records in corpora}) == len(corpora)
    assert drawn(("a", "good"), ("b", "bad")) == drawn(("b", "bad"), ("a", "good"))


def test_nothing_is_held_of_a_record_beyond_the_cap() -> None:
    """Without persons memory does not grow with records, and a person is bounded."""
    words = [f"w{n}" for n in range(300)]
    chosen = random.Random(5)

    def grown(add: int, named: int) -> int:
        persons = Persons(LAW, source())
        for each in words:
            persons.add_record([each])
        records = [chosen.sample(words, 100) for _ in range(add)]
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for number, some in enumerate(records):
            if named:
                persons.add_to(str(number % named), number, some)
            else:
                persons.add_record(some)
        after = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return after - before

    # Less than a number for each record.
    assert grown(60, 0) < 60 * 30
    # Numbers and hashes of 64 words, 8 bytes each, and what holds them.
    assert grown(80, 20) < 20 * (2 * 8 * CAP + 1_000)


def test_empty_corpora_release_nothing() -> None:
    """Persons without candidates count, and no noise makes a word."""
    sums = counted([("a", []), ("b", [])])
    assert (sums.persons, sums.words) == (2, ())
    assert sums.release(LAW, source())[1] == []
    assert isinstance(sums.sums, np.ndarray)
