"""A policy for exports: what a public report must state for a file to pass.

The section `check` of a configuration (dptext.cli.configuration); every key may be left
out, and a list of one may be a plain word:

    notion: [LDP, metric-DP]     # accepted; "none" is never
    max_epsilon: 12              # nats, as LDP; of metric DP at the farthest words
    max_loss: 20                 # nats between any two words
    max_delta: 1e-5              # of notion eps-delta, where it is accepted
    max_risk: 15%                # best possible guess of a word
    allow: [punctuation]         # what need not be protected: see CLASSES
    lexicons: [DIGEST, ...]      # accepted lexicons; absent: any
    fields: [text]               # fields that must be private wherever they occur
    copy: [id, stars]            # fields that may be copied; absent: any
    third_parties: []            # hosts that draws may be sent to; absent: any
    unverified: [lexicon]        # what need not be recomputed: see UNVERIFIED
    verify_key: [team.pub]       # files of keys, one of which must have signed
    include: ["*.json"]          # files that are exports, beside those of other formats
    exclude: ["samples/*"]       # files that are none
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from dptext import registry
from dptext.errors import UsageError
from dptext.guarantees.not_covered import Unprotected
from dptext.settings import convert, share
from dptext.types import Notion

CLASSES = tuple(Unprotected)
NOTIONS = (Notion.LDP, Notion.METRIC)
# A policy may accept this one, too, if it says so.
KNOWN_NOTIONS = (*NOTIONS, Notion.APPROXIMATE)


class Unverified(StrEnum):
    """Why a report may not be recomputed here.

    LEXICON: its lexicon is not on the machine; VERSION: another version of dptext wrote
    it and words its sentences otherwise; PARTS: a file, model or component of another
    package that its settings name is not on the machine.
    """

    LEXICON = "lexicon"
    VERSION = "version"
    PARTS = "parts"


UNVERIFIED = tuple(Unverified)
Limit = Annotated[float, Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class ExportPolicy:
    """The strictest values that still pass; None asks nothing."""

    notion: tuple[str, ...] = NOTIONS
    max_epsilon: Limit | None = None
    max_loss: Limit | None = None
    max_delta: Limit | None = None
    max_risk: float | None = None
    allow: tuple[str, ...] = ("punctuation",)
    lexicons: tuple[str, ...] | None = None
    fields: tuple[str, ...] = ()
    copy: tuple[str, ...] | None = None
    third_parties: tuple[str, ...] | None = None
    unverified: tuple[str, ...] = ()
    verify_key: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


_LIMITS = ("max_epsilon", "max_loss", "max_delta", "max_risk")
_LISTS = tuple(each.name for each in fields(ExportPolicy) if each.name not in _LIMITS)


def of(section: Mapping[str, object] | None, location: str) -> ExportPolicy:
    """Return the policy of a section `check`, the default one where there is none."""
    return ExportPolicy() if section is None else parse(section, f"{location}: check")


def parse(data: Mapping[str, object], name: str) -> ExportPolicy:
    """Turn plain data into a policy; name says where it stands, for messages."""
    plain = dict(data)
    for key in _LISTS:
        if isinstance(plain.get(key), str):
            plain[key] = [plain[key]]
    for key in ("max_epsilon", "max_loss", "max_delta"):
        limit = plain.get(key)
        if isinstance(limit, float) and not math.isfinite(limit):
            raise UsageError(
                f"{name}: {key}: {limit} is not a limit; write a number of nats"
            )
    if plain.get("max_risk") is not None:
        plain["max_risk"] = share(plain["max_risk"], f"{name}: max_risk")
    policy: ExportPolicy = convert(plain, ExportPolicy, name)
    lists = (
        ("notion", policy.notion, KNOWN_NOTIONS),
        ("allow", policy.allow, CLASSES),
        ("unverified", policy.unverified, UNVERIFIED),
    )
    for key, names, known in lists:
        for each in names:
            if each not in known:
                hint = registry.suggest(each, known)
                raise UsageError(f"{name}: {key}: {each!r} is not one; {hint}")
    return policy
