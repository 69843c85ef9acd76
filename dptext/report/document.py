"""The privacy report as data, for words or vectors; the source of `schema.json`.

A public document depends on the private text only in `output`, which describes the
released file: its `private` part is null. It contains everything its statement
depends on, so that anybody with it and the lexicon can recompute the statement
(dptext.checking.recompute); parts that no reader needs are omitted. Fields with
default values are not written. A field never changes its meaning. Sentences are for
people: every decision of a program has its own field.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, ValidationError

from dptext import signatures, word_file
from dptext.errors import UsageError
from dptext.guarantees.statement import Statement
from dptext.measures.context_risk import AttackerFigures
from dptext.report.sections import Output, Private, Run, VectorSection, WordSection
from dptext.tokens.policy import Policy
from dptext.types import JsonObject, about

VERSION: Final = 1
_WIDEST = 240  # characters of a line of JSON that holds several values
_NEXT = "name a report, or a file with its report beside it"


@dataclass(frozen=True, slots=True)
class Document:
    """A privacy report, either of words or of vectors: the other section is null."""

    # No row: programs tell files apart by it.
    report: Annotated[Literal["dptext"], about("Kind of file.")]
    # No row: programs decide by it.
    version: Annotated[Literal[1], about("Version of this schema.")]
    audience: Annotated[
        Literal["internal", "public"],
        about("Readers: the owner of the text, or anybody."),
    ]
    success: Annotated[bool, about("Whether the run succeeded.")]
    run: Annotated[Run, about("Versions, settings and layout of the run.")]
    guarantee: Annotated[Statement, about("The guarantee, and its limits.")]
    words: Annotated[WordSection | None, about("Public figures of released words.")]
    vectors: Annotated[
        VectorSection | None, about("Public figures of released vectors.")
    ]
    output: Annotated[
        Output | None, about("The released file; null if there is none, or several.")
    ]
    private: Annotated[
        Private | None, about("Functions of the private text; null in a public report.")
    ]
    # No row: the page says who signed.
    signature: Annotated[
        signatures.Signature | None,
        about("Signature of the public report, written last; null without one."),
    ]

    @property
    def risk(self) -> float | None:
        """Return the success rate of the best guess of a word, None if unknown.

        The attacker sees the word's grammatical form, if it is shown.
        """
        risk = None if self.words is None else self.words.risk
        return None if risk is None else risk.shown

    @property
    def written(self) -> float | None:
        """Return the share of written words that are the original, None if unknown.

        The largest share over the kinds of text.
        """
        rows = () if self.words is None else self.words.written
        return max((row.success for row in rows), default=None)

    @property
    def attackers(self) -> tuple[AttackerFigures, ...]:
        """Return the figures of whole-text attackers."""
        return () if self.words is None else self.words.attackers

    @property
    def is_in_memory(self) -> bool:
        """Return whether a program passed the texts in memory, without a file."""
        return self.output is None and (self.private is None or not self.private.inputs)

    @property
    def policy(self) -> Policy | None:
        """Return the token policy in its settings, None if they are invalid."""
        tokens = self.run.settings.get("tokens")
        words: word_file.WordFile | None = None
        if isinstance(tokens, dict) and "words" in tokens:
            tokens = {**tokens}
            if (words := word_file.from_settings(tokens.pop("words"))) is None:
                return None
        try:
            return replace(msgspec.convert(tokens, Policy), words=words)
        except ValidationError:
            return None

    def to_json(self) -> str:
        """Return it as JSON, including private figures: see `public`."""
        return encode(self).decode()


def public(document: Document) -> Document:
    """Return the document without anything that depends on the private text.

    It also omits parts that follow from settings and lexicon (bands of the risk,
    layouts of forms, source of word frequencies, N_w and S_w) or repeat the sentence of
    the guarantee, and keeps one row of shipped figures per kind of text.
    """
    words, promise = document.words, document.guarantee
    if words is not None:
        promise = replace(
            promise,
            scope=replace(promise.scope, adjacency=(), covered=()),
            wording=replace(promise.wording, form_layouts=()),
        )
        risk = None if words.risk is None else replace(words.risk, bands=())
        words = replace(
            words,
            risk=risk,
            prior="",
            deniability=None,
            attackers=tuple(each.in_short() for each in words.attackers),
            written=tuple(each.in_short() for each in words.written),
        )
    return replace(
        document, audience="public", private=None, guarantee=promise, words=words
    )


def encode(document: object) -> bytes:
    """Return a document as JSON in lines, without default values."""
    data = msgspec.json.encode(_without_defaults(document))
    return f"{_in_lines(json.loads(data))}\n".encode()


def _without_defaults(value: object) -> object:
    """Convert dataclasses to dictionaries, without default values."""
    if is_dataclass(value) and not isinstance(value, type):
        written = {}
        for each in fields(value):
            factory = each.default_factory
            default = each.default if factory is MISSING else factory()
            if (inner := getattr(value, each.name)) != default:
                written[each.name] = _without_defaults(inner)
        return written
    if isinstance(value, dict):
        return {key: _without_defaults(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_without_defaults(inner) for inner in value]
    return value


def _in_lines(value: object, pad: str = "\n") -> str:
    """Format JSON with each part on one line if it fits."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(line) <= _WIDEST:
        return line
    inner = f"{pad}  "
    if isinstance(value, dict):
        named = ((json.dumps(key, ensure_ascii=False), value[key]) for key in value)
        parts = [f"{name}: {_in_lines(each, inner)}" for name, each in named]
    else:
        parts = [_in_lines(each, inner) for each in value]
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}{inner}{f',{inner}'.join(parts)}{pad}{end}"


