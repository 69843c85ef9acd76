"""What is known of English words without any text: WordNet and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from dptext.errors import MissingExtra
from dptext.lexicons.build import counts, selection
from dptext.lexicons.build.evidence import Evidence, gather
from dptext.lexicons.build.forms import Link, candidates
from dptext.lexicons.build.wordnet import WordNet, digest, read


@dataclass(frozen=True, slots=True)
class English:
    """The database, its single words with their ties, how glosses use and write them.

    links: key -> its ties to lemmas; ties: those of words that are not grammar only,
    for "his" is no plural of "hi"; weights: (lemma, part of speech) -> use;
    grammatical: keys of words that are grammar only; digest: that of the files.
    """

    digest: str
    wordnet: WordNet
    links: Mapping[str, tuple[Link, ...]]
    evidence: Evidence
    weights: Mapping[tuple[str, str], float]
    ties: Mapping[str, tuple[Link, ...]]
    grammatical: frozenset[str]


def load(folder: Path, what: str) -> English:
    """Read the WordNet 3.0 folder; what needs it is named where scipy lacks.

    Raises LexiconError if a file is missing.
    """
    if find_spec("scipy") is None:
        raise MissingExtra.of(what, "build")
    database = read(Path(folder))
    links = candidates(database)
    grammatical = selection.grammatical()
    return English(
        digest=digest(Path(folder)),
        wordnet=database,
        links=links,
        evidence=gather(database),
        weights=counts.lemma_weights(database),
        ties={key: ties for key, ties in links.items() if key not in grammatical},
        grammatical=grammatical,
    )
