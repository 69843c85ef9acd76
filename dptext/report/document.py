"""A privacy report as data, of words or of vectors; `schema.json` is made from it.

A public document holds nothing that depends on the private text but what `output` says
of the released file: its `private` part is null. It holds all that its statement
follows from, so that whoever has it and the lexicon can draw the statement up again
(dptext.report.recompute); parts that no reader needs are left to that. What has its
default is not written. A field never changes its meaning; sentences decide nothing, all
that a reader may decide by has a field of its own.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Collection, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, ValidationError

from dptext import formats
from dptext.errors import UsageError
from dptext.guarantees.claims import SubjectLimit
from dptext.guarantees.statement import Statement
from dptext.measures.bayes_risk import Risk, Share
from dptext.measures.public import Deniability, NoRisk, PublicMeasures
from dptext.models.server_use import ServerAsked, ServerUse
from dptext.report.attackers import ReaderFigures
from dptext.report.signatures import Signature
from dptext.report.whole_texts import TopicFigures
from dptext.tokens import kinds, lists
from dptext.tokens.policy import Policy, WordClass
from dptext.types import JsonObject, Selection
from dptext.vectors import Measures

if TYPE_CHECKING:
    from dptext.engine.tally import Tally
    from dptext.pipeline import Pipeline
    from dptext.vectors.job import Counts
    from dptext.vectors.release import VectorRelease

VERSION: Final = 1
# In patterns, `$` alone would let a line end follow.
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
Count = Annotated[int, Meta(ge=0)]
# A version of dptext as packages write it: no words, so that a report claims nothing.
Release = Annotated[
    str, Meta(pattern=r"^[0-9]{1,4}(\.[0-9]{1,6}){1,3}((a|b|rc)[0-9]{1,3})?$(?!\n)")
]
_Encoding = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,32}$(?!\n)")]
_Hex = Annotated[str, Meta(pattern=r"^[0-9a-f]{1,128}$(?!\n)")]
_WIDEST = 240  # characters of a line of JSON that holds several values
_Key = Literal["system", "key-file", "seed"]
# What a layout has from a selection as it is.
_LAID_OUT = (
    "id_field missing delimiter quoting header encoding escapes dropped pseudonyms"
)
_OF_SELECTION = tuple(_LAID_OUT.split())
# Options that only some formats take.
_OF_FORMATS = ("missing", "delimiter", "quoting", "header", "encoding", "escapes")


@dataclass(frozen=True, slots=True)
class Layout:
    """How records were read, as the settings of the run say; nothing of their content.

    format, null where outputs have several; fields, the names of the private fields,
    null where the whole input is text, as strings of JSON may be, too; id_field names
    records and is copied; delimiter, null where the header tells it; encoding, null
    for UTF-8; escapes, what a backslash in a table is, null where no private field of
    one has any.
    """

    format: str | None
    fields: tuple[str, ...] | None
    id_field: str | None = None
    missing: Literal["fail", "pass"] = "fail"
    delimiter: Annotated[str, Meta(max_length=1)] | None = None
    quoting: bool = True
    header: bool = True
    encoding: _Encoding | None = None
    escapes: Literal["backslash", "none"] | None = None
    #: Fields of the input that the output leaves out.
    dropped: tuple[str, ...] = ()
    #: Fields whose values are keyed tokens, without differential privacy.
    pseudonyms: tuple[str, ...] = ()
    #: Whether the output has its records in random order.
    shuffled: bool = False

    @classmethod
    def from_selection(
        cls, selection: Selection, names: Collection[str], *, shuffled: bool = False
    ) -> Layout:
        """Say how the records of outputs in these formats were read."""
        if set(names) == {"text"}:  # without fields, whatever is named of others
            selection = replace(selection, fields=(), dropped=(), pseudonyms=())
        layout = cls(
            format=next(iter(names)) if len(names) == 1 else None,
            fields=selection.fields or None,
            **{name: getattr(selection, name) for name in _OF_SELECTION},
            shuffled=shuffled,
        )
        return layout.that_applies(names)

    def that_applies(self, names: Collection[str]) -> Layout:
        """Return it with the defaults of options that none of these formats takes.

        The environment and a file of settings may name a delimiter for all inputs.
        """
        read = [formats.find(None, name) for name in names]
        needed = {name: formats.REQUIREMENTS[name] for name in _OF_FORMATS}
        unused = [
            name
            for name, each in needed.items()
            if read and not any(map(each.is_met, read))
        ]
        usual = Selection()
        return replace(self, **{name: getattr(usual, name) for name in unused})

    def selection(self, longest: int) -> Selection:
        """Return how to read such records, of at most so many bytes."""
        named = {name: getattr(self, name) for name in _OF_SELECTION}
        there = Selection(
            self.fields or (),
            max_record_bytes=longest,
            strings=self.fields is None and self.format != "text",
            **named,
        )
        return there.output_selection()


@dataclass(frozen=True, slots=True)
class Recorded:
    """The ledger that an output is recorded in, by its id, and as which entry.

    entry is null where a report is of several outputs.
    """

    ledger: _Hex
    entry: _Hex | None
    limits: SubjectLimit


@dataclass(frozen=True, slots=True)
class Run:
    """What was run: versions, settings, lexicon, layout of the records.

    settings are the resolved profile, epsilon included; lexicon names the words, or the
    sentence model, whose lexicon_digest is ""; key is where randomness came from;
    recorded, in which ledger, if in one.
    """

    dptext: Release
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

    no_risk says why there is no risk; a public report leaves out the frequency bands of
    the risk. written, how many written words of public texts are the original under
    these settings; readers, what readers of whole texts find in draws of public ones,
    at the smaller risk readers_risk (a lower limit) or, where that is null, under these
    settings. Both are of texts in `language`, that of the lexicon.
    vocabulary and dimensions are those of the lexicon, prior the source of its word
    frequencies ("" in a public report); decoder_files, by setting, and list_files, by
    path, are the digests of what the decoder and the lists read.
    """

    risk: Risk | None
    risk_note: str
    vocabulary: Count
    dimensions: Count
    prior: str = ""
    no_risk: NoRisk | None = None
    deniability: Deniability | None = None
    readers: tuple[ReaderFigures, ...] = ()
    written: tuple[ReaderFigures, ...] = ()
    readers_risk: Share | None = None
    language: str = ""
    decoder_files: dict[str, str] = field(default_factory=dict)
    list_files: dict[str, str] = field(default_factory=dict)
    #: Where whole texts become topics; null where words are replaced.
    topics: TopicFigures | None = None

    @classmethod
    def from_pipeline(cls, pipeline: Pipeline, measures: PublicMeasures) -> WordSection:
        """Return what public data alone say of a pipeline."""
        lexicon = pipeline.lexicon
        return cls(
            risk=measures.risk,
            risk_note=measures.risk_note,
            vocabulary=len(lexicon.words),
            dimensions=lexicon.vectors.shape[1],
            prior=str(lexicon.meta.get("prior", "not stated")),
            no_risk=measures.no_risk,
            deniability=measures.deniability,
            readers=ReaderFigures.from_measured(measures.in_context),
            written=ReaderFigures.from_measured(measures.written),
            readers_risk=measures.readers_risk,
            language=lexicon.language,
            decoder_files=dict(pipeline.decoder.content),
            list_files=lists.digests(pipeline.profile.tokens),
            topics=TopicFigures.from_pipeline(pipeline),
        )


