"""What a report of vectors shows, in rows and badges, for the panel and the page."""

from __future__ import annotations

from dptext.embedding.document import VectorDocument
from dptext.embedding.measures import Measures
from dptext.guarantees.rounding import above
from dptext.report import _plain, columns
from dptext.report._badges import Badge
from dptext.report._plain import Tone
from dptext.report.figures import share
from dptext.types import Level, Notion

Row = tuple[str, str]
NOT_PUBLIC = "from private text"


def badges(document: VectorDocument) -> tuple[Badge, Badge]:
    """Return what the bound of one vector is worth, and that of several."""
    promise = document.guarantee
    if promise.notion is Notion.NONE:
        return _plain.verdict(promise), (Tone.BAD, "Several vectors: no guarantee")
    of = "words" if promise.level is Level.WORD else "texts of a person"
    if promise.notion is Notion.APPROXIMATE:
        line = f"n {of}: epsilon grows with sqrt(n) and more (see below)"
    else:
        line = f"n {of}: at most n times {above(promise.loss.farthest)} nats"
    return _plain.verdict(promise), (Tone.FAIR, line)


def measured(measures: Measures) -> tuple[Row, ...]:
    """Return the figures of public data."""
    errors, ruler = measures.distortion, measures.ruler
    low, middle, high = measures.noise_lengths
    best = "" if ruler.best is None else f", by the best guess {share(ruler.best)}"
    return (
        (
            "Distances, without noise",
            f"mean {errors.distance:.4g}; expected with noise "
            f"{errors.expected_distance:.4g}",
        ),
        (
            "Error of a distance",
            f"mean {errors.distance_error:.4g}; {errors.corrected_error:.4g} with the "
            "noise's known part taken off",
        ),
        (
            "Error of an inner product",
            f"mean {errors.product_error:.4g} (mean size {errors.product:.4g}); "
            f"expected standard deviation {errors.expected_product_error:.4g}",
        ),
        (
            "Length of the noise",
            f"5% {low:.4g}, 50% {middle:.4g}, 95% {high:.4g}",
        ),
        (
            "Ruler: the original is found",
            f"by the nearest of {ruler.choices:,} {ruler.of} {share(ruler.nearest)}"
            f"{best} (95% limits {share(ruler.low)} to {share(ruler.high)}); without "
            f"the vector {share(ruler.baseline)}",
        ),
    )


def private(document: VectorDocument) -> tuple[Row, ...]:
    """Return functions of the private text."""
    counted = document.private
    if counted is None:
        return ()
    rows = [
        (
            f"Done ({NOT_PUBLIC})",
            f"{counted.records:,} records, {counted.faults:,} set aside, "
            f"{counted.texts:,} texts, {counted.words:,} words, "
            f"{counted.vectors:,} vectors in {counted.seconds:.1f} s",
        )
    ]
    if counted.most_of_one is not None:
        together = counted.epsilon_of_one
        lost = "" if together is None else f", together at most {above(together)} nats"
        rows.append(
            (
                f"Most vectors of one subject ({NOT_PUBLIC})",
                f"{counted.most_of_one:,}{lost}",
            )
        )
    return tuple(rows)


def run(document: VectorDocument) -> tuple[Row, ...]:
    """Return what was run."""
    what_ran, output = document.run, document.output
    rows = [
        ("Vectors", f"{what_ran.dimensions} dimensions, steps of {what_ran.step:.6g}"),
        ("Epsilon of one vector", above(what_ran.epsilon_each, 6)),
        ("Made private", columns.private(what_ran.layout)),
    ]
    if output is not None:
        rows.append(("Columns", ", ".join(output.columns)))
    mechanism = what_ran.settings["mechanism"]["name"]
    pool = what_ran.settings["embed"]["pool"]
    rows.append(
        (
            "Run",
            f"dptext {what_ran.dptext}, {mechanism}, {pool}, {what_ran.table} "
            f"({what_ran.table_digest[:12]}), key: {what_ran.key}",
        )
    )
    return tuple(rows)


def rows(document: VectorDocument) -> tuple[Row, ...]:
    """Return all rows of a report."""
    public_rows = measured(document.measures) if document.measures is not None else ()
    return (*public_rows, *private(document), *run(document))
