"""Attacker figures in a report, and their lines in the short answer.

First the share of written words that are the original, then the share found by an
attacker on whole texts. A figure is for exactly the run's settings, or a lower limit
measured at settings that protect more; without one the sentence names the command that
measures it.

Five blind trials with a large language model were made once, on outputs of two
profiles (design: docs/results/language-models.md);
dptext/data/language_models.toml holds their figures and sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

from dptext.guarantees.templates import read_templates
from dptext.measures.bayes_risk import Risk, Share
from dptext.measures.context_risk import CATEGORIES, AttackerFigures
from dptext.report.figures import span
from dptext.report.lines import AnswerLine, line, say
from dptext.types import JsonObject

_TRIALS = Path(__file__).parents[1] / "data" / "language_models.toml"
# Languages of lexicons as people name them.
_LANGUAGES = {"en": "English"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Share of replaced words, except names, that were guessed in texts of a kind."""

    texts: str
    share: Share
    #: 95% limits, by text.
    low: Share
    high: Share
    #: Of words beyond the thousand most frequent; None where they were not counted.
    rare: Share | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """The findings for outputs of one profile."""

    #: For a screen: goes on after "In trials". Empty where the sentence is for pages.
    short: str
    #: For a page.
    sentence: str
    #: Below a table.
    note: str
    rows: tuple[Finding, ...]

    @property
    def limits(self) -> list[float]:
        """Return the smallest and largest share."""
        shares = [row.share for row in self.rows]
        return [min(shares), max(shares)]


@cache
def trials() -> dict[str, Trial]:
    """Return the language-model trials by profile name."""
    return msgspec.convert(read_templates(_TRIALS), dict[str, Trial])


@dataclass(frozen=True, kw_only=True, slots=True)
class Attackers:
    """All attacker figures for the words of a run."""

    #: The exact risk of a draw, None where it is not known; then risk_note says why.
    risk: Risk | None
    risk_note: str
    #: Written words that are the original, by corpus; empty where not measured.
    written: Sequence[AttackerFigures] = ()
    #: Findings of the strongest attacker of whole texts, by corpus.
    attackers: Sequence[AttackerFigures] = ()
    #: The smaller risk at which attackers were measured; None: with these settings.
    attackers_risk: float | None = None
    #: The code of the language of the texts that were measured.
    language: str = ""
    #: With the seed anybody can repeat all draws: there is nothing to measure.
    seeded: bool = False
    #: The texts of the run are in a language that the lexicon does not know.
    other_language: bool = False
    #: Texts were written anew: no written word stands for an original one.
    rewritten: bool = False
    #: Common words are copied.
    common: bool = False
    #: Words of some kind are copied, common ones or others: figures leave them out.
    leaves_words: bool = False
    #: Words of some classes are drawn whatever they were: figures leave them out.
    classes: bool = False
    #: Words of a keep list are copied, which the measured texts lack.
    listed: bool = False
    #: A decoder writes other words than those that were drawn.
    decoded: bool = False
    #: Name of the profile, with changes.
    profile: str = ""
    #: The command that measures for these settings, where it is another one.
    measured_by: str = ""

    @property
    def is_not_measured(self) -> bool:
        """Return whether figures are missing that could be measured on files."""
        if self.seeded or self.rewritten:
            return False
        return self.other_language or not (self.written and self.attackers)

    @property
    def not_measured(self) -> str:
        """Return the command that measures these settings."""
        command = self.measured_by or say("measured_by.files")
        return say("not_measured.settings", self, measured_by=command)

    @property
    def trial(self) -> tuple[str, Trial] | None:
        """Return the most similar trial of a large language model, or None.

        Includes the name of its profile: `readable` if common words are copied.
        """
        if self.seeded or self.other_language or self.language not in ("", "en"):
            return None
        name = "readable" if self.common else self.profile
        known = trials().get(name)
        return None if known is None else (name, known)

    @property
    def words(self) -> str:
        """Name the words that the figures cover."""
        return say("attacked.words", self)

    @property
    def public_texts(self) -> str:
        """Name the texts that the figures cover."""
        return say("attacked.texts", self, language=_LANGUAGES.get(self.language))


def attack_lines(known: Attackers) -> list[AnswerLine]:
    """Return lines on attackers: reading texts, unchanged words, one draw."""
    return [attacker_line(known), _same_word(known), _one_guess(known)]


