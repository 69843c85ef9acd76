"""Names allowed in a report: short, plain, and without text that reads like a figure.

Authors name their profiles and lexicons freely. So a name must not claim what only
figures may state: "balanced with epsilon=1" next to an epsilon of 9. A name that is not
plain is written as "custom"; `check` refuses a report with another.
"""

from __future__ import annotations

import re
from typing import Any

from dptext import lexicons, profile
from dptext.lexicons import store, topics
from dptext.types import Lexicon

CUSTOM = "custom"
# ASCII alone: letters of other scripts look like these, other digits like figures.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_DERIVED = re.compile(rf"{CUSTOM}, from (?P<base>.+)")
# Words of a promise: a name that holds one would make it.
_PROMISE = re.compile(
    r"eps|delta|risk|loss|nats|perc|prob|privat|privac|guarant|anonym|safe|attack",
    re.IGNORECASE,
)


def is_plain(name: str) -> bool:
    """Return whether a name is short, ASCII, and makes no privacy claim."""
    return _PLAIN.fullmatch(name) is not None and _PROMISE.search(name) is None


def is_written(name: str) -> bool:
    """Return whether a report may contain this profile or lexicon name."""
    derived = _DERIVED.fullmatch(name)
    shipped = profile.shipped()
    if derived:
        return derived["base"] in shipped
    return is_plain(name) or name in shipped or _is_of_topics(name)


def _is_of_topics(name: str) -> bool:
    """Return whether a name is a topics name with a plain name."""
    parts = topics.split(name)
    if parts is None or not is_plain(parts[0]) or parts[1] is None:
        return False
    return name == f"{topics.PREFIX}{parts[0]}/{parts[1]}"


def profile_name(recipe: profile.Profile) -> str:
    """Return a profile's name for reports.

    A shipped profile's name is used only if its settings are unchanged.
    """
    derived = _DERIVED.fullmatch(recipe.name)
    base = derived["base"] if derived else recipe.name.partition(" with ")[0]
    if base not in profile.shipped():
        return base if is_plain(base) and base == recipe.name else CUSTOM
    if base == recipe.name and _as_shipped(recipe):
        return base
    return f"{CUSTOM}, from {base}"


def _as_shipped(recipe: profile.Profile) -> bool:
    """Return whether settings equal those of the shipped profile of this name.

    Epsilon and mechanism parameters may be derived from a risk, which `check`
    compares with the requested one; fitted parameters are derived from epsilon.
    """
    wanted: dict[str, Any] = profile.load(recipe.name).settings()
    actual: dict[str, Any] = recipe.settings()
    by_risk = wanted["budget"].get("epsilon", 0) is None
    is_fitted = wanted["mechanism"].get("weights") == "fitted"
    for settings in (wanted, actual):
        if by_risk:
            settings["budget"]["epsilon"] = None
        if by_risk or is_fitted:
            settings["mechanism"] = settings["mechanism"]["name"]
    # A lexicon may bring its own pairs of words, or a language without any.
    falls_back = wanted["decoder"].get("optional") and (
        actual["decoder"]["name"] == "none"
    )
    for settings in (wanted, actual):
        settings["decoder"].pop("model", None)
        settings["tokens"].pop("agreement", None)
        if falls_back:
            del settings["decoder"]
    return wanted == actual


def lexicon_name(lexicon: Lexicon) -> str:
    """Return a lexicon's name for reports."""
    ships = lexicon.digest == lexicons.builtin_digest()
    taken = lexicon.name in (store.BUILTIN, store.ENGLISH) and not ships
    is_named = is_plain(lexicon.name) or _is_of_topics(lexicon.name)
    return lexicon.name if is_named and not taken else CUSTOM
