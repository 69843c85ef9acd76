"""The tables of results/vectors.md: PrivEmb's experiments, GauDP's Tables 4.6 and 4.7.

python -m benchmarks embed_tables --data DATA --glove GLOVE_FOLDER --words VADER.txt

DATA holds embeddings/ and text/ (CONTRIBUTING.md, DPTEXT_TEST_DATA); GLOVE_FOLDER the
50-dimensional GloVe 6B vectors as .npy; VADER.txt a file of words and valences. Prints
Markdown. Everything is drawn from fixed seeds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from dptext import cache, lexicons, models, noise, registry, settings, spaces
from dptext import noise as curve
from dptext.mechanisms import Aim, NoiseMechanism
from dptext.mechanisms.gaussian import clip
from dptext.randomness import Randomness, RunKey
from dptext.spaces import Space
from dptext.types import Lexicon
from dptext.vectors import release
from tools import vector_folder

DELTA, BETAS, EPSILONS = 1e-6, (0.5, 0.6, 0.7, 0.8, 0.9), (1.0, 2.0, 5.0)
VOCABULARY, RUNS, LAYER_RUNS = 10_000, 5, 2
Wide = NDArray[np.float64]


def table(words: list[str], vectors: Wide, name: str) -> Space:
    """Put vectors into a space as a lexicon that only mechanisms look at."""
    base = lexicons.find("builtin")
    rows = np.vstack((vectors, vectors.mean(axis=0))).astype(np.float32)
    lexicon: Lexicon = replace(
        base,
        name=name,
        words=tuple(words),
        vectors=rows,
        counts=np.ones(len(words)),
        digest=f"{name} {len(words)} {rows.sum()!r}",
        orders=np.zeros((len(rows), 1), np.uint32),
        far=np.zeros(len(rows), np.float32),
        meta={},
    )
    return spaces.prepare(
        lexicon, "identity", registry.find("spaces", "identity").Params()
    )


def ready(name: str, space: Space, **params: Any) -> NoiseMechanism:
    """Make a mechanism ready."""
    mechanism: NoiseMechanism = (
        registry.find("mechanisms", name).Params(**params).prepare(space, Aim())
    )
    return mechanism


def released(
    mechanism: NoiseMechanism, vectors: Wide, epsilon: float, seed: int
) -> Wide:
    """Release vectors at one epsilon by a seed."""
    bits = Randomness(RunKey.from_seed(seed), "tables").bits(
        [bytes(16)], np.zeros(len(vectors), np.int64)
    )
    out = [
        mechanism.release(
            mechanism.position(vectors[begin : begin + 4096]),
            epsilon,
            bits.take(np.arange(begin, min(begin + 4096, len(vectors)))),
        )
        for begin in range(0, len(vectors), 4096)
    ]
    return np.concatenate(out).astype(np.float64)


def published_dimensions(width: int, beta: float) -> int:
    """Return m as the paper's experiments take it: constant 1, width sqrt(ln d)."""
    root = math.sqrt(math.log(width)) + math.sqrt(math.log(1.0 / DELTA))
    return math.ceil(root**2 / beta**2)


def embeddings(data: Path, glove: Path) -> Iterator[Space]:
    """Give the two tables of word vectors."""
    folders = {
        "SGNS, 300 dimensions": data / "embeddings" / "sgns-wiki-imdb-300d",
        "GloVe 6B, 50 dimensions": glove,
    }
    for name, folder in folders.items():
        raw = vector_folder.read(folder, str(folder), limit=VOCABULARY)
        yield table(raw.words, raw.vectors.astype(np.float64), name)


def mechanisms(space: Space) -> Iterator[tuple[str, NoiseMechanism]]:
    """Give the unprojected mechanism and PrivEmb, as published and exact."""
    yield "M1: laplace", ready("laplace", space)
    width = space.vectors.shape[1]
    for beta in BETAS:
        m = published_dimensions(width, beta)
        if m >= width:
            continue
        for constant in ("published", "vocabulary"):
            params = {"dimensions": m, "beta": beta, "constant": constant}
            mechanism = ready("privemb", space, **params)
            scale = f"{mechanism.stretch:.2f}"  # type: ignore[attr-defined]
            label = "M2" if constant == "published" else "exact"
            yield f"{label}: beta {beta}, m = {m}, scale {scale}", mechanism