@dataclass(frozen=True, slots=True)
class VectorSection:
    """What is measured of released vectors, and how they are made.

    measures are null where the run was seeded. epsilon_each is that of one vector, step
    that of the public grid (0: public points lie on none); table_digest is of the
    vectors before the noise: those of the lexicon, weighted where the settings weight
    them, or of the sentence model.
    """

    measures: Measures | None
    dimensions: Count
    epsilon_each: float
    step: float
    table_digest: Digest

    @classmethod
    def from_release(
        cls, release: VectorRelease, measures: Measures | None
    ) -> VectorSection:
        """Return what public data alone say of a release."""
        return cls(
            measures=measures,
            dimensions=release.dimensions,
            epsilon_each=release.epsilon,
            step=release.mechanism.step(release.epsilon),
            table_digest=release.lexicon.digest,
        )


# Texts with more words that the lexicon lacks are in another language.
_UNKNOWN = 1 / 3
# By the codes of treatments (dptext.tokens.policy).
_TREATED = (
    "replaced",
    "copied",
    "masked",
    "left out",
    "random digits",
    "made new",
    "kept as layout",
)


def treatment(policy: Policy) -> dict[str, str]:
    """Say for each class of token what happens to it."""
    names = zip(kinds.NAMES, policy.treatments.tolist(), strict=False)
    treated = {name: _TREATED[code] for name, code in names}
    # Classes that there are only where they are asked for.
    asked = {each.kind for each in policy.classes}
    asked |= {kinds.COMMON} if policy.common else set()
    every = {each.kind for each in WordClass} | {kinds.COMMON}
    optional = {kinds.NAMES[kind] for kind in every - asked}
    return {name: how for name, how in treated.items() if name not in optional}


