"""Measure what readers find at each risk in each kind of text, and ship the figures.

    python -m tools.readers --risk 20% --kind news          # one cell of the ladder
    python -m tools.readers                                 # all of it
    python -m tools.readers --profile strict --profile readable
    python -m tools.readers --risk 20% --kind sentences --texts 60
        --endpoint http://localhost:11434/v1 --model NAME       # writes no file

Writes dptext/data/readers.json, which plans and reports show beside the exact risk: for
each kind of text what readers find, of all words, of content words and by frequency,
and what classifiers keep of the labels. Readers are `alone` (one output word), `ngram`
(the whole text, and the pairs that ship) and `same-kind` (besides, the pairs of half a
million words of other public texts of the kind). Texts are public test data: no order
and no weight of a decoder was chosen by the rows that are read, and no row is read by
pairs that counted it. Draws have a fixed seed.
To be run after the lexicon, the n-gram model that ships or a shipped profile has
changed; a cell takes half a minute.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import NamedTuple, TypeVar

from benchmarks.private_rows import privatized, rows_of
from dptext import open_pipeline, profile
from dptext.evaluation.classify import learn, make_classifier
from dptext.measures import calibrate, context_risk
from dptext.measures.context_risk import InContext, Learned, Reading
from dptext.measures.independence import Units
from dptext.models.endpoint import Server
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.readers import Reader, ngrams
from dptext.readers.endpoint import EndpointReader
from dptext.readers.pairs import SameKindReader
from dptext.readers.training import PairCounts
from dptext.settings import share

T = TypeVar("T")


class Corpus(NamedTuple):
    """Rows of the test data that are read, how many, and those whose pairs count."""

    name: str
    read: str
    texts: int
    counted: tuple[str, ...]


KINDS = {
    "news": Corpus("AG News", "agnews_test5600", 1500, ("agnews_train19k",)),
    "reviews": Corpus("IMDb", "imdb_5k", 400, ("imdb_5k",)),
    "customer reviews": Corpus(
        "Trustpilot", "trustpilot_en_test", 403, ("trustpilot_en_train",)
    ),
    "sentences": Corpus("SST-2", "sst2_dev", 872, ("sst2_train20k", "imdb_5k")),
}
# Without any output a guess is right for 5.2% of words.
RISKS = ("6%", "8%", "10%", "13%", "16%", "20%", "25%", "30%")
_COUNTED = 500_000
# Words of one request to a server, requests under way, and seconds of each.
_ASKED, _CONCURRENCY, _TIMEOUT = 40, 4, 600.0
_LEARNED = 2000  # texts for classifiers
_BATCH = 500


def counted(corpus: Corpus, pipeline: Pipeline) -> PairCounts:
    """Count the pairs of half a million words, of rows that are not read."""
    # Rows of the same file that classifiers or readers see are left out, too, and what
    # nearly repeats them.
    seen = [str(row["text"]) for row in rows_of(corpus.read)[:_LEARNED]]
    other = [str(row["text"]) for file in corpus.counted for row in rows_of(file)]
    units = Units()
    for text in (*seen, *other):
        units.add([text])
    fresh = units.labels()[len(seen) :] >= len(seen)
    texts = [text for text, new in zip(other, fresh, strict=True) if new]
    counts = PairCounts(pipeline.lexicon)
    for batch in _batches(texts, 50):
        if counts.words >= _COUNTED:
            break
        counts.add(batch)
    return counts


def read(
    kind: str, pipeline: Pipeline, strongest: Reader, most: int = 10_000
) -> tuple[Reading, ...]:
    """Return and print what the usual readers and one more find in a kind of text."""
    corpus = KINDS[kind]
    rows = rows_of(corpus.read)[: min(most, corpus.texts)]
    readings = context_risk.measure(
        pipeline,
        [*context_risk.available(pipeline), strongest],
        _batches([(str(row["text"]),) for row in rows], _BATCH),
        pipeline.randomness(RunKey.from_seed(0)),
    )
    for each in readings:
        print(f"  {kind}: {each.reader} {each.success:.1%}", flush=True)
    return readings


def attack(kind: str, pipeline: Pipeline, server: Server, most: int) -> None:
    """Print what readers find, and a model on a server, with 95% intervals."""
    strongest = EndpointReader(pipeline.channel, server, _ASKED)
    for each in read(kind, pipeline, strongest, most):
        print(f"{each.reader}: {each.assumes}")
        for one in each.classes:
            span = f"{one.low:.1%} to {one.high:.1%}"
            print(f"  {one.name}: {one.success:.1%} ({span}) of {one.words:,}")


def cell(kind: str, pipeline: Pipeline) -> InContext:
    """Return what readers find in a kind of text, and what classifiers keep of it."""
    corpus = KINDS[kind]
    counts = counted(corpus, pipeline)
    shipped = ngrams.find_model(ngrams.ENGLISH, pipeline.channel)
    public = counts.model(1, {}, shipped)
    readings = read(kind, pipeline, SameKindReader.strongest(pipeline.channel, public))
    return InContext(
        corpus.name,
        shipped.digest,
        readings,
        kind,
        counts.words,
        tuple(learned(corpus, pipeline)),
    )


def learned(corpus: Corpus, pipeline: Pipeline) -> Iterator[Learned]:
    """Yield what classifiers make of the labels before and after."""
    rows = [row for row in rows_of(corpus.read)[:_LEARNED] if "label" in row]
    if not rows:
        return
    texts = [str(row["text"]) for row in rows]
    private, _, _ = privatized(pipeline, texts, 0)
    for name in ("tfidf", "vectors"):
        make = make_classifier(name, pipeline.lexicon)
        labels = [str(row["label"]) for row in rows]
        task = learn("label", labels, texts, private, name, make, 3)
        accuracies = (task.original, task.private, task.static)
        yield Learned(name, task.chance, *(one.accuracy for one in accuracies))


def _batches(texts: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (texts[begin : begin + size] for begin in range(0, len(texts), size))


def main() -> None:
    """Write the file: cells that are not asked for keep their figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--profile", action="append", help="default: balanced")
    parser.add_argument("--risk", action="append", help="default: all of the ladder")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--endpoint", help="only print what a model on a server finds")
    parser.add_argument("--model", default="")
    parser.add_argument("--texts", type=int, default=100, help="those sent to a server")
    arguments = parser.parse_args()
    path = calibrate.shipped_readers()
    for name in arguments.profile or ("balanced",):
        for risk in arguments.risk or RISKS:
            recipe = profile.load(name, {"budget": {"risk": risk}})
            pipeline = open_pipeline(name, {"budget": {"risk": risk}})
            key = context_risk.key_of(pipeline)
            epsilon = pipeline.budget.description.high
            print(f"{name}, risk {risk}, epsilon {epsilon:g}", flush=True)
            for kind in arguments.kind or KINDS:
                if arguments.endpoint:
                    url, model = arguments.endpoint, arguments.model
                    server = Server(url, model, _CONCURRENCY, _TIMEOUT, "--endpoint")
                    attack(kind, pipeline, server, arguments.texts)
                    continue
                one = cell(kind, pipeline)
                data = json.loads(path.read_bytes())
                before = data["readers"].get(key, ())
                kept = [each for each in before if each["kind"] not in (kind, "")]
                kept.append(asdict(one))
                data["readers"][key] = sorted(kept, key=lambda e: str(e["kind"]))
                settings = calibrate.ladder_key(recipe.settings(), pipeline.lexicon)
                rung = f"{share(risk, '--risk'):g}"
                data["ladders"].setdefault(settings, {})[rung] = key
                text = json.dumps(data, indent=1, sort_keys=True)
                path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
