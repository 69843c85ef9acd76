"""A policy for exports: what a public report must state for a file to pass.

It is the section `check` of a configuration (dptext.cli.configuration); every key is
optional, and a list of one may be a plain word:

    notion: [LDP, metric-DP]     # accepted; "none" is never
    max_epsilon: 12              # nats, as LDP; of metric DP at the farthest words
    max_loss: 20                 # nats between any two words
    max_delta: 1e-5              # of notion eps-delta, where it is accepted
    max_risk: 15%                # best possible guess of a word from one draw
    max_written: 30%             # written words that are the original, as measured
    max_words_epsilon: 1.1       # nats of a list of words that many people wrote
    max_words_delta: 1e-6        # its delta
    allow: [punctuation, forms]  # what need not be protected: see Unprotected; if
    #                              absent, usually_allowed; and
    # - identifying: [author]    # columns that may identify people: see Identified
    keep_words: [CloudDesk, products.txt]  # words, and files, of keep lists
    deny_columns: ["*email*"]    # columns that no export may hold in any form
    lexicons: [DIGEST, ...]      # accepted lexicons; absent: any
    fields: [text]               # fields that must be private wherever they occur
    copy: [id, stars]            # fields that may be copied; absent: any
    pseudonyms: [customer]       # fields that may be pseudonyms; absent: any
    third_parties: []            # addresses that draws may be sent to, and "proxy"
    unverified: [lexicon]        # what need not be recomputed: see Unverified
    verify_key: [team.pub]       # files of keys, one of which must have signed
    include: ["*.json"]          # files that are exports, beside those of other formats
    exclude: ["samples/*"]       # files that are not exports
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta

from dptext import profile, settings
from dptext.errors import UsageError
from dptext.guarantees import claims
from dptext.guarantees.claims import Unprotected
from dptext.run.choices import DEFAULT
from dptext.tokens.policy import Policy

Accepted = Literal["LDP", "metric-DP", "eps-delta"]
Limit = Annotated[float, Meta(ge=0)]
_SHARES = ("max_risk", "max_written")
_LIMITS = (
    "max_epsilon",
    "max_loss",
    "max_delta",
    "max_words_epsilon",
    "max_words_delta",
    *_SHARES,
)


class Unverified(StrEnum):
    """Reasons why a report may stay unverified.

    LEXICON: its lexicon is not on the machine; VERSION: another version of dptext wrote
    it, with other sentences for the same figures; PARTS: a file, model or component of
    another package that its settings name is not on the machine; CONTENT: the content
    of the file cannot be read here, so that nobody looked for people it identifies.
    """

    LEXICON = "lexicon"
    VERSION = "version"
    PARTS = "parts"
    CONTENT = "content"


@dataclass(frozen=True, slots=True)
class Identified:
    """Columns that may stay unchanged although they look identifying."""

    identifying: Annotated[tuple[str, ...], Meta(min_length=1)]


@dataclass(frozen=True, slots=True)
class ExportPolicy:
    """The strictest values that still pass; None means no limit."""

    notion: Annotated[tuple[Accepted, ...], Meta(min_length=1)] = ("LDP", "metric-DP")
    max_epsilon: Limit | None = None
    max_loss: Limit | None = None
    max_delta: Limit | None = None
    max_risk: float | None = None
    max_written: float | None = None
    max_words_epsilon: Limit | None = None
    max_words_delta: Limit | None = None
    allow: tuple[Unprotected | Identified, ...] | None = None
    keep_words: tuple[str, ...] = ()
    lexicons: tuple[str, ...] | None = None
    fields: tuple[str, ...] = ()
    copy: tuple[str, ...] | None = None
    deny_columns: tuple[str, ...] = ()
    pseudonyms: tuple[str, ...] | None = None
    third_parties: tuple[str, ...] | None = None
    unverified: tuple[Unverified, ...] = ()
    verify_key: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @property
    def limits_protection(self) -> bool:
        """Return whether a limit decides how much protection is enough.

        Without a limit, the verdict in the report decides.
        """
        limits = (self.max_epsilon, self.max_loss, self.max_risk)
        return any(each is not None for each in limits)

    @property
    def identifying(self) -> tuple[str, ...]:
        """Return the columns that may stay unchanged although they look identifying."""
        allowed = (each for each in self.allow or () if isinstance(each, Identified))
        return tuple(name for each in allowed for name in each.identifying)

    @property
    def parts(self) -> tuple[Unprotected, ...] | None:
        """Return the parts of texts that may be unprotected, None for the usual parts.

        A policy that allows only columns gives None.
        """
        parts = tuple(
            each for each in self.allow or () if isinstance(each, Unprotected)
        )
        return parts if parts or self.allow == () else None


def usually_allowed(tokens: Policy | None) -> tuple[Unprotected, ...]:
    """Return the parts of texts that may be unprotected if a policy names none.

    These are the parts that the default profile leaves unprotected: other
    numbers than those of the same length, and more common words, are not among them.

    tokens: the token settings of the report; None if they are invalid.
    """
    usual = profile.load(DEFAULT)
    shown = {*claims.unprotected(usual.tokens, usual.strategy)}
    if tokens is None or tokens.number not in ("perturb", usual.tokens.number):
        shown.discard(Unprotected.NUMBER)
    if tokens is None or tokens.common > usual.tokens.common:
        shown.discard(Unprotected.COMMON_WORDS)
    return tuple(each for each in Unprotected if each in shown)


def from_section(section: Mapping[str, object] | None, location: str) -> ExportPolicy:
    """Return the policy in a section `check`, or the default policy."""
    return ExportPolicy() if section is None else parse(section, f"{location}: check")


def parse(
    data: Mapping[str, object], name: str, beside: tuple[str, ...] = ()
) -> ExportPolicy:
    """Build a policy from plain data; name and beside are as for `convert`."""
    plain = {
        key: [value] if isinstance(value, str) and key not in _LIMITS else value
        for key, value in data.items()
    }
    allow = plain.get("allow")
    if isinstance(allow, Mapping):  # as a single word may stand for a list
        allow = [allow]
    if isinstance(allow, list):
        plain["allow"] = _allowed(allow, f"{name}: allow")
    for key in _SHARES:
        if plain.get(key) is not None:
            plain[key] = settings.share(plain[key], f"{name}: {key}")
    return settings.convert(plain, ExportPolicy, name, beside)


def _allowed(items: list[object], location: str) -> list[object]:
    """Return the allowed items as a list, also for a single column name.

    Raises UsageError for other keys.
    """
    columns = [each for each in items if isinstance(each, Mapping)]
    for key in (key for each in columns for key in each if key != "identifying"):
        raise UsageError(f"{location}: {key}: unknown key; write identifying: COLUMN")
    allowed: list[object] = []
    for each in items:
        if isinstance(each, Mapping):
            named = each.get("identifying")
            each = {"identifying": [named] if isinstance(named, str) else named}
        allowed.append(each)
    return allowed