def distortion(space: Space) -> None:
    """Experiments 1 and 2: 100 x 100 pairs, mean absolute errors."""
    rng = np.random.default_rng(0)
    rows = rng.choice(len(space.vectors) - 1, 200, replace=False)
    before = space.vectors[rows].astype(np.float64)
    true = np.sqrt(noise.squared_distances(before[:100], before[100:]).astype(float))
    product = before[:100] @ before[100:].T
    print(
        f"\n**{space.lexicon.name}.** Mean distance {true.mean():.2f}, mean size of "
        f"an inner product {np.abs(product).mean():.2f}.\n"
    )
    kinds = ("distance", "corrected", "product")
    heads = [f"{kind}, {e:g}" for e in EPSILONS for kind in kinds]
    print("| mechanism |", " | ".join(heads), "|")
    print("|", " | ".join(["---"] * (1 + len(heads))), "|")
    for label, mechanism in mechanisms(space):
        cells = []
        for epsilon in EPSILONS:
            errors = []
            for run in range(RUNS):
                after = released(mechanism, before, epsilon, run)
                distances = noise.squared_distances(after[:100], after[100:]) ** 0.5
                noisy = after[:100] @ after[100:].T
                added = 2.0 * after.shape[1] * mechanism.spread(epsilon) ** 2
                known = np.sqrt(np.maximum(distances**2 - added, 0.0))
                gaps = distances - true, known - true, noisy - product
                errors.append([np.abs(gap).mean() for gap in gaps])
            cells += [f"{each:,.1f}" for each in np.mean(errors, axis=0)]
        print(f"| {label} |", " | ".join(cells), "|", flush=True)


def score(train: Wide, labels: Any, test: Wide, truth: Any) -> tuple[float, float]:
    """Fit a linear classifier on private vectors; accuracy and AUC on private ones."""
    scale = StandardScaler().fit(train)
    model = LogisticRegression(C=0.01, max_iter=200).fit(scale.transform(train), labels)
    inputs = scale.transform(test)
    accuracy = float((model.predict(inputs) == truth).mean())
    if len(set(labels)) > 2:
        return accuracy, math.nan
    return accuracy, float(roc_auc_score(truth, model.decision_function(inputs)))


def word_sentiment(space: Space, words: Path) -> None:
    """Experiment 3: is a single word positive or negative."""
    valence = {}
    for line in words.read_text("utf-8").splitlines():
        word, value, *_ = line.split("\t")
        valence[word] = float(value)
    rows = [row for row, word in enumerate(space.lexicon.words) if word in valence]
    labels = np.array([valence[space.lexicon.words[row]] > 0 for row in rows])
    least = min(labels.sum(), (~labels).sum())
    rng = np.random.default_rng(1)
    kept = np.concatenate(
        [rng.choice(np.flatnonzero(labels == side), least, False) for side in (0, 1)]
    )
    vectors = space.vectors[np.array(rows)[kept]].astype(np.float64)
    labels = labels[kept]
    epsilons = (1.0, 5.0, 10.0, 20.0, 50.0)
    print(f"\n**{space.lexicon.name}**, {2 * least:,} words.\n")
    print("| mechanism |", " | ".join(f"{e:g}" for e in epsilons), "|")
    print("|", " | ".join(["---"] * (1 + len(epsilons))), "|")
    splits = [rng.permutation(len(kept)) for _ in range(RUNS)]
    fifth = len(kept) // 5

    def row(label: str, release: Any) -> None:
        cells = []
        for epsilon in epsilons:
            scores = []
            for run, order in enumerate(splits):
                z = release(epsilon, run)
                test, train = order[:fifth], order[fifth:]
                scores.append(score(z[train], labels[train], z[test], labels[test]))
            accuracy, auc = np.mean(scores, axis=0)
            cells.append(f"{accuracy:.3f} / {auc:.3f}")
        print(f"| {label} |", " | ".join(cells), "|", flush=True)

    row("without noise", lambda epsilon, run: vectors)
    for label, mechanism in mechanisms(space):
        if "beta" in label and "0.9" not in label:
            continue
        row(label, lambda e, run, m=mechanism: released(m, vectors, e, run))


