"""The report of a release of vectors as data; what is public depends on no text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from dptext import __version__, lexicons, streams
from dptext.embedding import claims, measures, statement
from dptext.embedding.columns import Writer
from dptext.embedding.job import Counts
from dptext.embedding.measures import Measures
from dptext.embedding.release import Release
from dptext.engines.serial import Job
from dptext.errors import UsageError
from dptext.guarantees.statement import Statement
from dptext.randomness import ALGORITHM
from dptext.report.document import Count, Digest, Layout
from dptext.report.internal import shown
from dptext.signatures import Signature

VERSION: Final = 1
KIND: Final = "dptext-embed"


@dataclass(frozen=True, slots=True)
class Run:
    """What was run; settings are the resolved ones, epsilon included.

    table is the lexicon or the sentence model, with the digest of its vectors;
    lexicon_digest that of a lexicon as it is (SIF weighs it), "" for a model's;
    epsilon_each is that of one vector, step that of the public grid.
    """

    dptext: str
    algorithm: str
    settings: dict[str, Any]
    settings_digest: Digest
    table: str
    table_digest: Digest
    lexicon_digest: str
    dimensions: Count
    epsilon_each: float
    step: float
    key: Literal["system", "key-file", "seed"]
    layout: Layout


@dataclass(frozen=True, slots=True)
class Output:
    """The released file: base name, size, sha256, rows, and names of its columns."""

    file: str
    bytes: Count
    sha256: Digest
    rows: Count
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Private:
    """Functions of the private text: for its owner only.

    most_of_one: the largest number of vectors of one subject, null without subjects;
    epsilon_of_one: what these lose together, at the statement's delta if it has one.
    """

    inputs: tuple[str, ...]
    records: int
    faults: int
    texts: int
    words: int
    vectors: int
    most_of_one: int | None
    epsilon_of_one: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class VectorDocument:
    """A privacy report of vectors."""

    report: Literal["dptext-embed"]
    version: Literal[1]
    audience: Literal["internal", "public"]
    run: Run
    guarantee: Statement
    measures: Measures | None
    output: Output | None
    private: Private | None
    signature: Signature | None = None


def stated(
    release: Release, key: str, layout: Layout, *, measured: Measures | None = None
) -> VectorDocument:
    """Draw up all of a report that follows from settings, table and layout alone."""
    settings = release.settings
    return VectorDocument(
        report=KIND,
        version=VERSION,
        audience="public",
        run=Run(
            dptext=__version__,
            algorithm=ALGORITHM.decode(),
            settings=settings.plain(),
            settings_digest=settings.digest(),
            table=release.lexicon.name,
            table_digest=release.lexicon.digest,
            lexicon_digest=release.base_digest,
            dimensions=release.dimensions,
            epsilon_each=release.epsilon,
            step=release.mechanism.step(release.epsilon),
            key=key,  # type: ignore[arg-type]
            layout=layout,
        ),
        guarantee=statement.build(
            release,
            key=key,
            identified=layout.id_field is not None,
            lexicon_is_custom=release.base_digest != lexicons.builtin_digest(),
        ),
        # Whoever knows the seed needs no guess.
        measures=None if key == "seed" else measured or measures.of(release),
        output=None,
        private=None,
    )


def finished(
    ready: Release,
    key: str,
    layout: Layout,
    job: Job,
    counts: Counts,
    writer: Writer,
    output: streams.Output,
) -> VectorDocument:
    """Return the internal report of a finished job; key is the run key's origin."""
    document = stated(ready, key, layout)
    claim = claims.claim(ready, key)
    most = max(counts.subjects.values(), default=None)
    lost = None if most is None or claim.none else claim.together(most)
    assert job.output is not None
    assert output.digest is not None
    return replace(
        document,
        audience="internal",
        output=Output(
            Path(job.output).name,
            output.size,
            output.digest,
            writer.rows,
            writer.names,
        ),
        private=Private(
            inputs=tuple(map(shown, job.inputs)),
            records=counts.records,
            faults=counts.faults,
            texts=counts.texts,
            words=counts.words,
            vectors=counts.vectors,
            most_of_one=most,
            epsilon_of_one=lost,
            seconds=counts.seconds,
        ),
    )


def public(document: VectorDocument) -> VectorDocument:
    """Return the document without anything that depends on the private text."""
    return replace(document, audience="public", private=None)


def is_kind(data: bytes) -> bool:
    """Tell whether JSON is a report of vectors, whole or not."""
    try:
        head = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(head, dict) and head.get("report") == KIND


def decode(data: bytes, location: str) -> VectorDocument:
    """Read a document. Raises UsageError when it does not follow the schema."""
    try:
        return msgspec.json.decode(data, type=VectorDocument)
    except (msgspec.ValidationError, UnicodeDecodeError, RecursionError) as error:
        # The library's message may quote a value; the place it names is enough.
        where = str(error).rpartition(" - at `")[2].rstrip("`") or "$"
        msg = (
            f"{location}: not a dptext report of vectors of version {VERSION} (wrong "
            f"or missing at {where})"
        )
        raise UsageError(msg) from None
