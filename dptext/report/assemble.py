"""From a finished run to its report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dptext import lexicons
from dptext.adversaries import bayes, deniability, prior
from dptext.engines.serial import Job, Tally, Written
from dptext.guarantees import account
from dptext.guarantees.statement import Statement
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.report.document import (
    VERSION,
    Deniability,
    Document,
    Layout,
    Output,
    Private,
    Run,
    describe,
    layout,
)
from dptext.tokens import kinds
from dptext.tokens.policy import Policy
from dptext.types import Eps, Ids, Record

_COPIED = (kinds.STOP_WORD, kinds.UNKNOWN, kinds.IDENTIFIER, kinds.NUMBER)
_TREATED = {
    "perturb": "replaced",
    "keep": "copied",
    "mask": "masked",
    "drop": "left out",
    "digits": "random digits",
    "restore": "replaced",
}

NO_BAYES_RISK = "not measured (--no-bayes-risk)"
_SEEDED = "not measured: whoever knows the seed of this run can repeat every draw"


@dataclass(frozen=True, slots=True)
class Measures:
    """What is measured on public data only: once, for all outputs of a run."""

    risk: bayes.Risk | None
    risk_note: str
    deniability: Deniability | None

    @classmethod
    def of(cls, pipeline: Pipeline, bayes_risk: bool = True) -> Measures:
        """Measure; without the Bayes risk no risk."""
        risk, note = risk_of(pipeline) if bayes_risk else (None, NO_BAYES_RISK)
        return cls(risk, note, deniability_of(pipeline))


@dataclass(frozen=True, slots=True)
class Stated:
    """All of a report that follows from settings, lexicon and layout alone."""

    run: Run
    guarantee: Statement
    risk: bayes.Risk | None
    risk_note: str
    deniability: Deniability | None


def stated(pipeline: Pipeline, key: str, layout: Layout, measures: Measures) -> Stated:
    """Draw up what a run states: `sanitize` writes it, `check` compares with it.

    key is the origin of the run key; measures are those of the pipeline.
    """
    if key == "seed":
        measures = replace(measures, risk=None, risk_note=_SEEDED)
    guarantee = account.statement(
        pipeline.profile,
        pipeline.channel,
        pipeline.budget.description,
        key=key,
        lexicon_given=pipeline.lexicon.digest != lexicons.builtin_digest(),
        identified=layout.id_field is not None,
        fields=layout.fields,
    )
    return Stated(
        run=describe(pipeline, key, layout),
        guarantee=guarantee,
        risk=measures.risk,
        risk_note=measures.risk_note,
        deniability=measures.deniability,
    )


def document(
    pipeline: Pipeline,
    job: Job,
    key: RunKey,
    tally: Tally,
    written: Sequence[Written],
    measures: Measures,
) -> Document:
    """Return the internal report of finished outputs; of several it names none."""
    shape = layout(job.selection, {each.format for each in written})
    told = stated(pipeline, key.origin, shape, measures)
    return Document(
        report="dptext",
        version=VERSION,
        audience="internal",
        success=True,
        run=told.run,
        guarantee=told.guarantee,
        risk=told.risk,
        risk_note=told.risk_note,
        deniability=told.deniability,
        output=_output(job, written[0]) if len(written) == 1 else None,
        private=_private(pipeline, job.inputs, tally),
    )


def _output(job: Job, written: Written) -> Output:
    name = Path(job.output).name if job.output else None
    return Output(name, written.bytes, written.sha256, written.copied)


def risk_of(pipeline: Pipeline) -> tuple[bayes.Risk | None, str]:
    """Measure the risk where every word is drawn alone, and at one epsilon."""
    if pipeline.channel.module.FAMILY == "context":
        return None, f"not measured: {pipeline.channel.name} looks at the whole text"
    if pipeline.budget.description.kind != "word":
        return None, "not measured: epsilon differs from word to word"
    if pipeline.profile.strategy != "token":
        return None, (
            "not measured: the attacker of the Bayes risk sees one draw, and a word "
            "that is "
            "drawn once for all its places shows more"
        )
    epsilon = pipeline.budget.description.high
    words = prior.replaced(pipeline.lexicon, pipeline.profile.tokens)
    mapping = pipeline.profile.settings().get("mapping")
    risk = bayes.measure(pipeline.channel, epsilon, words, pipeline.draw, mapping)
    return risk, bayes.LIMITS


def deniability_of(pipeline: Pipeline) -> Deniability | None:
    """Measure N_w and S_w where one epsilon holds for every word."""
    if (
        pipeline.budget.description.kind != "word"
        or pipeline.channel.module.FAMILY == "context"
    ):
        return None
    epsilon = pipeline.budget.description.high
    draw = public_draw(pipeline, epsilon)
    return Deniability(**deniability.measure(pipeline.channel, epsilon, draw))


def public_draw(pipeline: Pipeline, epsilon: float) -> Callable[[Ids], Ids]:
    """Return what draws once for each public word given, by public randomness.

    So that figures about the mechanism are the same each time; never for texts.
    """
    randomness = pipeline.randomness(RunKey.from_seed(0))

    def draw(ids: Ids) -> Ids:
        nonce = randomness.nonce(Record(0, (), None))
        bits = randomness.of([nonce], np.zeros(len(ids), np.int64))
        eps: Eps = np.full(len(ids), float(epsilon))
        return pipeline.draw(ids, eps, bits)

    return draw


def _shown(path: str) -> str:
    """Return a path as JSON can hold it: what is no UTF-8 is escaped."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def treatment(policy: Policy) -> dict[str, str]:
    """Say for each class of token what happens to it."""
    settings = {
        "word": "perturb",
        "number": policy.number,
        "identifier": policy.unknown,
        "punctuation": policy.punctuation,
        "space": policy.punctuation,
        "stop_word": policy.stop_word,
        "unknown": policy.unknown,
    }
    return {name: _TREATED[value] for name, value in settings.items()}


def _private(pipeline: Pipeline, inputs: Sequence[str], tally: Tally) -> Private:
    named = {
        kinds.NAMES[kind]: int(count)
        for kind, count in enumerate(tally.tokens[: len(kinds.NAMES)])
    }
    treated = treatment(pipeline.profile.tokens)
    wordlike = sum(
        count for name, count in named.items() if name not in ("punctuation", "space")
    )
    copied = sum(
        named[kinds.NAMES[kind]]
        for kind in _COPIED
        if treated[kinds.NAMES[kind]] == "copied"
    )
    spent = tally.epsilons.result()
    return Private(
        inputs=tuple(map(_shown, inputs)),
        records=tally.records,
        faults=tally.faults,
        texts=spent.pop("texts"),
        tokens=named,
        treatment=treated,
        share_copied=copied / wordlike if wordlike else 0.0,
        metrics={name: meter.result() for name, meter in tally.meters.items()},
        epsilon_per_text=spent,
        seconds=tally.seconds,
        words_per_second=tally.words / tally.seconds if tally.seconds else 0.0,
        fields=dict(tally.fields),
    )
