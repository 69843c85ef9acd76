"""What the settings in a report of vectors give, held against what the report says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from dptext import __version__, lexicons
from dptext.embedding import document, release, settings
from dptext.embedding.document import VectorDocument
from dptext.errors import DptextError
from dptext.guarantees.policy import Unverified
from dptext.report.differences import differences
from dptext.report.document import encode
from dptext.report.recompute import Gap
from dptext.types import Lexicon

# The parts of a report that follow from its settings, and table.
_PARTS = ("run", "guarantee", "measures")
# Draws are counted, and machines differ in the last bits of what they sum.
_SAMPLED = 0.01


def recomputed(
    report: VectorDocument, others: dict[str, Lexicon | None]
) -> tuple[str, Gap | None]:
    """Return the first difference from what the settings give; else why none is known.

    Raises nothing: settings that cannot be carried out are a difference.
    """
    run, lexicon = report.run, None
    if run.dptext != __version__:
        return "", Gap(Unverified.VERSION, "another version of dptext wrote it")
    if run.lexicon_digest:
        digest = run.lexicon_digest
        lexicon = others.get(digest) or lexicons.by_digest(digest)
        if lexicon is None:
            return "", Gap(Unverified.LEXICON, "its lexicon is not on this machine")
        lexicon = replace(lexicon, name=run.table)
    try:
        chosen = settings.of_plain(run.settings, run.table)
        ready = release.of(chosen, lexicon=lexicon)
        wanted = _plain(document.stated(ready, run.key, run.layout))
    except DptextError as error:
        return "", Gap(Unverified.PARTS, str(error))
    except (ArithmeticError, ValueError, TypeError, AssertionError):
        return "its settings cannot be carried out", None
    return _difference(wanted, _plain(report)), None


def _difference(wanted: dict[str, Any], actual: dict[str, Any]) -> str:
    """Say what differs first, "" where nothing does."""
    for part in _PARTS:
        for path, value in differences(wanted[part], actual[part], part):
            if not _near(value, actual, path):
                return f"{path} does not follow from the settings"
    return ""


def _near(wanted: object, actual: Any, path: str) -> bool:
    """Tell whether a measured figure differs by no more than machines do."""
    if not path.startswith("measures."):
        return False
    for key in path.split("."):
        actual = actual[key]
    if isinstance(wanted, list):
        pairs = list(zip(wanted, actual, strict=True))
    else:
        pairs = [(wanted, actual)]
    return all(
        isinstance(one, float | int)
        and isinstance(other, float | int)
        and abs(one - other) <= _SAMPLED * max(abs(one), 0.5)
        for one, other in pairs
    )


def _plain(document: VectorDocument) -> dict[str, Any]:
    return msgspec.json.decode(encode(document), type=dict[str, Any])
