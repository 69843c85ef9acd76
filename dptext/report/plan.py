"""What a profile will do, before any text is read: figures about public data alone."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from dptext.adversaries import bayes, prior
from dptext.guarantees import account
from dptext.guarantees.statement import Statement
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.report import assemble
from dptext.report.document import Deniability
from dptext.types import Ids, Record

SENTENCES = (
    "The room was clean and the staff were very friendly, but breakfast was cold.",
    "My order has not arrived yet and nobody answers the phone.",
    "After three weeks of rain the farmers near Lyon fear for the harvest.",
    "Please close my account and send the balance to my bank in Denver.",
    "A clever film with a weak ending; the music alone is worth the ticket.",
    "She was treated for a broken wrist and went home on Friday.",
)
_DRAWN = 20_000
_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Example:
    """A public sentence and one way in which it may come out."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will promise and cost.

    changed is the expected share of replaced words that come out as others, under the
    public word frequencies (null where epsilon differs from word to word); characters
    is how many a second one process does here, reading and writing left out.
    """

    profile: str
    mechanism: str
    lexicon: str
    epsilon: float
    guarantee: Statement
    risk: bayes.Risk | None
    risk_note: str
    deniability: Deniability | None
    changed: float | None
    examples: tuple[Example, ...]
    characters: float
    bytes: int | None = None
    seconds: float | None = None


def plan(
    pipeline: Pipeline, size: int | None = None, *, jobs: int = 1, ruler: bool = True
) -> Plan:
    """Say what a profile will do; size is that of the input in bytes, taken as text."""
    measures = assemble.Measures.of(pipeline, ruler)
    rate = _characters(pipeline)
    return Plan(
        profile=pipeline.profile.name,
        mechanism=pipeline.channel.name,
        lexicon=pipeline.lexicon.name,
        epsilon=pipeline.spending.high,
        guarantee=account.statement(
            pipeline.profile,
            pipeline.channel,
            pipeline.spending,
            key="system",
            lexicon_given=pipeline.profile.lexicon not in ("builtin", "english"),
            identified=False,
            fields=None,
        ),
        risk=measures.risk,
        risk_note=measures.risk_note,
        deniability=measures.deniability,
        changed=_changed(pipeline),
        examples=_examples(pipeline),
        characters=rate,
        bytes=size,
        seconds=None if size is None else size / rate / jobs,
    )


def _changed(pipeline: Pipeline) -> float | None:
    """Return the share of words of the prior that change, from public draws."""
    if pipeline.spending.kind != "word" or pipeline.channel.module.FAMILY == "context":
        return None
    weights = prior.replaced(pipeline.lexicon, pipeline.profile.tokens)
    # Evenly spaced quantiles: the same words each time, in proportion to the prior.
    places = (np.arange(_DRAWN) + 0.5) / _DRAWN
    rows = np.minimum(np.searchsorted(np.cumsum(weights), places), len(weights) - 1)
    ids: Ids = rows.astype(np.int32)
    drawn = assemble.public_draw(pipeline, pipeline.spending.high)(ids)
    return float((drawn != ids).mean())


def _examples(pipeline: Pipeline) -> tuple[Example, ...]:
    randomness = pipeline.randomness(RunKey.from_seed(0))
    records = [Record(n, (line,), None) for n, line in enumerate(SENTENCES)]
    private = pipeline.privatize(records, randomness)
    return tuple(
        Example(before, after)
        for before, (after,) in zip(SENTENCES, private, strict=True)
    )


def _characters(pipeline: Pipeline) -> float:
    """Return how many characters a second are privatized here."""
    randomness = pipeline.randomness(RunKey.from_seed(0))
    done, copies, began = 0, 1, time.perf_counter()
    while time.perf_counter() - began < _SECONDS:
        text = " ".join(SENTENCES * copies)
        pipeline.privatize([Record(copies, (text,), None)], randomness)
        done += len(text)
        copies *= 2
    return done / (time.perf_counter() - began)
