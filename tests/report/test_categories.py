"""Words of special categories in figures and reports."""

from __future__ import annotations

import pytest

from dptext import open_pipeline
from dptext.measures import context_risk
from dptext.measures.context_risk import AttackerFigures, InContext, Reading, Success
from dptext.randomness import RunKey
from dptext.report import views
from dptext.report.attackers import Attackers, delicate_lines
from dptext.report.blocks import Paragraph, Table
from dptext.types import Lexicon

TEXTS = (
    "The doctor said that the cancer was back.",
    "Police arrested the president of the bank.",
    "A Muslim family owes the bank some money.",
)


def reading(name: str, **words: tuple[int, float]) -> Reading:
    """Return a reading of all words and of some categories, by their numbers."""
    labels = {"any": context_risk.SPECIAL_WORDS, **context_risk.CATEGORIES}
    classes = [Success(context_risk.ALL, words=900, success=0.4, low=0.3, high=0.5)]
    classes += [
        Success(labels[each], words=count, success=share, low=0.0, high=1.0)
        for each, (count, share) in words.items()
    ]
    return Reading(name, "", 10, tuple(classes))


def test_words_of_each_category_are_counted(builtin: Lexicon) -> None:
    """By hand: which words of the texts are in which category."""
    assert context_risk.word_classes(builtin).keys() >= {
        *context_risk.CATEGORIES.values()
    }
    pipeline = open_pipeline("balanced")
    attack = context_risk.attack_records(
        pipeline, (), [[TEXTS]], pipeline.randomness(RunKey.from_seed(0))
    )
    found = attack.written()
    assert found is not None
    counts = {each.name: each.words for each in found.classes}
    # doctor, cancer; Muslim; president; police, arrested; owes
    expected = {"health": 2, "religion": 1, "politics": 1, "crime": 2, "money": 1}
    for category, label in context_risk.CATEGORIES.items():
        assert counts.get(label, 0) == expected.get(category, 0), category
    assert counts[context_risk.SPECIAL_WORDS] == 7


def test_a_report_has_categories_with_enough_words() -> None:
    """Of few words a share says nothing; of the attackers the strongest counts."""
    corpora = [
        InContext("A", "", (reading("ngram", any=(90, 0.3), health=(60, 0.25)),)),
        InContext("B", "", (reading("ngram", any=(80, 0.2), health=(49, 1.0)),)),
    ]
    one, two = AttackerFigures.from_measured(corpora)
    assert (one.special, one.categories) == (0.3, {"health": 0.25})
    assert (two.special, two.categories) == (0.2, {})
    written = AttackerFigures.from_measured(
        [InContext("A", "", (reading("as written", any=(90, 0.05)),))]
    )
    known = Attackers(risk=None, risk_note="", written=written, attackers=(one, two))
    blocks = [*views.attackers(known)]
    (table,) = (
        each
        for each in blocks
        if isinstance(each, Table) and "special" in each.columns[0].name
    )
    assert [*map(tuple, table.rows)] == [
        ("any", "20 to 30%", "5%"),
        ("health", "25%", ""),
    ]
    notes = [each.text for each in blocks if isinstance(each, Paragraph)]
    assert any("only where it was drawn" in note for note in notes)


def test_reports_without_them_show_no_table() -> None:
    """For example in an evaluation with a lexicon without lists."""
    figures = AttackerFigures.from_measured([InContext("A", "", (reading("ngram"),))])
    known = Attackers(risk=None, risk_note="", attackers=figures)
    titles = [
        each.columns[0].name
        for each in views.attackers(known)
        if isinstance(each, Table)
    ]
    assert titles == ["attacker"]


@pytest.mark.parametrize(
    ("common", "others"),
    [
        (True, "Common words that are not listed are unchanged, and may reveal these"),
        (False, "Words that are not listed may reveal these"),
    ],
)
def test_figures_of_delicate_words_are_of_listed_ones(
    common: bool, others: str
) -> None:
    """Nobody may read that illnesses are gone: common words tell of them, too."""
    (one,) = AttackerFigures.from_measured(
        [InContext("A", "", (reading("ngram", any=(90, 0.3)),))]
    )
    known = Attackers(risk=None, risk_note="", attackers=(one,), common=common)
    (told,) = delicate_lines(known)
    assert told.sentence.startswith("Of listed words of health")
    assert others in told.sentence
