"""Checks word lists: keep lists, and lists of words that many people wrote.

That noise and threshold are enough for the epsilon and delta of a list of words that
many people wrote is computed where its file is read (dptext.word_file). That it was
drawn with them from any texts, only a signature of `dptext words build` can tell.
"""

from __future__ import annotations

import contextlib
import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dptext import settings, signatures, word_file
from dptext.checking.policy import ExportPolicy
from dptext.errors import UsageError
from dptext.guarantees.claims import format_up
from dptext.report.document import Document
from dptext.run.interface import option
from dptext.tokens import lists

_FEW = 5  # words that a finding names


def kept(report: Document) -> frozenset[str] | None:
    """Return the words and phrases of the keep list of a report.

    None if it has patterns, or files that are not on this machine as they were.
    """
    if report.policy is None or report.words is None or report.policy.keep.patterns:
        return None
    listed, texts = report.policy.keep, []
    for path in listed.files:
        try:
            if settings.digest_of_path(path) != report.words.list_files.get(path):
                return None
            texts.append("\n".join(lists.read_entries(path, path)))
        except UsageError:
            return None
    return lists.entries(replace(listed, contents=tuple(texts)))


def kept_against_policy(
    words: frozenset[str], report: Document, policy: ExportPolicy
) -> Iterator[str]:
    """Yield a finding for kept words that a policy does not allow, with advice."""
    allowed = {unicodedata.normalize("NFC", each) for each in policy.keep_words}
    others = sorted(words - allowed)
    if not others:
        return
    assert report.policy is not None
    listed = report.policy.keep
    named = ", ".join(others[:_FEW])
    more = f" and {len(others) - _FEW} more" if len(others) > _FEW else ""
    missing = (each for each in listed.words if each.strip() not in allowed)
    add = dict.fromkeys([*policy.keep_words, *missing, *listed.files])
    key = json.dumps([*add], ensure_ascii=False)
    yield (
        "unchanged words of the keep list are not listed in the policy: "
        f"{named}{more}; if they may be released, give "
        f"{option('set', f'keep_words={key}')} or put keep_words: {key} into the "
        "section check of .dptext.yaml"
    )


def against_policy(report: Document, policy: ExportPolicy) -> Iterator[str]:
    """Yield the policy limits that a word list exceeds."""
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


def unsigned(report: Document, keys: Sequence[signatures.Key]) -> Iterator[str]:
    """Yield why no key verifies a word list, if keys are given."""
    listed = _file(report)
    if listed is not None and keys:
        if problem := listed.signature_problem(keys):
            yield (
                f"its list of words {listed.path}: {problem}, so its draw cannot be "
                f"verified; build it with {option('sign-key')}"
            )


def trusted(report: Document, keys: Sequence[signatures.Key]) -> Iterator[str]:
    """Yield a note if a word list is trusted without keys to verify it."""
    listed = _listed(report)
    if listed is not None and not keys:
        yield (
            f"its list of words {listed.path} is trusted: only a signature can prove "
            "that it was drawn as stated"
        )


def _listed(report: Document) -> word_file.WordFile | None:
    """Return the word list named in the settings, without its words."""
    return None if report.policy is None else report.policy.words


def _file(report: Document) -> word_file.WordFile | None:
    """Return the word list with its words, None if its file is missing here."""
    listed = _listed(report)
    if listed is not None:
        with contextlib.suppress(UsageError):
            read = word_file.read(listed.path)
            return read if read.digest == listed.digest else None
    return None
