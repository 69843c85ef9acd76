"""The operator of Presidio: spans get new words, the report excludes the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from dptext.tokens.language_data import closed_classes
from dptext.types import Lexicon
from tests.cli.running import lexicon

presidio = pytest.importorskip("presidio_anonymizer")
from presidio_anonymizer.entities import (  # noqa: E402
    InvalidParamError,
    OperatorConfig,
    RecognizerResult,
)

from dptext.integrations.presidio import DptextOperator, Run  # noqa: E402

KEY = bytes(range(7, 7 + 64))
TEXT = "the film of Jane Doe was good, of old water too"


def anonymized(run: object) -> str:
    """Replace two spans of a text, as users of Presidio do."""
    engine = presidio.AnonymizerEngine()
    engine.add_anonymizer(DptextOperator)
    spans = [("PERSON", "Jane Doe"), ("OTHER", "water")]
    entities = [
        RecognizerResult(kind, TEXT.index(span), TEXT.index(span) + len(span), 1.0)
        for kind, span in spans
    ]
    config = OperatorConfig("dptext", {"run": run})
    text: str = engine.anonymize(TEXT, entities, operators={"DEFAULT": config}).text
    return text


def test_only_what_was_found_changes(tmp_path: Path) -> None:
    """The rest is copied; a key repeats; the statement is of spans."""
    runs = [Run(lexicon=lexicon(tmp_path), epsilon=1, key=KEY) for _ in range(2)]
    text, again = (anonymized(run) for run in runs)
    assert text == again
    assert text.startswith("the film of ")
    assert " was good, of old " in text
    assert text.endswith(" too")
    assert "Jane" not in text
    report = runs[0].report()
    assert report.private is not None
    assert report.private.texts == report.private.records == 2
    assert report.run.layout.fields is None
    # Without a profile: readable would leave the common words of a span.
    assert report.run.profile == "custom, from balanced"
    said = report.guarantee
    assert "the same choice of spans by Presidio" in said.wording.sentence
    assert said.scope.adjacency[-1] == "the same choice of spans by Presidio"
    (span,) = (
        line for line in said.scope.not_covered if "a span that Presidio" in line
    )
    assert span.startswith("A text here is a span that Presidio chose")
    assert "does not cover the rest of the document" in span
    assert "what it misses is not replaced" in " ".join(said.scope.not_covered)


def test_a_run_is_asked_for() -> None:
    """Another parameter is refused before any text is seen."""
    with pytest.raises(InvalidParamError, match=r"dptext\.integrations\.presidio\.Run"):
        anonymized(None)


def test_a_name_stays_a_name(builtin: Lexicon) -> None:
    """Of 400 words of names at least nine in ten become names of the public list.

    At epsilon 9.5 the floor draws another word with 6%: fewer than 360 names come with
    a probability below 1e-3.
    """
    run = Run(key=KEY)
    listed = {*closed_classes("en")["names"]}
    written = [
        word.lower()
        for name in ("Jane Doe", "Ngozi Qwertyva")
        for _ in range(100)
        for word in run.privatize(name).split()
    ]
    assert len(written) == 400
    assert sum(word in listed for word in written) >= 360
