"""Where figures of readers are kept, and at which risk they find no more than asked.

Figures of public corpora lie in JSON: `readers` by all that decides them
(dptext.measures.context_risk), and `ladders`, which say for the settings of a profile,
all but its budget and decoder, at which risks there are such figures. Those of the
built-in lexicon ship (python -m tools.readers), an adapted one has its own beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dptext import cache
from dptext.errors import UsageError
from dptext.lexicons import store
from dptext.types import Lexicon

FILE = "readers.json"


def shipped_file() -> Path:
    """Return the file of figures that ship."""
    return cache.shipped_file().with_name(FILE)


def entry(lexicon: Lexicon, part: str, key: str) -> Any:
    """Look a key up in the figures that ship, then in those beside the lexicon."""
    for path in (shipped_file(), store.user_folder() / lexicon.name / FILE):
        known = (cache.shipped_entry(path, part) or {}).get(key)
        if known is not None:
            return known
    return None


def key_of(settings: Mapping[str, object], lexicon: Lexicon) -> str:
    """Return the name of the ladder of a profile's settings as they are written."""
    rest = {k: v for k, v in settings.items() if k not in ("budget", "decoder")}
    return cache.key_of("ladder", 2, lexicon.digest, rest)


def limits(settings: Mapping[str, object], lexicon: Lexicon) -> dict[float, float]:
    """Return for each measured risk, ascending, what the strongest reader finds.

    That is the largest upper limit over readers and kinds of text.
    """
    rungs = entry(lexicon, "ladders", key_of(settings, lexicon)) or {}
    highest = {}
    for risk, key in rungs.items():
        corpora = entry(lexicon, "readers", key) or []
        highs = [r["classes"][0]["high"] for each in corpora for r in each["readings"]]
        if highs:
            highest[float(risk)] = float(max(highs))
    return dict(sorted(highest.items()))


def risk_for(settings: Mapping[str, object], lexicon: Lexicon, target: float) -> float:
    """Return the largest measured risk at which readers find at most target.

    Raises UsageError where nothing was measured with these settings, or all readers
    find more.
    """
    measured = limits(settings, lexicon)
    if not measured:
        raise UsageError(
            "reader-risk: no reader was measured with these settings and lexicon "
            f"{lexicon.name!r}; use dptext calibrate --public-text, or give a risk"
        )
    met = [risk for risk, high in measured.items() if high <= target]
    if not met:
        least = next(iter(measured.values()))
        raise UsageError(
            f"reader-risk {target:.2%}: at the smallest measured risk readers find up "
            f"to {least:.2%}; give a larger share, or a risk"
        )
    return max(met)
