"""The types of the keywords of Python.

Made by `python -m tools.keywords` from the options in dptext.run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, TypedDict


class ChoiceKeywords(TypedDict, total=False):
    """Changes of a profile, and the key."""

    risk: str | float | None
    epsilon: float | None
    mechanism: str | None
    decode: str | None
    lexicon: str | os.PathLike[str] | None
    topics: str | None
    words: str | os.PathLike[str] | None
    languages: str | Sequence[str]
    marks: bool
    keep_words: str | Sequence[str]
    key: bytes | str | os.PathLike[str] | None
    trust_key_file: bool


class TableKeywords(TypedDict, total=False):
    """The uses of columns or fields."""

    id: str | None
    missing: Literal["fail", "pass"]
    drop: str | Sequence[str]
    pseudonym: str | Sequence[str]


class FileKeywords(TableKeywords, total=False):
    """Files and their records."""

    format: str | None
    sheets: str | Sequence[str]
    delimiter: str | None
    quoting: bool
    header: bool
    skip_lines: int
    escapes: Literal["backslash", "none"] | None
    encoding: str | None
    language_field: str | None
    other_language: Literal["mask", "drop", "quarantine"]
    max_record_bytes: int
    out_dir: str | os.PathLike[str] | None
    in_place: bool
    resume: bool
    shuffle: bool
    include: str | Sequence[str]
    exclude: str | Sequence[str]
    fail_on: Literal["identifying"] | None
    ledger: str | os.PathLike[str] | None
    subject: str | None
    limit: float | None
    limit_delta: float | None
    public_report: str | os.PathLike[str] | None
    sidecar: bool
    sign_key: str | os.PathLike[str] | None
    bayes_risk: bool | None
    jobs: int | Literal["auto"]
    batch_size: int
    on_error: Literal["fail", "skip", "quarantine"]
    quarantine: str | os.PathLike[str] | None


class VectorKeywords(TypedDict, total=False):
    """Vectors of texts."""

    pool: Literal["word", "mean", "sif", "sentence"]
    model: str | None
    public: str | os.PathLike[str] | None
    mu: float | None
    clip: float | None
    risk: str | float | None
    epsilon: float | None
    mechanism: str | None
    lexicon: str | os.PathLike[str] | None
    languages: str | Sequence[str]
    key: bytes | str | os.PathLike[str] | None
    trust_key_file: bool


class TableCall(ChoiceKeywords, TableKeywords, total=False):
    """A call for a table."""


class FileCall(ChoiceKeywords, FileKeywords, total=False):
    """A call for files."""