@dataclass(frozen=True, slots=True)
class WordCounts:
    """What was counted in texts whose words were replaced.

    tokens counts each class of token; treatment says what happened to each; metrics by
    name, of the words as they are written: decoded ones where describes says so;
    epsilon per text; words_per_second of the whole run; fields, in how many records
    each selected field is, null or not (empty for plain text); forms, how many pieces
    had each form, markup and fixed expressions among them; used, what a third party was
    asked in all. Rewritten texts have no metrics: no word stands for another.
    """

    tokens: dict[str, int]
    treatment: dict[str, str]
    share_copied: float
    metrics: dict[str, dict[str, int | float | str | None]]
    describes: Literal["drawn words", "decoded words", "rewritten texts"]
    epsilon_per_text: dict[str, float]
    words_per_second: float
    fields: dict[str, int] = field(default_factory=dict)
    forms: dict[str, int] = field(default_factory=dict)
    used: ServerUse | None = None

    @property
    def other_language(self) -> bool:
        """Tell whether over a third of the words are not in the lexicon."""
        known = sum(self.tokens.get(key, 0) for key in ("word", "stop_word", "common"))
        unknown = self.tokens.get("unknown", 0)
        return unknown > _UNKNOWN * (known + unknown)

    @classmethod
    def from_tally(cls, pipeline: Pipeline, tally: Tally) -> WordCounts:
        """Return what a run counted."""
        counted, meters = tally.counted, tally.meters
        tokens = dict(zip(kinds.NAMES, counted.tokens.tolist(), strict=False))
        treated = treatment(pipeline.profile.tokens)
        tokens = {name: number for name, number in tokens.items() if name in treated}
        wordlike = tokens.keys() - kinds.MARK_NAMES
        total = sum(tokens[name] for name in wordlike)
        copied = sum(tokens[name] for name in wordlike if treated[name] == "copied")
        describes = "drawn words"
        if pipeline.rewrites:
            describes = "rewritten texts"
        elif pipeline.profile.decoder.params.reads:
            describes = "decoded words"
        return cls(
            tokens=tokens,
            treatment=treated,
            share_copied=copied / total if total else 0.0,
            metrics={} if pipeline.rewrites else meters.results(counted),
            describes=describes,  # type: ignore[arg-type]
            epsilon_per_text=meters.epsilons.result(counted.epsilons),
            words_per_second=counted.words / tally.seconds if tally.seconds else 0.0,
            fields=dict(tally.fields),
            forms=dict(sorted(counted.forms.items())),
            used=pipeline.decoder.used,
        )


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
    """Functions of the private text, for its owner only; seconds are of the run."""

    inputs: tuple[str, ...]
    records: int
    faults: int
    texts: int
    seconds: float
    words: WordCounts | None
    vectors: VectorCounts | None
    #: What the run warned of, which depends on the private text, as does their absence.
    warnings: tuple[str, ...] = ()

    @classmethod
    def from_counts(
        cls,
        inputs: Sequence[str],
        counts: Tally | Counts,
        words: WordCounts | None = None,
        vectors: VectorCounts | None = None,
    ) -> Private:
        """Return counts; paths as JSON can hold them: other bytes are escaped."""
        shown = tuple(
            path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            for path in inputs
        )
        numbers = counts.records, counts.faults, counts.texts, counts.seconds
        return cls(shown, *numbers, words, vectors)


