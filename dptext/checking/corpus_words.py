"""Checks of the list of words that many people wrote, which settings of a report name.

That noise and threshold are enough for its epsilon and delta is computed where its file
is read (dptext.word_file). That it was drawn with them from any texts, only a signature
of `dptext words build` can tell.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from dptext import word_file
from dptext.checking.policy import ExportPolicy
from dptext.errors import UsageError
from dptext.guarantees.claims import format_up
from dptext.report.document import Document
from dptext.run.interface import option
from dptext.signatures import Key
from dptext.word_file import WordFile


def against_policy(report: Document, policy: ExportPolicy) -> Iterator[str]:
    """Yield the limits of a policy that a list exceeds."""
    listed = _listed(report)
    if listed is None:
        return
    if not listed.is_private:
        yield "its list of words was drawn from a seed, which has no guarantee"
        return
    for name, value, limit in (
        ("epsilon", listed.epsilon, policy.max_words_epsilon),
        ("delta", listed.delta, policy.max_words_delta),
    ):
        if limit is not None and value > limit:
            yield (
                f"{name} of its list of words is {format_up(value)}, the policy allows "
                f"{limit:g}"
            )


def unsigned(report: Document, keys: Sequence[Key]) -> Iterator[str]:
    """Yield why no key vouches for the draw of a list, if there are keys."""
    listed = _file(report)
    if listed is not None and keys:
        if problem := listed.signature_problem(keys):
            yield (
                f"its list of words {listed.path}: {problem}, so nothing vouches for "
                f"its draw; build it with {option('sign-key')}"
            )


def trusted(report: Document, keys: Sequence[Key]) -> Iterator[str]:
    """Note that a list is trusted where no keys verify it."""
    listed = _listed(report)
    if listed is not None and not keys:
        yield (
            f"its list of words {listed.path} is trusted: only a signature tells "
            "whether it was drawn as it says"
        )


def _listed(report: Document) -> WordFile | None:
    """Return the list that settings name, without its words."""
    return None if report.policy is None else report.policy.words


def _file(report: Document) -> WordFile | None:
    """Return the list with its words; None if its file is not here."""
    listed = _listed(report)
    if listed is not None:
        with contextlib.suppress(UsageError):
            read = word_file.read(listed.path)
            return read if read.digest == listed.digest else None
    return None
