"""What topics in the place of whole texts keep, and who recognises the row of a text.

python -m benchmarks topics [--data FOLDER] [--only kept|linkage|words]
    [--profile NAME ...]

FOLDER holds agnews_train19k, agnews_test5600, sst2_train20k and imdb_5k, each as
.jsonl.gz with the fields text and label; that of the test data if it is not given.
Topics are made of the first rows of a file and measured on others.

kept: the accuracy of a reader of one drawn topic who knows the law of the draws and has
the public texts with their labels, exactly. linkage: `dptext evaluate --linkage` on
2,000 rows of AG News for each profile. words: the accuracy of a linear classifier of
words on 2,000 rows of AG News, trained on 5,600 others that were made private by the
same profile. They stand in docs/topics.md, docs/three-ways.md and THREATS.md.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import private_rows
from benchmarks.private_rows import privatized, read_rows
from dptext import open_pipeline, views
from dptext.evaluation import linkage
from dptext.evaluation import topics as making
from dptext.evaluation.rows import Pair
from dptext.lexicons import topics
from dptext.lexicons.topics import PublicSource, TopicFile

SIZES = (4, 16, 64, 256)
PROFILES = ("strict", "balanced", "readable", "topics", "topics-strong")


class Corpus(NamedTuple):
    """Files of public rows and of measured rows, and how many public ones."""

    name: str
    public: str
    measured: str
    rows: int


CORPORA = (
    Corpus("AG News", "agnews_train19k", "agnews_test5600", 5600),
    Corpus("SST-2", "sst2_train20k", "sst2_train20k", 5000),
    Corpus("IMDb", "imdb_5k", "imdb_5k", 3000),
)


def divided(corpus: Corpus) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return texts with labels: public ones, and others to measure."""
    rows = [(str(row["text"]), str(row["label"])) for row in read_rows(corpus.public)]
    public = rows[: corpus.rows]
    others = rows[corpus.rows :]
    if corpus.measured != corpus.public:
        found = read_rows(corpus.measured)
        others = [(str(row["text"]), str(row["label"])) for row in found]
    seen = {text for text, _ in public}
    return public, [row for row in others if row[0] not in seen][:5000]


def made(public: list[tuple[str, str]], *, labelled: bool) -> TopicFile:
    """Make topics of public texts, with or without their labels."""
    texts, labels = zip(*public, strict=True)
    source = PublicSource("public.jsonl", "0" * 64, len(texts))
    given = making.PublicTexts(texts, labels if labelled else None, (source,))
    most = len(texts) // 10
    sizes = [size for size in SIZES if size <= most]
    return making.build("benchmark", given, sizes, {"name": "sif"})


def kept(
    document: TopicFile,
    public: list[tuple[str, str]],
    measured: list[tuple[str, str]],
) -> Iterator[tuple[int, list[float]]]:
    """Yield the accuracy of a reader at each epsilon, for each number of topics."""
    view = views.prepare(document.view)
    names = sorted({label for _, label in public})
    vectors = [view.vectors([text for text, _ in each]) for each in (public, measured)]
    codes = [
        np.array([names.index(label) for _, label in each])
        for each in (public, measured)
    ]
    for size in document.numbers:
        lexicon = topics.as_lexicon(document, size, "")
        near = topics.build_nearest(document, size)
        rows = [near.find(each) for each in vectors]
        joint = np.zeros((len(lexicon.words), len(names)))
        np.add.at(joint, (rows[0], codes[0]), 1.0)
        accuracies = []
        for epsilon in making.EPSILONS:
            law = making.channel(size, epsilon)
            best = (law.T @ joint).argmax(axis=1)
            right = law[rows[1]] * (best[None, :] == codes[1][:, None])
            accuracies.append(float(right.sum() / len(codes[1])))
        yield size, accuracies


def show_kept() -> None:
    """Print the accuracy that topics keep for the labels of each corpus."""
    for corpus in CORPORA:
        public, measured = divided(corpus)
        labels = [label for _, label in measured]
        chance = max(map(labels.count, set(labels))) / len(labels)
        print(f"\n{corpus.name}: {len(measured)} rows, chance {chance:.2f}")
        print("epsilon " + " ".join(f"{e:5g}" for e in making.EPSILONS))
        for labelled in (False, True):
            document = made(public, labelled=labelled)
            for size, accuracies in kept(document, public, measured):
                how = "by label" if labelled else ""
                shown = " ".join(f"{value:5.3f}" for value in accuracies)
                print(f"{shown}  {size} topics {how}", flush=True)


def show_words(profiles: Sequence[str]) -> None:
    """Print what a classifier of words keeps of the labels of AG News."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    public, measured = divided(CORPORA[0])
    measured = measured[: linkage.MOST]
    labels = [[label for _, label in each] for each in (public, measured)]
    for profile in ("originals", *profiles):
        texts = [[text for text, _ in each] for each in (public, measured)]
        if profile != "originals":
            writer = open_pipeline(profile, {})
            made_private = enumerate(texts, 1)
            texts = [privatized(writer, each, seed)[0] for seed, each in made_private]
        model = make_pipeline(
            TfidfVectorizer(sublinear_tf=True, min_df=2),
            LogisticRegression(C=10.0, max_iter=1000),
        )
        right = model.fit(texts[0], labels[0]).score(texts[1], labels[1])
        print(f"{profile:14} {right:.3f}", flush=True)


def show_linkage(profiles: Sequence[str]) -> None:
    """Print who recognises the rows of AG News, for each profile."""
    public, measured = divided(CORPORA[0])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "benchmark.json")
        path.write_bytes(topics.encode(made(public, labelled=False)))
        texts = [text for text, _ in measured[: linkage.MOST]]
        for profile in profiles:
            over = {}
            if profile.startswith("topics"):
                over["lexicon"] = topics.named(str(path), None)
            writer = open_pipeline(profile, over)
            private, _, _ = privatized(writer, texts, 1)
            pairs = [
                Pair((one,), (two,)) for one, two in zip(texts, private, strict=True)
            ]
            for each in linkage.linkage(pairs, writer):
                print(
                    f"{profile:14} {each.attack:7} {each.knows:30} "
                    f"first {each.first:7.4f} [{each.low:.4f}, {each.high:.4f}] "
                    f"median {each.median_rank:7.1f} of two {each.of_two:.4f}",
                    flush=True,
                )


def main() -> None:
    """Run the requested measurements."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with the rows")
    parser.add_argument("--only", choices=("kept", "linkage", "words"))
    parser.add_argument("--profile", nargs="*", help="profiles to measure")
    options = parser.parse_args()
    if options.data is not None:
        private_rows.TEXTS = options.data
    named = options.profile
    if options.only in (None, "kept"):
        show_kept()
    if options.only in (None, "linkage"):
        show_linkage(named or PROFILES)
    if options.only in (None, "words"):
        show_words(named or [each for each in PROFILES if "topics" not in each])


if __name__ == "__main__":
    main()
