"""Checks of the words of a keep list against those that a policy names."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

from dptext.checking.policy import ExportPolicy
from dptext.errors import UsageError
from dptext.report.document import Document
from dptext.run.interface import option
from dptext.settings import digest_of_path
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
            if digest_of_path(path) != report.words.list_files.get(path):
                return None
            texts.append("\n".join(lists.read_entries(path, path)))
        except UsageError:
            return None
    return lists.entries(replace(listed, contents=tuple(texts)))


def against_policy(
    words: frozenset[str], report: Document, policy: ExportPolicy
) -> Iterator[str]:
    """Yield a finding on words that a policy does not name, with advice."""
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
        f"words of the keep list are unchanged that the policy does not name: {named}"
        f"{more}; if they may leave, give {option('set', f'keep_words={key}')} or put "
        f"keep_words: {key} into the section check of .dptext.yaml"
    )
