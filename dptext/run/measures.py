"""The figures to compute for two files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dptext.run.marks import MEASURES, Names, Number, Option
from dptext.run.selection import FIELDS

ALPHAS = (0.25, 0.5, 0.75)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Options for measuring private texts."""

    #: Names of fields to learn, for utility.
    labels: Annotated[
        tuple[str, ...],
        Option(
            "Field for a classifier to predict (utility); repeatable.",
            MEASURES,
            metavar="NAME",
            spelled="label",
        ),
        FIELDS,
        Names(),
    ] = ()
    #: Names of fields to learn, for attacks.
    attributes: Annotated[
        tuple[str, ...],
        Option(
            "Field for an attacker to predict; repeatable.",
            MEASURES,
            metavar="NAME",
            spelled="attribute",
        ),
        FIELDS,
        Names(),
    ] = ()
    classifier: Annotated[
        str,
        Option(
            "tfidf, vectors, or the folder of a model.",
            MEASURES,
            metavar="NAME",
            hidden=True,
        ),
    ] = "tfidf"
    splits: Annotated[
        int,
        Option(
            "Number of splits into training and test texts.",
            MEASURES,
            parse=Number(kind=int, low=1, high=100),
            hidden=True,
        ),
    ] = 3
    alphas: Annotated[
        tuple[float, ...],
        Option(
            "Weight of utility versus privacy; repeatable. Default: 0.25, 0.5, 0.75.",
            MEASURES,
            parse=Number(kind=float, low=0, high=1),
            usual=ALPHAS,
            metavar="NUMBER",
            spelled="alpha",
            hidden=True,
        ),
    ] = ALPHAS
    encoder: Annotated[
        str | None,
        Option(
            "Sentence model for CS: a folder or package.",
            MEASURES,
            metavar="NAME",
            hidden=True,
        ),
    ] = None
    masked_model: Annotated[
        str | None,
        Option(
            "Folder of a masked language model for an attack.",
            MEASURES,
            metavar="FOLDER",
            hidden=True,
        ),
    ] = None
    #: Name of one more attacker, which may send released text.
    attacker: Annotated[
        str | None,
        Option(
            "Add an attacker: endpoint. It sends new draws of the originals to the "
            "server of the decoder endpoint.",
            MEASURES,
            metavar="NAME",
            hidden=True,
        ),
    ] = None
    #: Whether the attackers attack that send nothing.
    attackers: Annotated[
        bool,
        Option(
            "Attack new draws of the originals with whole-text attackers, or not.",
            MEASURES,
            hidden=True,
        ),
    ] = True
    #: Whether to measure linkage attacks.
    linkage: Annotated[
        bool, Option("Measure how often originals identify their rows.", MEASURES)
    ] = False
