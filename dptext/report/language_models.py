"""The findings of a large language model that read outputs, from two blind trials.

The trials were made once, with outputs of two profiles (docs/results/language-models.md
has their design): dptext/data/language_models.toml holds their figures and sentences. A
run with other settings that copies common words shows those of `readable`, by name.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import msgspec

from dptext.measures.bayes_risk import Share

_FILE = Path(__file__).parents[1] / "data" / "language_models.toml"
#: Where nothing was measured.
NOT_MEASURED = "A large language model as attacker: not measured."


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Share of replaced words, names apart, that were found in texts of a kind."""

    texts: str
    share: Share
    #: 95% limits, by text.
    low: Share
    high: Share
    #: Of words beyond the thousand most frequent; None where they were not counted.
    rare: Share | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """The findings in outputs of one profile."""

    #: For a screen: goes on after "In trials". Empty where the sentence is for pages.
    short: str
    #: For a page.
    sentence: str
    #: Below a table.
    note: str
    rows: tuple[Finding, ...]

    @property
    def limits(self) -> list[float]:
        """Return the smallest and the largest share."""
        shares = [row.share for row in self.rows]
        return [min(shares), max(shares)]


@lru_cache(maxsize=1)
def trials() -> dict[str, Trial]:
    """Return the trials by the names of their profiles."""
    plain = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return msgspec.convert(plain, dict[str, Trial])


def trial_for(profile: str, *, common: bool) -> tuple[str, Trial] | None:
    """Return the trial nearest to a run, with the name of its profile, if any.

    common: common words are copied; then it is that of `readable`.
    """
    name = "readable" if common else profile
    known = trials().get(name)
    return None if known is None else (name, known)