def decode(data: bytes, location: str) -> Document:
    """Decode a report. Raises UsageError if it violates the schema."""
    try:
        _check_version(data, location)
        document = msgspec.json.decode(data, type=Document)
        private = document.private or document
        for section in (document, private):
            if (section.words is None) == (section.vectors is None):
                raise ValidationError("either words or vectors - at `$.words`")
        if (private.words is None) != (document.words is None):
            raise ValidationError("either words or vectors - at `$.private`")
        return document
    except ValidationError as error:
        # The library's message may quote a value; the place it names is enough.
        _, stated, where = str(error).rpartition(" - at `")
        where = where.rstrip("`") if stated else "$"
        if where in ("$", "$.report"):
            raise UsageError(f"{location}: not a dptext report; {_NEXT}") from None
        raise UsageError(
            f"{location}: not a dptext report of version {VERSION} (wrong or missing "
            f"at {where})"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UsageError(f"{location}: not JSON; {_NEXT}") from None


class _Head(msgspec.Struct):
    """The part of a report that identifies its schema."""

    report: Literal["dptext"]
    version: Annotated[int, Meta(ge=0, le=9999)]


def _check_version(data: bytes, location: str) -> None:
    """Raise UsageError for a report with another schema version."""
    version = msgspec.json.decode(data, type=_Head).version
    if version == VERSION:
        return
    raise UsageError(
        f"{location}: a dptext report of version {version}, and this dptext reads "
        f"version {VERSION}: make the file and its report again, or use a dptext that "
        f"reads version {version}"
    )


def schema() -> JsonObject:
    """Return the JSON schema of a document."""
    parts = _clean(msgspec.json.schema(Document))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **parts}


def _clean(part: Any) -> Any:
    """Remove indentation of descriptions, and empty defaults.

    Versions of Python and msgspec differ in both.
    """
    if isinstance(part, dict):
        return {
            key: inspect.cleandoc(value) if key == "description" else _clean(value)
            for key, value in part.items()
            if not (key == "default" and value == {})
        }
    return [_clean(each) for each in part] if isinstance(part, list | tuple) else part
