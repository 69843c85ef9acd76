"""Figures of attackers that were measured, and ladders of the risks they belong to.

A risk is chosen for the success of an attacker by the ladder of the settings: the risks
at which attackers were measured with them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from dptext import cache
from dptext.attackers import ngrams
from dptext.errors import LexiconError, UsageError
from dptext.lexicons import store
from dptext.run.interface import option
from dptext.types import Lexicon

# Figures of attackers on public corpora lie in JSON: `attackers` and `written` by all
# that decides them (dptext.measures.context_risk), and `ladders`, which say for the
# settings of a profile, all but its budget and decoder, at which risks there are such
# figures. Those of the built-in lexicon ship (python -m tools.attackers), an adapted
# one has its own beside it.
ATTACKERS_FILE = "attackers.json"


@dataclass(frozen=True, slots=True)
class Rung:
    """A measured risk of a ladder: its epsilon, and the keys of its figures.

    attackers is the key in `attackers`; written, with the decoder of the profile, the
    one in `written`.
    """

    epsilon: float
    attackers: str
    written: str


def shipped_attackers() -> Path:
    """Return the file of figures that ship."""
    return cache.shipped_file().with_name(ATTACKERS_FILE)


def attacker_figures(lexicon: Lexicon, part: str, key: str) -> Any:
    """Look a key up in the figures that ship, then in those beside the lexicon.

    The latter are of the lexicon together with the pairs of words it was made with, and
    of no others that may bear their names.
    """
    for path in (shipped_attackers(), *_attackers_files(lexicon)):
        known = (cache.shipped_entry(path, part) or {}).get(key)
        if known is not None:
            return known
    return None


def _attackers_files(lexicon: Lexicon) -> Iterator[Path]:
    """Give the files of figures beside a lexicon, whatever it is called here."""
    for each in store.stored_in(store.user_folder()):
        path = each / ATTACKERS_FILE
        if path.is_file() and store.is_name(each.name):
            with contextlib.suppress(LexiconError):
                if store.read_meta(each).digest == lexicon.digest:
                    if ngrams.has_own_pairs(lexicon):
                        yield path


def ladder_key(settings: Mapping[str, object], lexicon: Lexicon) -> str:
    """Return the name of the ladder of the settings of a profile."""
    rest = {k: v for k, v in settings.items() if k not in ("budget", "decoder")}
    return cache.key_of("ladder", 2, lexicon.digest, rest)


def rungs(lexicon: Lexicon, key: str) -> dict[float, Rung]:
    """Return the measured risks of a ladder; none where nothing was measured.

    Figures that another version of dptext kept beside a lexicon count as not measured.
    """
    figures = attacker_figures(lexicon, "ladders", key) or {}
    try:
        return msgspec.convert(figures, dict[float, Rung], strict=False)
    except msgspec.ValidationError:
        return {}


def risk_for(settings: Mapping[str, object], lexicon: Lexicon, target: float) -> float:
    """Return the largest measured risk at which attackers find at most target.

    The strongest one counts, by the upper limit, over all kinds of text. Raises
    UsageError where nothing was measured with these settings, or it finds more.
    """
    measured = {}
    for risk, rung in rungs(lexicon, ladder_key(settings, lexicon)).items():
        corpora = attacker_figures(lexicon, "attackers", rung.attackers) or []
        highs = [r["classes"][0]["high"] for each in corpora for r in each["readings"]]
        if highs:
            measured[risk] = max(highs)
    if not measured:
        raise UsageError(
            "attacker-risk: no attacker was measured with these settings and lexicon "
            f"{lexicon.name!r}; use dptext calibrate {option('public-text')}, or "
            "give a risk"
        )
    met = [risk for risk, high in measured.items() if high <= target]
    if not met:
        raise UsageError(
            f"attacker-risk {target:.2%}: at the smallest measured risk attackers find "
            f"up to {measured[min(measured)]:.2%}; give a larger share, or a risk"
        )
    return max(met)
