"""Counts do not depend on the grouping of texts, to the last digit."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import dptext
from dptext import registry
from dptext.engine.tally import Counted, Meters, Tally
from dptext.errors import ComponentError, UsageError
from dptext.lexicons.word_classes import SpecialRecords
from dptext.metrics import Batch, similarity
from dptext.pipeline import Privatized
from dptext.report import answer, delicate, document
from dptext.report.units import drawn_pieces
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.writing.joining import Joined
from tests import small
from tests.cli.running import here
from tests.metrics.batches import batch

LEXICON = small.cloud(300, 50)
METERS = Meters(LEXICON)
TOKENIZER = Tokenizer(LEXICON, Policy())


def texts(count: int) -> list[str]:
    """Draw texts of 0 to 300 words, unknown words and numbers among them."""
    rng = np.random.default_rng(7)
    words = np.array([*LEXICON.words[:-1], "zq", "17", "."])
    return [" ".join(rng.choice(words, rng.integers(0, 300))) for _ in range(count)]


def counted(batches: Sequence[Sequence[str]]) -> Counted:
    """Count texts in batches; the drawn words follow from the text alone."""
    total, first = METERS.observe(Batch.empty()), 0
    for each in batches:
        words = TOKENIZER.words(each)
        drawn = ((words.ids + 7) % len(LEXICON.words)).astype(np.int32)
        eps = 0.1 + np.abs(np.sin(words.ids))
        total = METERS.merge(
            total, METERS.observe(batch(LEXICON, words, drawn, eps, first))
        )
        first += len(each)
    return total


def figures(total: Counted) -> tuple[Any, ...]:
    """Return all that a report says of counted texts."""
    epsilons = METERS.epsilons.result(total.epsilons)
    tokens = total.tokens.tolist()
    return tokens, total.words, epsilons, METERS.results(total)


@pytest.mark.parametrize("seed", range(6))
def test_figures_are_the_same_for_all_groupings(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums of floats, quantiles, rare words and the sample of CS: all exactly."""
    monkeypatch.setattr(similarity, "_TEXTS", 83)
    every = texts(150)
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.choice(np.arange(1, len(every)), 5 * (seed + 1), replace=False))
    batches = [
        every[begin:end] for begin, end in zip([0, *cuts], [*cuts, 150], strict=True)
    ]
    alone = figures(counted([every]))
    assert alone[3]["CS"]["texts"] > 70
    assert figures(counted(batches)) == alone


def test_every_metric_of_the_registry_is_measured() -> None:
    """There is no list of metrics but the folder and the entry points."""
    modules = [registry.find("metrics", name) for name in registry.names("metrics")]
    results = METERS.results(METERS.observe(Batch.empty()))
    assert list(results) == [module.NAME for module in modules]
    assert {"PP", "LOW", "CS"} <= results.keys()


def test_two_metrics_under_one_heading_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A report could show one of them only."""
    again = ModuleType("again")
    vars(again).update(NAME="CS", Meter=similarity.Meter)
    find = registry.find
    monkeypatch.setattr(registry, "names", lambda stage: ("again", "similarity"))
    monkeypatch.setattr(
        registry, "find", lambda s, n: again if n == "again" else find(s, n)
    )
    with pytest.raises(UsageError, match=r"'similarity'.*heading 'CS'"):
        Meters(LEXICON)


def test_figures_that_no_report_can_hold_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The error names their metric; numpy's numbers are no numbers for JSON."""
    monkeypatch.setattr(similarity.Meter, "result", lambda *_: {"x": np.float64(1)})
    with pytest.raises(ComponentError, match=r"metric 'CS' has a figure .* float64"):
        METERS.results(METERS.observe(Batch.empty()))


