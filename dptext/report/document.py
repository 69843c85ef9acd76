"""The report as data; `schema.json` beside it is made from these classes.

A public document holds nothing that depends on the private text but the digest of the
released file: its `private` part is null. Version 1; a field never changes its meaning.
"""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from dptext import __version__
from dptext.adversaries import bayes
from dptext.errors import UsageError
from dptext.guarantees.statement import Statement
from dptext.pipeline import Pipeline
from dptext.randomness import ALGORITHM

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True)
class Run:
    """What was run: versions, settings, lexicon; key is where randomness came from."""

    dptext: str
    algorithm: str
    profile: str
    settings: dict[str, Any]
    settings_digest: Digest
    lexicon: str
    lexicon_digest: str
    vocabulary: int
    dimensions: int
    prior: str
    key: Literal["system", "key-file", "seed"]


@dataclass(frozen=True, slots=True)
class Deniability:
    """N_w, P(a word is drawn as itself); S_w, distinct ones of `runs` draws; means."""

    n_w: float
    s_w: float
    runs: int
    method: str


@dataclass(frozen=True, slots=True)
class Private:
    """Functions of the private text: for the owner of the text only.

    tokens counts each class of token; treatment says what happened to each; metrics by
    name; epsilon per text; seconds and words_per_second of the whole run; fields, in
    how many records each selected field is, null or not (empty for plain text).
    """

    inputs: tuple[str, ...]
    records: int
    faults: int
    texts: int
    tokens: dict[str, int]
    treatment: dict[str, str]
    share_copied: float
    metrics: dict[str, dict[str, int | float | str | None]]
    epsilon_per_text: dict[str, float]
    seconds: float
    words_per_second: float
    fields: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Output:
    """The released file: base name, or null for standard output, size and sha256."""

    file: str | None
    bytes: int
    sha256: Digest


@dataclass(frozen=True, slots=True)
class Document:
    """A privacy report."""

    report: Literal["dptext"]
    version: Literal[1]
    audience: Literal["internal", "public"]
    success: bool
    run: Run
    guarantee: Statement
    risk: bayes.Risk | None
    risk_note: str
    deniability: Deniability | None
    output: Output | None
    private: Private | None


def describe(pipeline: Pipeline, key: str) -> Run:
    """Say what is run, without anything of a text."""
    recipe, lexicon = pipeline.profile, pipeline.lexicon
    return Run(
        dptext=__version__,
        algorithm=ALGORITHM.decode(),
        profile=recipe.name,
        settings=recipe.settings(),
        settings_digest=recipe.digest(),
        lexicon=lexicon.name,
        lexicon_digest=lexicon.digest,
        vocabulary=len(lexicon.words),
        dimensions=lexicon.vectors.shape[1],
        prior=str(lexicon.meta.get("prior", "not stated")),
        key=key,  # type: ignore[arg-type]
    )


def public(document: Document) -> Document:
    """Return the document without anything that depends on the private text."""
    return replace(document, audience="public", private=None)


def encode(document: Document) -> bytes:
    """Return the document as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def decode(data: bytes, place: str) -> Document:
    """Read a document. Raises UsageError when it does not follow the schema."""
    try:
        return msgspec.json.decode(data, type=Document)
    except msgspec.ValidationError as error:
        # The library's message may quote a value; the place it names is enough.
        where = str(error).rpartition(" - at `")[2].rstrip("`") or "$"
        msg = f"{place}: not a dptext report of version 1 (wrong or missing at {where})"
        raise UsageError(msg) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        msg = f"{place}: not JSON"
        raise UsageError(msg) from None


def schema() -> dict[str, Any]:
    """Return the JSON schema of a document."""
    found = _clean(msgspec.json.schema(Document))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def _clean(part: Any) -> Any:
    """Take the indentation out of descriptions: not every Python keeps it."""
    if isinstance(part, dict):
        return {
            key: inspect.cleandoc(value) if key == "description" else _clean(value)
            for key, value in part.items()
        }
    return [_clean(each) for each in part] if isinstance(part, list) else part


def sha256(data: bytes) -> str:
    """Return the digest under which a file is named."""
    return hashlib.sha256(data).hexdigest()