def corpus(data: Path, name: str, count: int, seed: int = 3) -> tuple[list[str], Any]:
    """Read texts and labels of a file, some of them."""
    with gzip.open(data / "text" / name, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    order = np.random.default_rng(seed).permutation(len(records))[:count]
    texts = [str(records[row]["text"]) for row in order]
    return texts, np.array([str(records[row]["label"]) for row in order])


def sentences(texts: list[str]) -> Wide:
    """Encode texts by the sentence model, to length 1 at most."""
    folder = models.need_sentence_model(models.PACKAGE, "the tables")
    texts = [text[:600] for text in texts]
    key = cache.key_of("tables", settings.digest_of_data(texts))
    kept = cache.arrays(
        key, lambda: {"vectors": release.sentence_vectors(folder, "", texts)}
    )
    return clip(np.asarray(kept["vectors"]), 1.0)


def pooled_words(space: Space, data: Path) -> None:
    """Table 1's way: private word vectors, averaged, then a classifier; SST-2."""
    index = {word: row for row, word in enumerate(space.lexicon.words)}
    parts = [
        corpus(data, f"sst2_{part}.jsonl.gz", 5000) for part in ("train20k", "dev")
    ]
    print("\n| mechanism | 10 | 50 | 100 |\n| --- | --- | --- | --- |")
    ids = [
        [[index[w] for w in text.lower().split() if w in index] for text in texts]
        for texts, _ in parts
    ]
    chosen = [
        (label, mechanism)
        for label, mechanism in mechanisms(space)
        if "beta" not in label or "0.9" in label
    ]
    for label, mechanism in [("without noise", None), *chosen]:
        cells = []
        for epsilon in (10.0, 50.0, 100.0) if mechanism is not None else (0.0,):
            means = []
            for number, rows in enumerate(ids):
                flat = np.array([row for text in rows for row in text])
                z = space.vectors[flat].astype(np.float64)
                if mechanism is not None:
                    z = released(mechanism, z, epsilon, 10 + number)
                ends = np.cumsum([len(text) for text in rows])
                means.append(
                    np.array(
                        [
                            z[end - len(text) : end].mean(axis=0)
                            if text
                            else z[0] * 0.0
                            for text, end in zip(rows, ends, strict=True)
                        ]
                    )
                )
            scores = score(means[0], parts[0][1], means[1], parts[1][1])[0]
            cells.append(f"{scores:.3f}")
        print(f"| {label} |", " | ".join(cells * (3 // len(cells))), "|", flush=True)


def layers(data: Path) -> None:
    """GauDP 4.6: noise layers at equal (epsilon, delta); 4.7: C at one sigma / C."""
    delta = 1e-5
    epsilons = (1.0, 4.0, 16.0, 64.0, 256.0)
    files = {
        "SST-2": ("sst2_train20k.jsonl.gz", "sst2_dev.jsonl.gz"),
        "AG News": ("agnews_train19k.jsonl.gz", "agnews_test5600.jsonl.gz"),
        "IMDb": ("imdb_5k.jsonl.gz", None),
    }
    encoded = {}
    for name, (first, second) in files.items():
        texts, labels = corpus(data, first, 2000)
        vectors = sentences(texts)
        if second is None:
            encoded[name] = (
                vectors[:1400],
                labels[:1400],
                vectors[1400:],
                labels[1400:],
            )
        else:
            others, truth = corpus(data, second, 800)
            encoded[name] = (vectors, labels, sentences(others), truth)
    space = table(["a", "b"], np.eye(2, encoded["SST-2"][0].shape[1]), "384")
    worst = {"sensitivity": "worst", "clip": 1.0}
    rows: list[tuple[str, Any, float]] = [
        (
            "Laplace in each coordinate (L1)",
            ready("discrete-laplace", space, **worst),
            1.0,
        ),
        ("Laplace, spherical (L2)", ready("laplace", space), 0.5),
        (
            "PrivEmb, m = 49, spectral norm",
            ready("privemb", space, dimensions=49, constant="worst"),
            0.5,
        ),
        ("Gaussian, 2C", ready("discrete-gaussian", space, delta=delta, **worst), 1.0),
    ]
    print("\n| data | layer |", " | ".join(f"{e:g}" for e in epsilons), "| without |")
    print("|", " | ".join(["---"] * (3 + len(epsilons))), "|")
    for name, (train, labels, test, truth) in encoded.items():
        bare = score(train, labels, test, truth)[0]
        for label, mechanism, times in rows:
            cells = [
                np.mean(
                    [
                        score(
                            released(mechanism, train, e * times, run),
                            labels,
                            released(mechanism, test, e * times, 50 + run),
                            truth,
                        )[0]
                        for run in range(LAYER_RUNS)
                    ]
                )
                for e in epsilons
            ]
            shown = " | ".join(f"{each:.3f}" for each in cells)
            print(f"| {name} | {label} | {shown} | {bare:.3f} |", flush=True)
    train, labels, test, truth = encoded["SST-2"]
    print("\n| C | sigma | accuracy | epsilon with C | epsilon with 2C |")
    print("| --- | --- | --- | --- | --- |")
    for longest in (1.0, 0.9, 0.7, 0.5, 0.3, 0.1):
        sigma = 0.75 * longest
        scores = []
        for run in range(LAYER_RUNS):
            rng = np.random.default_rng(run)
            a, b = (
                clip(v, longest) + sigma * rng.normal(size=v.shape)
                for v in (train, test)
            )
            scores.append(score(a, labels, b, truth)[0])
        losses = [
            curve.gaussian_epsilon(side * longest / sigma, delta) for side in (1, 2)
        ]
        print(
            f"| {longest} | {sigma:.3f} | {np.mean(scores):.3f} | {losses[0]:.2f} | "
            f"{losses[1]:.2f} |",
            flush=True,
        )


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--data", "--glove", "--words"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    tables = list(embeddings(chosen.data, chosen.glove))
    if chosen.only in ("", "distortion"):
        for space in tables:
            distortion(space)
    if chosen.only in ("", "words"):
        for space in tables:
            word_sentiment(space, chosen.words)
    if chosen.only in ("", "pooled"):
        pooled_words(tables[0], chosen.data)
    if chosen.only in ("", "layers"):
        layers(chosen.data)


if __name__ == "__main__":
    main()