def test_what_is_observed_goes_on_where_it_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A tally knows how many texts came before, for metrics of the first texts."""
    monkeypatch.setattr(similarity, "_TEXTS", 3)
    tally = Tally.begin(LEXICON)
    for _ in range(3):
        words = TOKENIZER.words(LEXICON.words[:2])
        joined = Joined([], words.ids, np.array(LEXICON.words[:2], object))
        eps = np.ones(len(words.ids))
        tally.count(
            Privatized([()], words=words, drawn=words.ids, joined=joined, eps=eps)
        )
    assert tally.texts == 6
    assert tally.meters.results(tally.counted)["CS"]["texts"] == 3


def test_texts_that_came_out_unchanged_are_counted() -> None:
    """Each that is the same before and after, of those with a letter or digit."""
    texts = ["I am so glad.", "Anna came on Monday.", "", "...", "It is so, and so"]
    out, report = dptext.privatize(texts, "readable", report=True, key=bytes(range(32)))
    same = sum(before == after != "" for before, after in zip(texts, out, strict=True))
    assert report.private is not None
    assert report.private.words is not None
    assert report.private.words.unchanged_texts == same - 1 == 2  # "..." is no text
    said = {line.name: line for line in answer.answer(report)}["output"]
    assert "; 2 of 3 texts with letters or digits are unchanged" in said.sentence
    assert said.figures["unchanged_texts"] == 2
    public = document.encode(document.public(report))
    assert b"unchanged_texts" not in public, "a function of the private text"
    halves = Tally.begin(LEXICON), Tally.begin(LEXICON)
    for each in halves:
        each.counted = each.counted._replace(unchanged_texts=2, changed_texts=1)
    halves[0].merge(halves[1].totals)
    assert halves[0].counted.unchanged_texts == 4
    assert halves[0].counted.changed_texts == 2


SPECIAL = {
    3: "She has been diagnosed with diabetes and is a Muslim.",
    9: "My friend from work told me that she is pregnant.",
    24: "He is HIV-positive, and right-wing.",
    28: "Meine Tochter ist schwanger und wohnt jetzt bei mir.",
}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_records_with_delicate_words_are_named_to_their_owner(
    jobs: str, run_folders: Path, tmp_path: Path
) -> None:
    """Report and page number them, in any division; the public report does not."""
    rows = [
        SPECIAL.get(row, "The parcel for Anna is late today.") for row in range(1, 41)
    ]
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    made = tmp_path / "report.json"
    source.write_text("text\n" + "".join(f'"{row}"\n' for row in rows))
    options = ("-f", "text", "--language", "en", "--language", "de")
    files = ("-o", str(out), "--report", str(made))
    size = ("--batch-size", "7", "--jobs", jobs)
    ran = here("sanitize", str(source), *options, *size, *files)
    assert ran.code == 0, ran.err
    report = document.decode(made.read_bytes(), "report")
    assert report.private is not None
    assert report.private.words is not None
    found = report.private.words.special
    assert found is not None
    assert (found.records, found.first) == (len(SPECIAL), tuple(SPECIAL))
    said = {line.name: line for line in answer.answer(report)}["sending"]
    assert "; and those with delicate words: 3, 9, 24, 28." in said.sentence
    assert "delicate" not in (said.short or "")
    public = Path(f"{out}.dptext.json").read_bytes()
    assert json.loads(public)["private"] is None


def test_the_first_records_with_delicate_words_are_named() -> None:
    """A list of numbers has a bound, and says that there are more."""
    some = [SpecialRecords(first=(1, 2), special=2, records=3)] * 15
    total = functools.reduce(SpecialRecords.then, some, SpecialRecords())
    assert total.first == tuple(n for n in range(1, 31) if n % 3)
    assert (total.special, total.records) == (30, 45)
    shown = delicate.SpecialRecords(records=total.special, first=total.first).named
    assert shown.endswith("28, 29, ...")


@pytest.mark.parametrize(
    ("by_class", "new", "digits", "shown"),
    [
        ({}, 1, 0, "1 address, number, date or the like"),
        ({"person": 1}, 1, 0, "1 name"),
        ({}, 0, 1, "1 number"),
        ({}, 2, 0, "2 addresses, numbers, dates or the like"),
        ({"person": 2}, 2, 1, "3 names and numbers"),
        ({"person": 2}, 4, 1, "5 names, numbers, dates or the like"),
        ({"place": 1}, 1_000, 0, "1,000 names, dates or the like"),
    ],
)
def test_pieces_that_are_drawn_by_class_or_form_are_named(
    by_class: dict[str, int], new: int, digits: int, shown: str
) -> None:
    """Each kind that is there stands in the sentence, and no other one."""
    assert drawn_pieces(by_class, new, digits) == shown
