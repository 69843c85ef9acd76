"""Values that must not appear are found in private texts, whole and in part."""

from __future__ import annotations

import dataclasses
import json
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from dptext.errors import InputError, UsageError
from dptext.evaluation.identities import (
    LISTED,
    Identities,
    IdentityFile,
    IdentityMeter,
    common_words,
    folded_words,
)
from dptext.evaluation.rows import Pair
from dptext.evaluation.run import EvaluationSettings, evaluate
from tests import small

COMMON = frozenset({"the", "of", "may", "house", "called"})


def meter(*values: str | tuple[str, str]) -> IdentityMeter:
    """Return a meter of values, each for all records or with its record."""
    given = ((v, None) if isinstance(v, str) else v for v in values)
    return IdentityMeter(Identities.prepare(given, COMMON))


def pair(before: str, after: str) -> Pair:
    """Return a record of one text."""
    return Pair((before,), (after,))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Anna Smith", "dear ANNA  smith, hello"),
        ("Anna Smith", "Anna\nSmith"),
        ("Anna Smith", "Mrs.Anna-Smith's"),
        ("Anna Smith", "An\u00adna Smi\u200bth"),
        ("José", "Jose\u0301 wrote"),
        ("STRASSE 5", "Straße 5"),
        ("ﬁnn", "Finn"),
        ("４１１１ 1111", "4111-1111"),
        ("anna.smith@x.org", "<Anna.Smith@X.org>"),
        ("+49 (30) 1234", "tel. +49 30 1234"),
        ("田中", "私は田中です"),
        ("สมชาย", "คุณสมชายครับ"),
        ("Δελής", "ΔΕΛΉΣ"),
    ],
)
def test_a_value_is_found_in_every_spelling(value: str, text: str) -> None:
    """Capitals, marks, spaces, unseen characters and compatible ones do not count."""
    counted = meter(value)
    counted.add([pair(value, text)])
    assert counted.result().whole.count == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Anna Smith", "Anna was Smith"),
        ("Anna Smith", "Smith Anna"),
        ("Ann", "Anna"),
        ("1234", "12345"),
        ("Anna Smith", "Anna"),
    ],
)
def test_other_values_are_not(value: str, text: str) -> None:
    """Words must be whole, side by side and in order."""
    counted = meter(value)
    counted.add([pair(value, text)])
    assert counted.result().whole.count == 0


def test_texts_of_a_record_are_apart() -> None:
    """A value does not stand in the end of one text and the beginning of the next."""
    counted = meter("Anna Smith")
    counted.add([Pair(("Anna Smith", "x"), ("is Anna", "Smith is"))])
    assert counted.result().whole.count == 0
    assert counted.result().in_part.count == 1


def test_a_common_word_is_no_part() -> None:
    """Nor is an initial: of "May J. House of Zqx" only the unknown word tells."""
    counted = meter("May J. House of Zqx")
    text = "May J. House of Zqx"
    counted.add([pair(text, "the house of J may"), pair(text, "zqx's")])
    found = counted.result()
    assert (found.occurrences, found.whole.count, found.in_part.count) == (2, 0, 1)


def test_overlapping_values_are_all_found() -> None:
    """As by looking for each of them alone, on random texts."""
    rng = random.Random(5)
    letters = "abcde"

    def words(low: int, high: int) -> str:
        return " ".join(rng.choice(letters) * 2 for _ in range(rng.randint(low, high)))

    values = {words(1, 4) for _ in range(60)}
    prepared = Identities.prepare(((value, None) for value in values), ())
    for _ in range(200):
        text = words(0, 12)
        found = prepared.whole(folded_words(text))
        alone = {prepared.values[v] for v in values if f" {v} " in f" {text} "}
        assert found == alone


def test_spans_belong_to_their_record() -> None:
    """By number, or by id; what the original lacks is counted as missing there."""
    counted = meter(("Will", "1"), ("Hope", "2"))
    counted.add([pair("Will wrote", "Will wrote"), pair("they will", "they will")])
    found = counted.result()
    assert (found.occurrences, found.whole.count, found.not_in_originals) == (1, 1, 1)
    counted = meter(("Will", "b"))
    counted.add([Pair(("Will",), ("Will",), (), name) for name in ("a", "b")])
    assert counted.result().occurrences == 1


def test_chance_is_that_of_other_records() -> None:
    """One name of ten, drawn anew from these, is right by chance: 10%.

    The originals have other values in their places. With 2,000 records the share by
    chance is within 2 points, and limits hold the truth; seed fixed.
    """
    rng = random.Random(7)
    names = [f"name{n}x" for n in range(10)]
    counted = meter(*names)
    rows = [
        pair(f"{rng.choice(names)} called", f"{rng.choice(names)} called")
        for _ in range(2000)
    ]
    for begin in range(0, 2000, 500):
        counted.add(rows[begin : begin + 500])
    found = counted.result()
    whole = found.whole
    assert whole.by_chance == pytest.approx(0.1, abs=0.02)
    assert whole.by_chance_low is not None
    assert whole.by_chance_high is not None
    assert whole.by_chance_low < 0.1 < whole.by_chance_high
    assert whole.low < 0.1 < whole.high
    assert found.elsewhere == 2000 - whole.count


