"""Lines of the short answer on released vectors, beside their guarantee."""

from __future__ import annotations

from collections.abc import Iterator

from dptext.measures.vector_figures import VectorMeasures, worth_of_texts
from dptext.report.answer_line import AnswerLine
from dptext.report.attackers import SEEDED
from dptext.report.document import Document
from dptext.report.figures import count, short, whole

# A classifier that gains less over chance has learned next to nothing.
_NOTHING = 0.05


def attack_lines(measures: VectorMeasures | None) -> Iterator[AnswerLine]:
    """Yield the success of finding originals, and the error of distances."""
    if measures is None:
        yield AnswerLine("attacker", SEEDED, {"found": None})
        return
    ruler, errors = measures.ruler, measures.distortion
    best = max(ruler.nearest, ruler.best or 0.0)
    yield AnswerLine(
        "attacker",
        f"Finds at least {whole(best)} of originals among {count(ruler.choices)} "
        f"{ruler.of}; without the vector {whole(ruler.baseline)}.",
        {
            "found": best,
            "nearest": ruler.nearest,
            "without_output": ruler.baseline,
            "choices": ruler.choices,
        },
    )
    names = ("distance", "distance_error", "corrected_error")
    yield AnswerLine(
        "distances",
        f"Between vectors: mean {short(errors.distance)}, mean error "
        f"{short(errors.distance_error)}.",
        {name: getattr(errors, name) for name in names},
    )


def use_lines(document: Document) -> Iterator[AnswerLine]:
    """Yield the accuracy of a classifier on vectors of whole texts, if measured."""
    run, loss = document.run, document.guarantee.bound.text_loss.total
    classified = worth_of_texts(run.settings, run.lexicon_digest, loss)
    if classified is not None:
        left = ""
        if classified.accuracy - classified.chance < _NOTHING:
            left = "Next to nothing is left: "
        at = ""
        if loss is not None and loss < classified.loss * (1.0 - 1e-6):
            at = f" (at {classified.loss:g} nats, with less noise)"
        yield AnswerLine(
            "use",
            f"{left}{'a' if left else 'A'} classifier of public English news was right "
            f"for {whole(classified.accuracy)}{at}; chance "
            f"{whole(classified.chance)}, no noise {whole(classified.original)}.",
            {
                "accuracy": classified.accuracy,
                "chance": classified.chance,
                "original": classified.original,
                "measured_at_loss": classified.loss,
                "noise": classified.noise,
                "spread": classified.spread,
            },
        )
