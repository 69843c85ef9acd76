"""CusText: shares of tokens and classes, and accuracy on SST-2, by dptext's custext.

Vectors: the counter-fitted set of the test data, cosine, as in the thesis (its own has
65,713 words; here the first 10,000). Tokens without vector are unchanged, as there.
The share kept is of the tokens with a vector, and exact: the mean of P(x|x), in
expectation the same for the strategies token, record and dataset.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tools import vector_folder

Row = dict[str, Any]
VOCABULARY, TRAINING = 10_000, 3000
EPSILONS = (1.0, 5.0, 10.0)


def _texts(data: Path, file: str) -> list[tuple[list[str], int]]:
    with gzip.open(data / "text" / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [(row["text"].lower().split(), row["label"]) for row in rows]


def _mechanism(lexicon: Any, k: int, mapping: str) -> Any:
    from dptext import load_profile, pipeline

    settings = {"name": "custext", "k": k, "mapping": mapping, "distance": "cosine"}
    return pipeline.build(load_profile("custext", {"mechanism": settings}), lexicon)


def rows(data: Path) -> Iterator[Row]:
    """Yield what can be met of Tables 3.1 and 3.3 to 3.6."""
    from dptext.lexicons.importing import Settings
    from dptext.tokens.language_data import stop_words

    folder = data / "embeddings" / "counterfitted-wiki-imdb-300d"
    settings = Settings(max_words=VOCABULARY, outputs=0)
    lexicon = vector_folder.lexicon(folder, settings)
    train = _texts(data, "sst2_train20k")[:TRAINING]
    test = _texts(data, "sst2_dev")
    ids = np.array(
        [lexicon.row_of.get(word, -1) for text, _ in test for word in text], np.int32
    )
    function_words = stop_words("en")
    stop = np.array([word in function_words for text, _ in test for word in text])
    start: Row = {"part": "custext"}
    yield {
        **start,
        "tokens": len(ids),
        "unknown": round(100 * float((ids < 0).mean()), 2),
        "stop": round(100 * float(stop.mean()), 2),
    }
    yield {**start, "k": 0, "accuracy": _accuracy(train, test, None, 0.0)}
    for mapping in ("balanced", "aggressive", "conservative"):
        for k in (5, 20, 50, 100, 200, 500) if mapping == "balanced" else (20, 50, 100):
            sanitizer = _mechanism(lexicon, k, mapping)
            mechanism = sanitizer.mechanism
            row = {**start, "k": k, "mapping": mapping}
            row["alone"] = round(100 * mechanism.sets.alone / len(lexicon.words), 2)
            row["accuracy"] = _accuracy(train, test, sanitizer, 1.0)
            if (mapping, k) == ("balanced", 50):
                known, held = ids[ids >= 0], stop[ids >= 0]
                none = np.zeros(len(known), bool)
                row["kept"] = [_kept(mechanism, known, e, none) for e in EPSILONS]
                row["kept_stop"] = [_kept(mechanism, known, e, held) for e in EPSILONS]
            yield row


def _kept(mechanism: Any, ids: Any, epsilon: float, stay: Any) -> float:
    words, positions = np.unique(ids[~stay], return_inverse=True)
    chances = mechanism.probs(words, epsilon)[np.arange(len(words)), words]
    return round(100.0 * float((stay.sum() + chances[positions].sum()) / len(ids)), 2)


def _accuracy(
    train: list[tuple[list[str], int]],
    test: list[tuple[list[str], int]],
    sanitizer: Any,
    epsilon: float,
) -> float:
    """Return the accuracy of TF-IDF and logistic regression on privatized SST-2."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    parts = [[text for text, _ in rows] for rows in (train, test)]
    if sanitizer is not None:
        parts = [_changed(texts, sanitizer, epsilon) for texts in parts]
    features = TfidfVectorizer(min_df=2, sublinear_tf=True)
    before, after = ([" ".join(text) for text in texts] for texts in parts)
    model = LogisticRegression(C=3.0, max_iter=300)
    model.fit(features.fit_transform(before), [label for _, label in train])
    right = model.score(features.transform(after), [label for _, label in test])
    return round(100.0 * float(right), 2)


def _changed(texts: list[list[str]], sanitizer: Any, epsilon: float) -> list[list[str]]:
    from dptext.measures.public import public_draw

    words = sanitizer.lexicon.words
    row_of = sanitizer.lexicon.row_of
    flat = [word for text in texts for word in text]
    ids = np.array([row_of.get(word, -1) for word in flat], np.int32)
    drawn = public_draw(sanitizer, epsilon)(ids).tolist()
    new = iter(
        words[row] if old >= 0 else word
        for row, old, word in zip(drawn, ids.tolist(), flat, strict=True)
    )
    return [[next(new) for _ in text] for text in texts]
