"""The internal part of a report: what a run did to its texts."""

from __future__ import annotations

from collections.abc import Sequence

from dptext.engines.tally import Tally
from dptext.pipeline import Pipeline
from dptext.report.document import Private
from dptext.tokens import kinds
from dptext.tokens.policy import Policy

_COPIED = (kinds.STOP_WORD, kinds.UNKNOWN, kinds.IDENTIFIER, kinds.NUMBER, kinds.KEPT)
_TREATED = {
    "perturb": "replaced",
    "keep": "copied",
    "mask": "masked",
    "drop": "left out",
    "digits": "random digits",
    "form": "random of its form",
    "restore": "replaced",
}


def shown(path: str) -> str:
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
        "kept": "keep",
        "masked": "mask",
        "formed": "form",
    }
    return {name: _TREATED[value] for name, value in settings.items()}


def private(pipeline: Pipeline, inputs: Sequence[str], tally: Tally) -> Private:
    """Return what was counted in the texts of a run."""
    counted = tally.counted
    named = {
        kinds.NAMES[kind]: int(count)
        for kind, count in enumerate(counted.tokens[: len(kinds.NAMES)])
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
    return Private(
        inputs=tuple(map(shown, inputs)),
        records=tally.records,
        faults=tally.faults,
        texts=tally.texts,
        tokens=named,
        treatment=treated,
        share_copied=copied / wordlike if wordlike else 0.0,
        metrics=tally.meters.results(counted),
        describes=(
            "decoded words" if pipeline.profile.decoder.params.reads else "drawn words"
        ),
        epsilon_per_text=tally.meters.epsilons.result(counted.epsilons),
        seconds=tally.seconds,
        words_per_second=counted.words / tally.seconds if tally.seconds else 0.0,
        fields=dict(tally.fields),
    )
