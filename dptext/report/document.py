"""A privacy report as data, of words or of vectors; `schema.json` is made from it.

A public document holds nothing that depends on the private text but what `output` says
of the released file: its `private` part is null. It holds all that its statement
follows from, so that whoever has it and the lexicon can draw the statement up again
(dptext.report.recompute). A field never changes its meaning; sentences decide nothing,
all that a reader may decide by has a field of its own.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, ValidationError

from dptext.errors import UsageError
from dptext.guarantees.claims import SubjectLimit
from dptext.guarantees.statement import Statement
from dptext.measures.bayes_risk import Risk
from dptext.measures.context_risk import InContext
from dptext.measures.public import Deniability, NoRisk
from dptext.report.signatures import Signature
from dptext.types import JsonObject, ServerUse
from dptext.vectors.measures import Measures

VERSION: Final = 4
Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Meta(ge=0)]
_Key = Literal["system", "key-file", "seed"]


@dataclass(frozen=True, slots=True)
class Layout:
    """How records were read, as the settings of the run say; nothing of their content.

    format, null where outputs have several; fields, the names of the private fields,
    null where the whole input is text; id_field names records and is copied; delimiter,
    null where the header tells it; encoding, null for UTF-8; detected, whether nobody
    named the private field, so that it is the only one with text.
    """

    format: str | None
    fields: tuple[str, ...] | None
    id_field: str | None
    missing: Literal["fail", "pass"]
    delimiter: str | None
    quoting: bool
    header: bool
    detected: bool = False
    encoding: str | None = None


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

    settings are the resolved profile, epsilon included; lexicon names the words, or the
    sentence model, whose lexicon_digest is ""; key is where randomness came from;
    recorded, in which ledger, if in one.
    """

    dptext: str
    algorithm: str
    profile: str
    settings: dict[str, Any]
    settings_digest: Digest
    lexicon: str
    lexicon_digest: str
    key: _Key
    layout: Layout
    recorded: Recorded | None = None


@dataclass(frozen=True, slots=True)
class WordSection:
    """What a reader of the released words finds, and what they are drawn from.

    no_risk says why there is no risk; in_context, what readers of whole texts find in
    draws of public ones. vocabulary and dimensions are those of the lexicon, prior the
    source of its word frequencies; decoder_files, by setting, and list_files, by path,
    are the digests of what the decoder and the lists read.
    """

    risk: Risk | None
    no_risk: NoRisk | None
    risk_note: str
    deniability: Deniability | None
    in_context: tuple[InContext, ...]
    vocabulary: Count
    dimensions: Count
    prior: str
    decoder_files: dict[str, str]
    list_files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VectorSection:
    """What is measured of released vectors, and how they are made.

    measures are null where the run was seeded. epsilon_each is that of one vector, step
    that of the public grid; table_digest is of the vectors before the noise: those of
    the lexicon, weighted where the settings weight them, or of the sentence model.
    """

    measures: Measures | None
    dimensions: Count
    epsilon_each: float
    step: float
    table_digest: Digest


@dataclass(frozen=True, slots=True)
class WordCounts:
    """What was counted in texts whose words were replaced.

    tokens counts each class of token; treatment says what happened to each; metrics by
    name, of the words as they are written: decoded ones where describes says so;
    epsilon per text; words_per_second of the whole run; fields, in how many records
    each selected field is, null or not (empty for plain text); used, what a third party
    was asked in all. Rewritten texts have no metrics: no word stands for another.
    """

    tokens: dict[str, int]
    treatment: dict[str, str]
    share_copied: float
    metrics: dict[str, dict[str, int | float | str | None]]
    describes: Literal["drawn words", "decoded words", "rewritten texts"]
    epsilon_per_text: dict[str, float]
    words_per_second: float
    fields: dict[str, int] = field(default_factory=dict)
    used: ServerUse | None = None


@dataclass(frozen=True, slots=True)
class VectorCounts:
    """What was counted in texts that became vectors.

    most_of_one: the largest number of vectors of one subject, null without subjects;
    epsilon_of_one: what these lose together, at the statement's delta if it has one.
    """

    words: int
    vectors: int
    most_of_one: int | None
    epsilon_of_one: float | None


@dataclass(frozen=True, slots=True)
class Private:
    """Functions of the private text: for the owner of the text only.

    seconds are those of the whole run; words or vectors is null, as in the document.
    """

    inputs: tuple[str, ...]
    records: int
    faults: int
    texts: int
    seconds: float
    words: WordCounts | None
    vectors: VectorCounts | None