def test_copied_values_stand_out_against_chance() -> None:
    """A copy of a value in another record with that value is no chance finding."""
    counted = meter("Anna", "Bert")
    counted.add([pair("Anna", "Anna"), pair("Bert", "zz"), pair("Anna", "Anna")])
    whole = counted.result().whole
    assert (whole.count, whole.by_chance) == (2, 0.0)
    assert whole.by_chance_high is not None
    assert whole.by_chance_high > 0.5  # of two records


def test_records_are_told_apart_from_the_figures() -> None:
    """Their numbers are held for the screen, the first ones, and in no result."""
    counted = meter("Anna Smith")
    counted.add([pair("Anna Smith", "Anna Smith")] * (LISTED + 3))
    counted.add([pair("Anna Smith", "Smith"), pair("nobody", "Anna Smith")])
    assert counted.whole_records == list(range(1, LISTED + 1))
    assert counted.part_records == [LISTED + 4]
    assert counted.unlisted == (3, 0)
    held = msgspec.json.encode(counted.result())
    assert b"[" not in held


def test_memory_does_not_grow_with_the_texts() -> None:
    """Ten times the records, the same peak within 10%."""

    def rows(count: int) -> Iterator[list[Pair]]:
        for number in range(count):
            yield [pair(f"Anna {number}", f"Anna x{number}") for _ in range(50)]

    def peak(count: int) -> int:
        counted = meter("Anna", "Bert")
        tracemalloc.start()
        for batch in rows(count):
            counted.add(batch)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(5)
    # The lower of two: something else may be loaded meanwhile, but not twice.
    most, least = (min(peak(count) for _ in range(2)) for count in (200, 20))
    assert most < 1.1 * least + 20_000


def test_files_of_values(tmp_path: Path) -> None:
    """Lines, a column, a field, spans; numbers are values, nulls are not."""
    lines = tmp_path / "names.txt"
    lines.write_text("Anna Smith\n\n♥\nANNA smith\n")
    table = tmp_path / "names.csv"
    table.write_text('id,name\n1,"Smith, Anna"\n2,Bert\n')
    fields = tmp_path / "names.jsonl"
    objects = [{"who": {"name": "Anna"}, "record": 9}, {"who": None}, {"x": 1}]
    fields.write_text("".join(json.dumps(each) + "\n" for each in objects))
    spans = tmp_path / "spans.jsonl"
    objects = [{"text": "Anna", "record": 3}, {"text": 4111, "record": "a"}]
    spans.write_text("".join(json.dumps(each) + "\n" for each in objects))
    found = IdentityFile(str(lines)).values(())
    assert (dict(found.values), found.unsearchable) == ({"anna smith": 0}, 1)
    found = IdentityFile(str(table), "name").values(())
    assert [*found.values] == ["smith anna", "bert"]
    found = IdentityFile(str(fields), "who.name").values(())
    assert ([*found.values], found.records) == (["anna"], {})
    found = IdentityFile(str(spans)).values(())
    assert found.records == {"3": frozenset({0}), "a": frozenset({1})}
    assert found.everywhere == frozenset()


def test_files_without_values(tmp_path: Path) -> None:
    """A line says what to do, and shows nothing of the file."""
    path = tmp_path / "names.csv"
    path.write_text("id,name\n1,Zqxj\n")
    with pytest.raises(
        InputError, match=r"the field 'text' of --identities-field"
    ) as error:
        IdentityFile(str(path)).values(())
    assert "Zqxj" not in str(error.value)
    path = tmp_path / "names.txt"
    path.write_text("♥\n")
    with pytest.raises(InputError, match="no value to search for"):
        IdentityFile(str(path)).values(())
    with pytest.raises(UsageError, match="leave the option out"):
        IdentityFile(str(path), "name")
    with pytest.raises(UsageError, match="several times: give a file"):
        IdentityFile("-")


def test_common_words_are_those_of_the_lexicon() -> None:
    """The most frequent, by count, and the stop words of its language."""
    lexicon = small.cloud(40, 3)
    common = common_words(lexicon, 5)
    assert {word.lower() for word in lexicon.words[:5]} - {"<number>"} <= common
    assert "the" in common


def test_an_evaluation_has_them(tmp_path: Path) -> None:
    """Beside its other figures, if a file is given."""
    lexicon = small.cloud(40, 3)
    path = tmp_path / "names.txt"
    path.write_text("Zqxj\n")
    rows = [pair("Zqxj w1", "w2 w1"), pair("Zqxj w1", "Zqxj w1")]
    counted = IdentityMeter.from_file(IdentityFile(str(path)), lexicon)
    result = evaluate(
        rows,
        lexicon=lexicon,
        settings=EvaluationSettings(),
        writer=None,
        identities=counted,
    )
    assert result.identities is not None
    assert dataclasses.replace(result.identities, sha256="").file == "names.txt"
    assert (result.identities.whole.count, result.identities.occurrences) == (1, 2)
    assert evaluate(rows, lexicon, EvaluationSettings()).identities is None
