"""The options of a release of vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dptext.run.marks import GUARANTEE, LEDGER, MEASURES, PYTHON, NotIn, Option
from dptext.run.values import Number, one_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooling:
    """The unit that a vector stands for: a word, a text or texts of a person."""

    pool: Annotated[
        str,
        Option(
            "word: one vector per word. mean, sif (weighted by frequency) or "
            "sentence (needs --model): one per text.",
            GUARANTEE,
            parse=one_of("word", "mean", "sif", "sentence"),
            metavar="NAME",
        ),
    ] = "mean"
    model: Annotated[
        str | None,
        Option("Sentence model, a folder or package.", GUARANTEE, metavar="NAME"),
    ] = None
    most: Annotated[
        int,
        Option(
            "Most vectors of one subject, which share epsilon (or mu).",
            LEDGER,
            parse=Number(kind=int, low=1, high=1_000_000),
            metavar="NUMBER",
            hidden=True,
        ),
        NotIn(PYTHON, "the texts of a call have no subjects"),
    ] = 1
    public: Annotated[
        str | None,
        Option(
            "Public texts, one per line: the directions that privunit keeps, and "
            "measures of sentence vectors. Default: frequent words.",
            MEASURES,
            metavar="FILE",
            hidden=True,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """The noise of vectors."""

    mu: Annotated[
        float | None,
        Option(
            "Instead of an epsilon: mu of Gaussian differential privacy.",
            GUARANTEE,
            parse=Number(kind=float, low=1e-6, high=1000),
            metavar="NUMBER",
            hidden=True,
        ),
    ] = None
    clip: Annotated[
        float | None,
        Option(
            "Shorten longer vectors to this length. Default: 1.",
            GUARANTEE,
            parse=Number(kind=float, low=1e-6, high=1e5),
            metavar="NUMBER",
        ),
    ] = None