def attacker_line(known: Attackers) -> AnswerLine:
    """Return the line on whole-text attackers: a language model, and counts.

    If common words are copied, the language model finds most and comes first.
    """
    figures: JsonObject = {
        "attacker": None,
        "found": None,
        "found_of_rare_words": None,
        "measured_at_risk": None,
        "found_by_language_model": None,
    }
    counts = too = brief = known.not_measured
    if known.seeded:
        return AnswerLine("attacker", say("not_measured.seed"), figures)
    if known.attackers and not known.other_language:
        figures |= _found(known.attackers)
        figures["attacker"] = known.attackers[0].attacker
        figures["measured_at_risk"] = known.attackers_risk
        counts, too = (
            say("attacker.counts", known, first=first, **figures)
            for first in (True, False)
        )
        brief = say("attacker.counts_briefly", known, **figures)
    if known.trial is None:
        other = say("not_measured.language_model")
        return AnswerLine("attacker", f"{counts} {other}", figures, counts)
    profile, trial = known.trial
    if profile == known.profile:
        figures["found_by_language_model"] = trial.limits
    if not known.common:
        return AnswerLine("attacker", f"{counts} {trial.sentence}", figures, counts)
    other = "" if profile == known.profile else profile
    short = say("attacker.trial_briefly", other=other, trial=trial.short, counts=brief)
    return AnswerLine("attacker", f"{trial.sentence} {too}", figures, short)


def _same_word(known: Attackers) -> AnswerLine:
    """Return the line on written words that are the original.

    If nothing is measured, the line on attackers gives the reason and the command.
    """
    if known.seeded:
        sentence = say("not_measured.briefly")
    elif known.rewritten:
        sentence = f"{say('not_measured.rewritten')}."
    elif known.other_language or not (known.written or known.attackers):
        sentence = say("not_measured.settings", known, measured_by="")
    elif not known.written:
        sentence = known.not_measured
    else:
        return line("same word", "always", _found(known.written), known)
    return AnswerLine(
        "same word", sentence, {"found": None, "found_of_rare_words": None}
    )


def delicate_lines(known: Attackers) -> Iterator[AnswerLine]:
    """Yield the line on special-category words, if measured."""
    recovered, unchanged = (
        _limits([each.special for each in rows if each.special is not None])
        for rows in (known.attackers, known.written)
    )
    if recovered and not (known.seeded or known.other_language):
        shown = {"found": recovered, "unchanged": unchanged}
        yield line("delicate", "always", shown, known)


def category_rows(known: Attackers) -> list[tuple[str, str, str]]:
    """Return per special category the shares found by reading and left unchanged.

    Each is a single share, or a range over the corpora.
    """
    rows = []
    for name in ("any", *CATEGORIES):
        by_reading, as_written = (
            [share for each in rows_of if (share := each.category(name)) is not None]
            for rows_of in (known.attackers, known.written)
        )
        if by_reading or as_written:
            reading = span(by_reading) if by_reading else ""
            rows.append((name, reading, span(as_written) if as_written else ""))
    return rows


def _one_guess(known: Attackers) -> AnswerLine:
    """Return the line on the best guess from a single draw."""
    risk, sentence = known.risk, ""
    if known.seeded:
        sentence = say("not_measured.seed")
    elif known.other_language:
        sentence = say("not_measured.draw")
    elif risk is None:
        note = known.risk_note.removesuffix(".")
        sentence = f"{note[:1].upper()}{note[1:]}."
    if risk is None or sentence:
        return AnswerLine(
            "one guess", sentence, {"found": None, "without_output": None}
        )
    alone = {"found": risk.success, "without_output": risk.baseline}
    formed = {
        "found": risk.success_with_form,
        "without_output": risk.baseline_with_form,
    }
    has_form = None not in formed.values()
    shown, sampled = formed if has_form else alone, risk.low is not None
    return line("one guess", "always", shown, known, form=has_form, sampled=sampled)


def _found(rows: Sequence[AttackerFigures]) -> JsonObject:
    """Return the ranges of the shares of all words and of rare words."""
    rare = [row.rare for row in rows if row.rare is not None]
    every = [row.success for row in rows]
    return {"found": _limits(every), "found_of_rare_words": _limits(rare)}


def _limits(shares: Sequence[float]) -> list[float]:
    return [min(shares), max(shares)] if shares else []
