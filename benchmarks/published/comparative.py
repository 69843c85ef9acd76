"""Tables 3, 6, 7 and 8 of the comparative analysis, measured.

`dptext`: the profiles comparative-*, on a lexicon made of the corpus's words and the
GloVe vectors (syntf on the built-in lexicon, which has WordNet's synonyms).
`fault`: published_faults. Both draw for the same texts; unknown words are unchanged in
both, as in the authors' code (the profiles themselves replace them), and are counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.published import corpora
from benchmarks.published.corpora import Corpus, Ids
from benchmarks.published.faults import Published
from benchmarks.published.measures import (
    Change,
    Row,
    accuracy,
    deniability,
    measure_texts,
    split,
)
from benchmarks.published.puc import MECHANISMS

EPSILONS = (1.0, 5.0, 10.0)
# Profile, settings besides the lexicon: rows of the page beyond the paper's seven.
OTHER: dict[str, tuple[str, dict[str, Any]]] = {
    "TEM, gamma from beta 0.001": ("comparative-tem", {"mechanism": {"gamma": None}}),
}


def measure(
    corpus: Corpus,
    words: list[str],
    change: Change,
    epsilon: float,
    model: Path | None,
    learned: bool,
) -> Row:
    """Measure one mechanism at one epsilon; accuracy where learned is true."""
    row = deniability(corpus, change, epsilon)
    train = split(change(np.concatenate(corpus.train), epsilon), corpus.train)
    row |= measure_texts(corpus, words, train, model)
    if learned:
        test = split(change(np.concatenate(corpus.test), epsilon), corpus.test)
        row |= accuracy(corpus, words, [train, test])
    return row


def extended(
    corpus: Corpus, names: Sequence[str], words: list[str]
) -> tuple[NDArray[np.int32], Ids]:
    """Return rows of a lexicon for the corpus's words and -1, and rows of words back.

    What the lexicon has besides is appended to words.
    """
    row_of = {name.lower(): row for row, name in enumerate(names)}
    inside = np.array([row_of.get(word, -1) for word in corpus.words] + [-1], np.int32)
    number = {word: row for row, word in enumerate(words)}
    for name in row_of:
        if name not in number:
            number[name] = len(words)
            words.append(name)
    return inside, np.array([number[name.lower()] for name in names])


def by_dptext(
    corpus: Corpus, profile: str, over: dict[str, Any], lexicon: Any, words: list[str]
) -> Change:
    """Return what draws by a profile, for rows of the corpus; appends to words."""
    from dptext import load_profile, pipeline
    from dptext.measures.public import public_draw

    sanitizer = pipeline.build(load_profile(profile, over), lexicon)
    inside, back = extended(corpus, sanitizer.lexicon.words, words)

    def change(ids: Ids, epsilon: float) -> Ids:
        rows = inside[ids]
        drawn = back[public_draw(sanitizer, epsilon)(rows)]
        return np.where(rows < 0, ids, drawn)

    return change


def rows(
    name: str,
    glove: Path,
    cache: Path,
    model: Path | None,
    kinds: Sequence[str],
    done: set[tuple[str, str, float]],
) -> Iterator[Row]:
    """Yield one row for each kind, mechanism and epsilon of one corpus that is missing.

    Those in `done` are left out; with any, so is the row of the originals.
    """
    from dptext import lexicons
    from dptext.lexicons.importing import Settings

    corpus = corpora.corpus(name, glove)
    start = {"part": "comparative", "dataset": name}
    before = [corpus.train, corpus.test]
    plain = accuracy(corpus, corpus.words, before) if not done else {}
    known = np.concatenate(corpus.train)
    kept = 100.0 * float((~corpus.known[known]).mean())
    baseline = measure_texts(corpus, corpus.words, corpus.train, None)
    original: Row = {
        **start,
        **plain,
        "kind": "original",
        "unknown_tokens": kept,
        "english": baseline["english"],
        "vocabulary": len(corpus.words),
        "unknown_types": 100.0 * float((~corpus.known).mean()),
        "texts": [len(part) for part in before],
    }
    if not done:
        yield original
    source = corpora.export(corpus, cache / f"{name}.npz")
    lexicon = lexicons.find(str(source), settings=Settings(outputs=0, language="en"))
    for kind in kinds:
        others = OTHER if kind == "dptext" else ("SanText+",)
        for mechanism in (*MECHANISMS, *others):
            words = list(corpus.words)
            if kind == "dptext":
                name_of_profile = f"comparative-{mechanism.lower()}"
                profile, over = OTHER.get(mechanism, (name_of_profile, {}))
                base = lexicons.find("builtin") if mechanism == "SynTF" else lexicon
                change = by_dptext(corpus, profile, over, base, words)
            else:
                published = Published(
                    corpus, Published.from_corpus(corpus).matrix, words
                )
                change = _fault(published, mechanism)
            for epsilon in EPSILONS:
                if (kind, mechanism, epsilon) in done:
                    continue
                begin = time.process_time()
                learned = kind == "dptext"
                row = measure(corpus, words, change, epsilon, model, learned)
                took = round(time.process_time() - begin, 1)
                row = {key: round(value, 3) for key, value in row.items()}
                yield {
                    **start,
                    "kind": kind,
                    "mechanism": mechanism,
                    "epsilon": epsilon,
                    **row,
                    "seconds": took,
                }


def _fault(published: Published, mechanism: str) -> Change:
    rng = np.random.default_rng(0)
    return lambda ids, epsilon: published.draw(mechanism, ids, epsilon, rng)
