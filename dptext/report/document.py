"""The report as data; `schema.json` beside it is made from these classes.

A public document holds nothing that depends on the private text but the digest of the
released file: its `private` part is null. It holds all that its statement follows from,
so that whoever has it and the lexicon can draw the statement up again
(dptext.report.recompute). A field never changes its meaning; sentences decide nothing,
all that a reader may decide by has a field of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from dptext import __version__
from dptext.errors import UsageError
from dptext.guarantees.statement import Statement
from dptext.guarantees.terms import SubjectLimit
from dptext.measures import bayes_risk
from dptext.measures.deniability import Deniability
from dptext.measures.public import NoRisk
from dptext.measures.readings import InContext
from dptext.pipeline import Pipeline
from dptext.randomness import ALGORITHM
from dptext.signatures import Signature
from dptext.tokens import lists
from dptext.types import JsonObject, Selection

VERSION: Final = 3
Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class Layout:
    """How records were read, as the settings of the run say; nothing of their content.

    format, null where outputs have several; fields, the names of the private fields,
    null where the whole input is text; id_field names records and is copied; detected,
    whether nobody named the private field, so that it is the only one with text.
    """

    format: str | None
    fields: tuple[str, ...] | None
    id_field: str | None
    missing: Literal["fail", "pass"]
    delimiter: str | None
    quoting: bool
    header: bool
    detected: bool = False


@dataclass(frozen=True, slots=True)
class Recorded:
    """The ledger that an output is recorded in, by its id, and as which entry.

    entry is null where a report is of several outputs.
    """

    ledger: str
    entry: str | None
    limits: SubjectLimit


@dataclass(frozen=True, slots=True)
class Run:
    """What was run: versions, settings, lexicon, layout of the records.

    settings are the resolved profile, epsilon included; key is where randomness came
    from; decoder_files, by setting the digests of what the decoder reads; recorded, in
    which ledger, if in one; list_files, by path the digests of the files of lists.
    """

    dptext: str
    algorithm: str
    profile: str
    settings: dict[str, Any]
    settings_digest: Digest
    lexicon: str
    lexicon_digest: str
    vocabulary: Count
    dimensions: Count
    prior: str
    key: Literal["system", "key-file", "seed"]
    layout: Layout
    decoder_files: dict[str, str]
    recorded: Recorded | None = None
    list_files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Private:
    """Functions of the private text: for the owner of the text only.

    tokens counts each class of token; treatment says what happened to each; metrics by
    name, of the words as they are written: decoded ones where describes says so;
    epsilon per text; seconds and words_per_second of the whole run; fields, in
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
    describes: Literal["drawn words", "decoded words"]
    epsilon_per_text: dict[str, float]
    seconds: float
    words_per_second: float
    fields: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Output:
    """The released file: base name, or null for standard output, size and sha256.

    copied names its fields that are copied unchanged, where it names all of its fields
    in one place (a header, a schema); else null.
    """

    file: str | None
    bytes: Count
    sha256: Digest
    copied: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Document:
    """A privacy report; in_context, what readers find in draws of public texts.

    The signature is written last (dptext.signatures).
    """

    report: Literal["dptext"]
    version: Literal[3]
    audience: Literal["internal", "public"]
    success: bool
    run: Run
    guarantee: Statement
    risk: bayes_risk.Risk | None
    no_risk: NoRisk | None
    risk_note: str
    deniability: Deniability | None
    in_context: tuple[InContext, ...]
    output: Output | None
    private: Private | None
    signature: Signature | None = None


def layout(selection: Selection, formats: Collection[str]) -> Layout:
    """Say how the records of outputs in these formats were read."""
    return Layout(
        format=next(iter(formats)) if len(formats) == 1 else None,
        fields=None if set(formats) == {"text"} else selection.fields,
        id_field=selection.id_field,
        missing=selection.missing,  # type: ignore[arg-type]
        delimiter=selection.delimiter,
        quoting=selection.quoting,
        header=selection.header,
        detected=selection.is_detected and set(formats) != {"text"},
    )


def describe(
    pipeline: Pipeline, key: str, layout: Layout, recorded: Recorded | None = None
) -> Run:
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
        layout=layout,
        decoder_files=dict(pipeline.decoder.content),
        recorded=recorded,
        list_files=lists.digests(recipe.tokens),
    )


def public(document: Document) -> Document:
    """Return the document without anything that depends on the private text."""
    return replace(document, audience="public", private=None)


def encode(document: object) -> bytes:
    """Return a document as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def decode(data: bytes, location: str) -> Document:
    """Read a document. Raises UsageError when it does not follow the schema."""
    try:
        _check_version(data, location)
        return msgspec.json.decode(data, type=Document)
    except msgspec.ValidationError as error:
        # The library's message may quote a value; the place it names is enough.
        where = str(error).rpartition(" - at `")[2].rstrip("`") or "$"
        raise UsageError(
            f"{location}: not a dptext report of version {VERSION} (wrong or missing "
            f"at {where})"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UsageError(f"{location}: not JSON") from None


class _Head(msgspec.Struct):
    report: object = None
    version: object = None


def _check_version(data: bytes, location: str) -> None:
    """Refuse the report of another version by its number."""
    head = msgspec.json.decode(data, type=_Head)
    if head.report != "dptext" or type(head.version) is not int:
        return
    if head.version == VERSION:
        return
    which = "the older" if head.version < VERSION else "a newer"
    raise UsageError(
        f"{location}: a dptext report of version {head.version:d}, and this dptext "
        f"reads version {VERSION}: run dptext sanitize again, or read it with {which} "
        "dptext"
    )


def schema() -> JsonObject:
    """Return the JSON schema of a document."""
    parts = _clean(msgspec.json.schema(Document))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **parts}


def _clean(part: Any) -> Any:
    """Take the indentation out of descriptions: not every Python keeps it."""
    if isinstance(part, dict):
        return {
            key: inspect.cleandoc(value) if key == "description" else _clean(value)
            for key, value in part.items()
        }
    return [_clean(each) for each in part] if isinstance(part, list) else part
