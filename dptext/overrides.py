"""Keys that override those of a profile: a run's choices and settings.

`make_overrides` converts choices (epsilon, risk, mechanism) to profile keys, and
`merged` applies overrides part by part.
"""

from __future__ import annotations

import os
import typing
from collections.abc import Callable, Mapping
from numbers import Real

from dptext.errors import UsageError
from dptext.settings import share

if typing.TYPE_CHECKING:
    from dptext.types import JsonObject

# The components of stages that a profile does not name.
DEFAULTS = {"space": "identity", "mapping": "nearest", "decoder": "none"}
_SPENT = ("epsilon", "risk", "attacker_risk")
# The choices of a run (dptext.run.choices), and lists of words as files.
_CHOICES = (
    *_SPENT,
    "mechanism",
    "decode",
    "marks",
    "words",
    "languages",
    "lexicon",
    "keep_words",
    "keep_list",
    "mask_list",
)


def make_overrides(
    settings: Mapping[str, object] | None = None,
    option: Callable[[str], str] = str,
    **chosen: typing.Any,
) -> JsonObject:
    """Return profile keys from choices, overridden by settings.

    option: formats a name as the user writes it. Raises UsageError for conflicting
    choices and invalid values, and TypeError for an unknown choice.
    """
    if unknown := chosen.keys() - {*_CHOICES}:
        known = ", ".join(_CHOICES)
        raise TypeError(f"no choice {', '.join(sorted(unknown))}: there are {known}")
    if not isinstance(settings, Mapping | None):
        raise TypeError("overrides: give a dictionary of keys and values")
    wanted = {name: value for name, value in chosen.items() if value is not None}
    spent = [name for name in _SPENT if name in wanted]
    if len(spent) > 1:
        raise UsageError(f"give only one of {', '.join(map(option, spent))}")
    over: JsonObject = {}
    if "mechanism" in wanted:
        over |= {"mechanism": {"name": wanted["mechanism"]}, "mapping": None}
    if (lexicon := chosen.get("lexicon")) is not None:
        over["lexicon"] = os.fspath(lexicon)
    if "decode" in wanted:
        over["decoder"] = {"name": wanted["decode"]}
    tokens = _tokens(wanted)
    if "languages" in wanted:
        tokens["languages"] = [*(chosen.get("languages") or ())]
    if tokens:
        over["tokens"] = tokens
    for name in spent:
        amount = _amount(name, wanted[name], option(name))
        over["budget"] = {"name": "uniform", **dict.fromkeys(_SPENT), name: amount}
    return merged(over, settings or {}, {})


def _tokens(wanted: Mapping[str, object]) -> JsonObject:
    """Return the token settings implied by choices."""
    named = {key: wanted.get(f"{key}_list") for key in ("keep", "mask")}
    tokens: JsonObject = {
        key: {"files": each} for key, each in named.items() if each is not None
    }
    if wanted.get("marks"):
        tokens["marks"] = True
    if "keep_words" in wanted:
        tokens["keep_words"] = wanted["keep_words"]
    if (words := wanted.get("words")) is not None:
        tokens["words"] = os.fspath(typing.cast("str", words))
    return tokens


def _amount(name: str, value: object, shown: str) -> float:
    if name != "epsilon":
        return share(value, shown)
    kind = f", not {type(value).__name__}"
    if not isinstance(value, bool) and isinstance(value, Real):
        if 0 < float(value) < float("inf"):
            return float(value)
        kind = ""
    raise UsageError(f"{shown} {value!r}: give a finite number above 0{kind}")


def merged(
    base: Mapping[str, object],
    over: Mapping[str, object],
    defaults: Mapping[str, str] = DEFAULTS,
) -> JsonObject:
    """Merge overrides into keys, part by part; a renamed part starts from defaults.

    defaults: names of parts that the base omits; DEFAULTS: of parts set to null.
    """
    laid: JsonObject = dict(base)
    for key, value in over.items():
        old = laid.get(key)
        if isinstance(value, Mapping) and value.get("name") in (None, name_in(old)):
            if not isinstance(old, Mapping):
                absent = DEFAULTS if key in laid else defaults
                name = absent.get(key) if old is None else old
                old = {"name": name} if isinstance(name, str) else {}
            value = merged(old, value)
        laid[key] = value
    return laid


def name_in(part: object) -> object:
    """Return the name of a component, which may be given as just a name."""
    return part.get("name") if isinstance(part, Mapping) else part