@dataclass(frozen=True, slots=True)
class Output:
    """The released file: base name, or null for standard output, size and sha256.

    copied names its fields that are copied unchanged, where it names all of its fields
    in one place (a header, a schema); else null. columns and rows are those of a file
    of vectors, else null. used, the third party that was sent draws of it, if one was.
    """

    file: str | None
    bytes: Count
    sha256: Digest
    copied: tuple[str, ...] | None
    columns: tuple[str, ...] | None
    rows: Count | None
    used: ServerUse | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A privacy report, either of words or of vectors: the other section is null.

    The signature is written last (dptext.report.signatures).
    """

    report: Literal["dptext"]
    version: Literal[4]
    audience: Literal["internal", "public"]
    success: bool
    run: Run
    guarantee: Statement
    words: WordSection | None
    vectors: VectorSection | None
    output: Output | None
    private: Private | None
    signature: Signature | None = None


def public(document: Document) -> Document:
    """Return the document without anything that depends on the private text."""
    return replace(document, audience="public", private=None)


def encode(document: object) -> bytes:
    """Return a document as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def decode(data: bytes, location: str) -> Document:
    """Read a document of this version or an older one.

    Raises UsageError when it does not follow the schema of its version.
    """
    try:
        plain, older = plain_of(data)
        _check_version(plain, location)
        known = msgspec.json.encode(plain) if older else data
        return _whole(msgspec.json.decode(known, type=Document))
    except ValidationError as error:
        # The library's message may quote a value; the place it names is enough.
        where = str(error).rpartition(" - at `")[2].rstrip("`") or "$"
        raise UsageError(
            f"{location}: not a dptext report of version {VERSION} (wrong or missing "
            f"at {where})"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UsageError(f"{location}: not JSON") from None


def plain_of(data: bytes) -> tuple[Any, bool]:
    """Return JSON with an older report brought to this version; whether it was one.

    Keys that its version does not know stay where they are. Raises ValidationError and
    DecodeError.
    """
    plain = msgspec.json.decode(data)
    known = _version(plain)
    if known not in _UPGRADES:
        return plain, False
    _UPGRADES[known](plain)
    return plain, True


def _whole(document: Document) -> Document:
    """Raise ValidationError where a document has no section, or both."""
    private = document.private
    if (document.words is None) == (document.vectors is None):
        raise ValidationError("either words or vectors - at `$.words`")
    if private is not None and (
        (private.words is None) != (document.words is None)
        or (private.vectors is None) != (document.vectors is None)
    ):
        raise ValidationError("either words or vectors - at `$.private`")
    return document


def _version(plain: object) -> tuple[str, int] | None:
    """Return the kind and the version that a report names."""
    head = plain if isinstance(plain, dict) else {}
    name, version = head.get("report"), head.get("version")
    if name in ("dptext", "dptext-embed") and type(version) is int:
        return name, version
    return None


def _check_version(plain: object, location: str) -> None:
    """Refuse a report of a version that is not read, by its number."""
    known = _version(plain)
    if known is None or known == ("dptext", VERSION):
        return
    name, version = known
    which = "the older" if version < VERSION else "a newer"
    command = "sanitize" if name == "dptext" else "embed"
    raise UsageError(
        f"{location}: a dptext report of version {version:d}, and this dptext "
        f"reads version {VERSION}: run dptext {command} again, or read it with {which} "
        "dptext"
    )


def _from_words_3(report: dict[str, Any]) -> None:
    """Put what is of words alone into sections."""
    run, output, private = (_part(report, key) for key in ("run", "output", "private"))
    figures = ("risk", "no_risk", "risk_note", "deniability", "in_context")
    sources = ("vocabulary", "dimensions", "prior", "decoder_files", "list_files")
    section = _taken(report, *figures) | _taken(run, *sources)
    counts = _taken(
        private,
        *("tokens", "treatment", "share_copied", "metrics", "describes"),
        *("epsilon_per_text", "words_per_second", "fields"),
    )
    report["version"] = VERSION
    _add(report, words=section, vectors=None)
    _add(output, columns=None, rows=None)
    _add(private, words=counts, vectors=None)


def _from_vectors_1(report: dict[str, Any]) -> None:
    """Put what is of vectors alone into sections; names are those of words."""
    run, output, private = (_part(report, key) for key in ("run", "output", "private"))
    figures = ("dimensions", "epsilon_each", "step", "table_digest")
    section = _taken(report, "measures") | _taken(run, *figures)
    counts = _taken(private, "words", "vectors", "most_of_one", "epsilon_of_one")
    report.update(report="dptext", version=VERSION)
    _add(report, success=True, words=None, vectors=section)
    _add(run, profile="embed", lexicon=run.pop("table", None), recorded=None)
    _add(output, copied=None)
    _add(private, words=None, vectors=counts)


_UPGRADES = {("dptext", 3): _from_words_3, ("dptext-embed", 1): _from_vectors_1}


def _part(of: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a part to change in its place; an empty one where there is none."""
    part = of.get(name)
    return part if isinstance(part, dict) else {}


def _taken(of: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: of.pop(name) for name in names if name in of}


def _add(to: dict[str, Any], **new: Any) -> None:
    """Add keys that an older version does not have. Raises ValidationError."""
    for name, value in new.items():
        if name in to:
            raise ValidationError(f"unknown to its version - at `$..{name}`")
        to[name] = value


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
