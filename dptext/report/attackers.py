"""The figures of attackers in a report, and their sentences.

The share of written words that are the original, then the share found by an attacker on
whole texts. A figure is for exactly the settings of a run, or a lower limit measured at
settings that protect more; without one the sentence names the command that measures it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from msgspec import Meta

from dptext.measures.bayes_risk import Risk, Share
from dptext.measures.context_risk import (
    ALL,
    AS_WRITTEN,
    CATEGORIES,
    CONTENT,
    RARE,
    SAME_KIND,
    SPECIAL_WORDS,
    InContext,
)
from dptext.report import language_models
from dptext.report.answer_line import AnswerLine
from dptext.report.figures import exact, whole
from dptext.report.language_models import Trial
from dptext.types import JsonObject

Count = Annotated[int, Meta(ge=0)]
SEEDED = "Not measured: with the seed, every draw can be repeated."
MEASURED_BY = "dptext evaluate ORIGINAL OUTPUT --profile OUTPUT.dptext.json measures it"
# Of fewer words a share says little.
_FEW = 50
# Languages of lexicons as people name them.
_LANGUAGES = {"en": "English"}


@dataclass(frozen=True, kw_only=True, slots=True)
class AttackerFigures:
    """Success of one attacker in public texts of a kind, to four digits."""

    attacker: Annotated[str, Meta(description="Name of the attacker.")] = AS_WRITTEN
    kind: Annotated[str, Meta(description="Kind of text.")] = ""
    success: Annotated[Share, Meta(description="Share of all words that are found.")]
    low: Annotated[Share, Meta(description="Lower 95% limit of this share.")]
    high: Annotated[Share, Meta(description="Upper 95% limit of this share.")]
    content: Annotated[
        Share | None,
        Meta(
            description="Share of words other than stop words; null if there are none."
        ),
    ] = None
    rare: Annotated[
        Share | None,
        Meta(
            description=(
                "Share of words beyond the thousand most frequent; null if there are "
                "none."
            )
        ),
    ] = None
    counted: Annotated[
        Count,
        Meta(
            description=(
                "Number of other words of this kind whose pairs the attacker has "
                "counted."
            )
        ),
    ] = 0
    corpus: Annotated[
        str,
        Meta(
            description="The texts that were read; empty in a public report of a kind."
        ),
    ] = ""
    words: Annotated[
        Count, Meta(description="Number of words that were read; 0 in a public report.")
    ] = 0
    special: Annotated[
        Share | None,
        Meta(
            description=(
                "Share of words of special categories of personal data, if there are "
                "at least 50."
            )
        ),
    ] = None
    categories: Annotated[
        dict[str, Share],
        Meta(description="The same for each category; not in a public report."),
    ] = field(default_factory=dict)

    @classmethod
    def from_measured(
        cls, measured: Sequence[InContext]
    ) -> tuple[AttackerFigures, ...]:
        """Return a row for each corpus, the largest share first."""
        rows = []
        for corpus in measured:
            if not corpus.readings:
                continue
            best = max(corpus.readings, key=lambda reading: reading.success)
            shares = {each.name: round(each.success, 4) for each in best.classes}
            (every,) = (each for each in best.classes if each.name == ALL)
            enough = {each.name for each in best.classes if each.words >= _FEW}
            row = cls(
                attacker=best.attacker,
                corpus=corpus.corpus,
                words=every.words,
                success=shares[ALL],
                low=round(every.low, 4),
                high=round(every.high, 4),
                content=shares.get(CONTENT),
                rare=shares.get(RARE),
                kind=corpus.kind,
                counted=corpus.counted if best.attacker == SAME_KIND else 0,
                special=shares[SPECIAL_WORDS] if SPECIAL_WORDS in enough else None,
                categories={
                    name: shares[label]
                    for name, label in CATEGORIES.items()
                    if label in enough
                },
            )
            rows.append(row)
        return tuple(sorted(rows, key=lambda row: -row.success))

    def category(self, name: str) -> float | None:
        """Return the share of a special category, or of "any", None if not known."""
        return self.special if name == "any" else self.categories.get(name)

    def in_short(self) -> AttackerFigures:
        """Return the row of a public report, by kind where there is one."""
        corpus = "" if self.kind else self.corpus
        return replace(self, corpus=corpus, words=0, categories={})


@dataclass(frozen=True, kw_only=True, slots=True)
class Attackers:
    """All figures of attackers on the words of a run."""

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
    #: A decoder writes other words than those that were drawn.
    decoded: bool = False
    #: Name of the profile, with changes.
    profile: str = ""
    #: The command that measures for these settings.
    measured_by: str = MEASURED_BY

    @property
    def not_measured(self) -> str:
        """Name the command that measures these settings."""
        which = "texts in this language" if self.other_language else "these settings"
        return f"Not measured for {which}: {self.measured_by}."

    @property
    def trial(self) -> tuple[str, Trial] | None:
        """Return the trial of a large language model with its profile, if any."""
        if self.seeded or self.other_language or self.language not in ("", "en"):
            return None
        return language_models.trial_for(self.profile, common=self.common)

    @property
    def words(self) -> str:
        """Name the words behind the figures."""
        if not self.leaves_words:
            return "words"
        apart = " (names apart)" if self.classes else ""
        return f"replaced words{apart}"

    @property
    def public_texts(self) -> str:
        """Name the texts behind the figures."""
        name = _LANGUAGES.get(self.language, "")
        return f"public {name} texts" if name else "public texts"


def written_sentence(known: Attackers) -> tuple[str, JsonObject]:
    """Return the sentence and figures on written words that are the original."""
    figures: JsonObject = {"found": None, "found_of_rare_words": None}
    if known.seeded:
        return SEEDED, figures
    if known.rewritten:
        return "Not measured: no word of a rewritten text stands for another.", figures
    if known.other_language or not known.written:
        return known.not_measured, figures
    every, rare = _shares(known.written)
    of_rare = f", {between(rare)} of rare ones" if rare else ""
    figures = {"found": _limits(every), "found_of_rare_words": _limits(rare)}
    sentence = (
        f"In {known.public_texts}, {between(every)} of all {known.words} are "
        f"unchanged{of_rare}."
    )
    return sentence, figures


def attacker_line(known: Attackers) -> AnswerLine:
    """Return the line on attackers of whole texts: a language model, and counts.

    Where common words are copied the language model finds most and comes first.
    """
    counting, figures = _counting_sentence(known)
    figures["found_by_language_model"] = None
    brief = counting
    if known.seeded:
        return AnswerLine("attacker", counting, figures)
    if known.trial is None:
        sentence = f"{counting} {language_models.NOT_MEASURED}"
        return AnswerLine("attacker", sentence, figures, brief)
    profile, trial = known.trial
    if profile == known.profile:
        figures["found_by_language_model"] = trial.limits
    if not known.common:
        sentence = f"{counting} {trial.sentence}"
        return AnswerLine("attacker", sentence, figures, brief)
    if known.attackers:
        shares = [row.success for row in known.attackers]
        brief = f"Counting words: at least {between(shares)}."
        counting = f"An attacker who counts words r{counting[1:]}"
    where = "" if profile == known.profile else f" with `{profile}`"
    return AnswerLine(
        "attacker",
        f"{trial.sentence} {counting}",
        figures,
        f"In trials{where} {trial.short}. {brief}",
    )


def _counting_sentence(known: Attackers) -> tuple[str, JsonObject]:
    """Return the sentence and figures on the strongest attacker who counts words."""
    figures: JsonObject = {
        "attacker": None,
        "found": None,
        "found_of_rare_words": None,
        "measured_at_risk": None,
    }
    if known.seeded:
        return SEEDED, figures
    if known.other_language or not known.attackers:
        return known.not_measured, figures
    every, rare = _shares(known.attackers)
    figures = {
        "attacker": known.attackers[0].attacker,
        "found": _limits(every),
        "found_of_rare_words": _limits(rare),
        "measured_at_risk": known.attackers_risk,
    }
    of_rare = f", {between(rare)} of rare ones" if rare else ""
    texts = known.public_texts
    if known.attackers_risk is not None:
        texts += f" at risk {whole(known.attackers_risk)}, which protects more"
    sentence = (
        f"Recovers at least {between(every)} of all {known.words}{of_rare} ({texts})."
    )
    return sentence, figures


def delicate_sentence(known: Attackers) -> tuple[str, JsonObject] | None:
    """Return the sentence and figures on words of special categories, if measured."""
    if known.seeded or known.other_language:
        return None
    shares = [each.special for each in known.attackers if each.special is not None]
    if not shares:
        return None
    unchanged = [each.special for each in known.written if each.special is not None]
    listed = f"; {between(unchanged)} are unchanged" if unchanged else ""
    others = "Words that are not listed"
    if known.common:
        others = "Common words that are not listed are unchanged, and"
    sentence = (
        "Of listed words of health, religion, origin, sexuality, politics, crime and "
        f"money, an attacker recovers at least {between(shares)}{listed} "
        f"({known.public_texts}). {others} may tell of these, too (a new hip)."
    )
    return sentence, {"found": _limits(shares), "unchanged": _limits(unchanged)}


def category_rows(known: Attackers) -> list[tuple[str, str, str]]:
    """Return by special category the shares found by reading and written unchanged.

    Each is one share, or the least and the most over the corpora.
    """
    rows = []
    for name in ("any", *CATEGORIES):
        by_reading, as_written = (
            [share for each in rows_of if (share := each.category(name)) is not None]
            for rows_of in (known.attackers, known.written)
        )
        if by_reading or as_written:
            reading = between(by_reading) if by_reading else ""
            rows.append((name, reading, between(as_written) if as_written else ""))
    return rows


def draw_sentence(known: Attackers) -> tuple[str, JsonObject]:
    """Return the sentence and figures on the best guess from one draw."""
    risk = known.risk
    figures: JsonObject = {"found": None, "without_output": None}
    if known.seeded:
        return SEEDED, figures
    if known.other_language:
        return "Not known for texts in this language: its words are unknown.", figures
    if risk is None:
        return _as_sentence(known.risk_note), figures
    success, without = risk.success, risk.baseline
    seen, unseen = "the drawn word alone", "without it"
    if risk.success_with_form is not None and risk.baseline_with_form is not None:
        success, without = risk.success_with_form, risk.baseline_with_form
        seen, unseen = "the drawn word and its grammatical form", "from the form alone"
    if known.decoded:
        seen += ", before decoding"
    most = "" if risk.low is None else "at most "
    words = "replaced words" if known.leaves_words else "words"
    sentence = (
        f"Right for {most}{exact(success)} of {words}, from {seen}; {unseen}, "
        f"{exact(without)}."
    )
    return sentence, {"found": success, "without_output": without}


def _as_sentence(note: str) -> str:
    """Write a note with a capital first letter and a full stop."""
    return f"{note[:1].upper()}{note[1:]}{'' if note.endswith('.') else '.'}"


def _shares(rows: Sequence[AttackerFigures]) -> tuple[list[float], list[float]]:
    """Return the shares of all words and of rare ones, of each corpus."""
    rare = [row.rare for row in rows if row.rare is not None]
    return [row.success for row in rows], rare


def _limits(shares: Sequence[float]) -> list[float]:
    return [min(shares), max(shares)] if shares else []


def between(shares: Sequence[float]) -> str:
    """Write the least and the largest of some shares."""
    low, high = whole(min(shares)), whole(max(shares))
    if low == high:
        return low
    if low[0].isdigit() and high[0].isdigit():
        low = low.removesuffix("%")
    return f"{low} to {high}"
