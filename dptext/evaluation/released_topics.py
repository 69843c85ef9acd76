"""The written topics of a private output, read by the law that its report states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dptext import lexicons
from dptext.checking import exports
from dptext.errors import UsageError
from dptext.evaluation import rows
from dptext.evaluation.shares import Law
from dptext.lexicons import topics
from dptext.report import document
from dptext.report.document import Document
from dptext.report.layout import sidecar_path
from dptext.run.interface import option
from dptext.run.selection import Selection
from dptext.tokens.whole_texts import SEPARATOR, TopicJoiner
from dptext.types import Ints

_LONGEST = 16 * 2**20


@dataclass(frozen=True, slots=True)
class ReleasedTopics:
    """Topics of the texts of one output."""

    law: Law
    #: Each topic as its words, (K,), the commonest in public text first.
    phrases: tuple[str, ...]
    #: Topics written for each text, (n, k).
    drawn: Ints
    #: Number of the record of each text, (n,).
    records: Ints
    #: Values of further fields for each text: n of each.
    values: tuple[tuple[str | None, ...], ...]
    #: Field with values that tell records apart, None if their places do.
    id_field: str | None
    #: Identity of the lexicon of topics.
    digest: str


def read(path: Path, fields: Sequence[str] = ()) -> ReleasedTopics:
    """Read an output of the release of topics, with the report beside it.

    fields: unchanged fields of the output to return values of. Raises UsageError
    where there is no report, where the output is no release of topics or is drawn by
    another law than randomised response, and where a text is no topic.
    """
    export = exports.on_disk(path)
    if export.report is None:
        raise UsageError(
            f"{path}: there is no report {sidecar_path(path).name} beside it, "
            "which states how topics were drawn"
        )
    report = document.decode(export.report, str(sidecar_path(path)))
    if report.output is None or report.output.sha256 != export.sha256:
        raise UsageError(f"{path}: not the file that its report describes")
    law = _law(report, path)
    lexicon = lexicons.by_digest(report.run.lexicon_digest)
    if lexicon is None or topics.topic_meta(lexicon) is None:
        raise UsageError(
            f"{path}: its topics {report.run.lexicon} are not installed here; put "
            f"their file in {topics.folder()}"
        )
    policy = report.policy
    written = "words" if policy is None else policy.topic
    joiner = TopicJoiner(lexicon, ids=written != "words", words=written != "id")
    row_of = {phrase: row for row, phrase in enumerate(joiner.phrases)}
    selection = report.run.layout.selection(_LONGEST)
    drawn, records, columns = _texts(
        path, report, selection, fields, row_of=row_of, together=law.together
    )
    return ReleasedTopics(
        law=law,
        phrases=lexicon.words,
        drawn=np.array(drawn, np.int64).reshape(-1, law.together),
        records=np.array(records, np.int64),
        values=columns,
        id_field=selection.id_field,
        digest=lexicon.digest,
    )


def _texts(
    path: Path,
    report: Document,
    selection: Selection,
    fields: Sequence[str],
    *,
    row_of: dict[str, int],
    together: int,
) -> tuple[list[list[int]], list[int], tuple[tuple[str | None, ...], ...]]:
    """Return the topics of each text, its record, and values of fields for it."""
    drawn: list[list[int]] = []
    records: list[int] = []
    columns: list[list[str | None]] = [[] for _ in fields]
    values = {"by": fields}
    text_rows = rows.records(str(path), selection, values, report.run.layout.format)
    for number, row in enumerate(text_rows, 1):
        for text in row.texts:
            phrases = [text] if together == 1 else text.split(SEPARATOR)
            rows_of_text = {row_of.get(phrase, -1) for phrase in phrases}
            if -1 in rows_of_text or len(rows_of_text) != together:
                raise UsageError(
                    f"{path}: record {number} holds no topic of the report"
                )
            drawn.append(sorted(rows_of_text))
            records.append(number)
            for column, value in zip(columns, row.values, strict=True):
                column.append(value)
    return drawn, records, tuple(map(tuple, columns))


def _law(report: Document, path: Path) -> Law:
    """Return the law of the draws. Raises UsageError where shares do not follow."""
    settings = report.run.settings
    mechanism, budget = settings.get("mechanism", {}), settings.get("budget", {})
    named = topics.split(report.run.lexicon)
    if report.words is None or named is None:
        raise UsageError(
            f"{path}: not a release of topics (dptext sanitize "
            f"{option('topics', 'NAME')})"
        )
    if mechanism.get("name") == "subset":
        k = int(mechanism["k"])
        return Law(report.words.vocabulary, float(budget["epsilon"]), k)
    # Under a top group of several topics, other shares give the same file.
    is_plain = (
        mechanism.get("name") == "rank"
        and mechanism.get("weights") == "staircase"
        and mechanism.get("k") == 1
    )
    if not is_plain:
        raise UsageError(
            f"{path}: shares follow from randomised response alone: weights staircase "
            "with k 1, as the profile topics has them, or from the mechanism subset"
        )
    return Law(report.words.vocabulary, float(budget["epsilon"]))