@dataclass(frozen=True, slots=True)
class Output:
    """The released file: base name, or null for standard output, size and sha256.

    copied names its fields that are copied unchanged, where it names all of its fields
    in one place (a header, a schema); else null. columns and rows are those of a file
    of vectors, else null. used, whom the run asked to decode draws, if anybody.
    """

    file: str | None
    bytes: Count
    sha256: Digest
    copied: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
    rows: Count | None = None
    used: ServerAsked | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A privacy report, either of words or of vectors: the other section is null.

    The signature is written last (dptext.report.signatures).
    """

    report: Literal["dptext"]
    version: Literal[1]
    audience: Literal["internal", "public"]
    success: bool
    run: Run
    guarantee: Statement
    words: WordSection | None
    vectors: VectorSection | None
    output: Output | None
    private: Private | None
    signature: Signature | None

    @property
    def risk(self) -> float | None:
        """Return how often the best guess of one word is right, None if not known."""
        risk = None if self.words is None else self.words.risk
        return None if risk is None else risk.success

    @property
    def written(self) -> float | None:
        """Return how many written words are the original, None if not measured.

        Of the kinds of text the one where most are.
        """
        rows = () if self.words is None else self.words.written
        return max((row.success for row in rows), default=None)

    @property
    def policy(self) -> Policy | None:
        """Return what its settings say of tokens, None where they are not valid."""
        try:
            return msgspec.convert(self.run.settings.get("tokens"), Policy)
        except ValidationError:
            return None

    def to_json(self) -> str:
        """Return it as JSON, private figures included: see `public`."""
        return encode(self).decode()

    def _repr_html_(self) -> str:
        """Return the short answer, for notebooks."""
        # By its name: the answer imports this module, and notebooks alone need it.
        shown: str = import_module("dptext.report.answer").to_html(self)
        return shown


def public(document: Document) -> Document:
    """Return the document without anything that depends on the private text.

    It is short: bands of the risk, layouts of forms, the source of word frequencies and
    N_w and S_w follow from settings and lexicon, what compared texts have in common
    stands in the sentence of the guarantee, and of figures that ship the row of each
    kind of text is enough.
    """
    words, promise = document.words, document.guarantee
    if words is not None:
        promise = replace(promise, adjacency=(), covered=(), form_layouts=())
        risk = None if words.risk is None else replace(words.risk, bands=())
        words = replace(
            words,
            risk=risk,
            prior="",
            deniability=None,
            readers=tuple(each.in_short() for each in words.readers),
            written=tuple(each.in_short() for each in words.written),
        )
    return replace(
        document, audience="public", private=None, guarantee=promise, words=words
    )


def encode(document: object) -> bytes:
    """Return a document as JSON in lines: what has its default is left out."""
    data = msgspec.json.encode(_without_defaults(document))
    return f"{_in_lines(json.loads(data))}\n".encode()


def _without_defaults(value: object) -> object:
    """Return the fields of dataclasses in a value by name, but for defaults."""
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
    """Write JSON: a part on one line where it fits there."""
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
    """Decode a report. Raises UsageError unless it follows the schema."""
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
        raise UsageError(
            f"{location}: not a dptext report of version {VERSION} (wrong or missing "
            f"at {where})"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UsageError(
            f"{location}: not JSON; name a report, or a file with its report beside it"
        ) from None


class _Head(msgspec.Struct):
    """The part of a report that names its schema."""

    report: Literal["dptext"]
    version: Annotated[int, Meta(ge=0, le=9999)]


def _check_version(data: bytes, location: str) -> None:
    """Raise UsageError for a report of another version of the schema."""
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
    """Take the indentation out of descriptions: not every Python keeps it."""
    if isinstance(part, dict):
        return {
            key: inspect.cleandoc(value) if key == "description" else _clean(value)
            for key, value in part.items()
        }
    return [_clean(each) for each in part] if isinstance(part, list | tuple) else part
