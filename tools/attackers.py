"""Measure what attackers find at each risk in each kind of text, and ship the figures.

    python -m tools.attackers                          # all that ships
    python -m tools.attackers --profile strict         # a profile at its own risk
    python -m tools.attackers --risk 20% --kind news   # one cell of the ladder
    python -m tools.attackers --risk 20% --kind sentences --texts 60
        --endpoint http://localhost:11434/v1 --model NAME       # writes no file

Writes dptext/data/attackers.json, which plans and reports show beside the exact risk:
for each kind of text how many written words are the original, with the profile's
decoder and without one, what attackers find, each of all words, of content words and by
frequency, and what classifiers keep of the labels. Attackers are `alone` (one output
word), `ngram` (the whole text, and the pairs that ship) and `same-kind` (besides, half
a million words of other public texts of the kind). Texts are public test data: no order
and no weight of a decoder was chosen by the rows that are read, and no row is read with
text that counted it or nearly repeats it. Draws have a fixed seed.

All that ships is `balanced` at each risk of the ladder, `strict` and `readable` at
their own. Run it after the lexicon, the n-gram model that ships or a shipped profile
has changed. No run leaves a figure of earlier settings in the file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from benchmarks.private_rows import privatized, read_rows
from dptext import open_pipeline, profile
from dptext.attackers import Attacker, ngrams
from dptext.attackers.endpoint import EndpointAttacker
from dptext.attackers.reader import SameKindAttacker
from dptext.attackers.training import KindCounts
from dptext.budgets import uniform
from dptext.evaluation.classify import learn, make_classifier
from dptext.measures import calibrate, context_risk
from dptext.measures.context_risk import (
    ClassifierFigures,
    ContextAttack,
    InContext,
    Reading,
)
from dptext.measures.independence import Units
from dptext.models.endpoint import Server
from dptext.pipeline import Pipeline
from dptext.profile import Profile
from dptext.randomness import RunKey

T = TypeVar("T")
# Without any output a guess is right for 5.3% of words.
RISKS = ("6%", "8%", "10%", "13%", "16%", "20%", "25%", "30%")
# The risks at which each profile is measured; () is its own.
_SHIPPED: dict[str, tuple[str, ...]] = {"balanced": RISKS, "strict": (), "readable": ()}
_COUNTED = 500_000
# Words of one request to a server, requests under way, and seconds of each.
_ASKED, _CONCURRENCY, _TIMEOUT = 40, 4, 600.0
_LEARNED = 2000  # texts for classifiers
_BATCH = 500


class Corpus(NamedTuple):
    """Rows of the test data to read, their number, and files for counts of pairs."""

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


def counted(corpus: Corpus, pipeline: Pipeline) -> KindCounts:
    """Count half a million words, of rows that are not read."""
    # Rows of the same file that classifiers or attackers see are left out, too, and
    # what nearly repeats them.
    seen = [str(row["text"]) for row in read_rows(corpus.read)[:_LEARNED]]
    other = [str(row["text"]) for file in corpus.counted for row in read_rows(file)]
    units = Units()
    for text in (*seen, *other):
        units.add([text])
    fresh = units.labels()[len(seen) :] >= len(seen)
    texts = [text for text, new in zip(other, fresh, strict=True) if new]
    counts = KindCounts(pipeline.lexicon, pipeline.profile.tokens)
    for batch in _batches(texts, 50):
        if counts.words >= _COUNTED:
            break
        counts.add(batch)
    return counts


def attacked(
    kind: str, pipeline: Pipeline, attackers: Sequence[Attacker], most: int = 10_000
) -> ContextAttack:
    """Attack the texts of a kind."""
    corpus = KINDS[kind]
    rows = read_rows(corpus.read)[: min(most, corpus.texts)]
    return context_risk.attack_records(
        pipeline,
        attackers,
        _batches([(str(row["text"]),) for row in rows], _BATCH),
        pipeline.randomness(RunKey.from_seed(0)),
    )


def read(
    kind: str, pipeline: Pipeline, strongest: Attacker, most: int = 10_000
) -> tuple[Reading, ...]:
    """Return and print what attackers find in a kind of text, and one more attacker.

    The first takes the written words as they stand.
    """
    attackers = [*context_risk.available(pipeline), strongest]
    attack = attacked(kind, pipeline, attackers, most)
    written = attack.written()
    readings = attack.result() if written is None else (written, *attack.result())
    for each in readings:
        print(f"  {kind}: {each.attacker} {each.success:.1%}", flush=True)
    return readings


def attack(kind: str, pipeline: Pipeline, server: Server, most: int) -> None:
    """Print what attackers find, and a model on a server, with 95% intervals."""
    strongest = EndpointAttacker(pipeline.channel, server, _ASKED)
    for each in read(kind, pipeline, strongest, most):
        print(f"{each.attacker}: {each.assumes}")
        for one in each.classes:
            span = f"{one.low:.1%} to {one.high:.1%}"
            print(f"  {one.name}: {one.success:.1%} ({span}) of {one.words:,}")


class Cell(NamedTuple):
    """The figures of a kind of text: of attackers, of written words and of draws.

    The last are of draws written unchanged, without a decoder.
    """

    attackers: InContext
    written: InContext
    drawn: InContext


def cell(kind: str, pipeline: Pipeline, undecoded: Pipeline) -> Cell:
    """Measure a kind of text; undecoded is the pipeline without a decoder."""
    corpus = KINDS[kind]
    counts = counted(corpus, pipeline)
    shipped = ngrams.find_model(ngrams.ENGLISH, pipeline.channel)
    strongest = SameKindAttacker(pipeline.channel, counts.kind(shipped))
    written, *readings = read(kind, pipeline, strongest)
    drawn = attacked(kind, undecoded, []).written()
    assert drawn is not None
    of_texts = InContext(corpus.name, shipped.digest, (), kind)
    return Cell(
        replace(
            of_texts,
            readings=tuple(readings),
            counted=counts.words,
            learned=tuple(learned(corpus, pipeline)),
        ),
        replace(of_texts, readings=(written,)),
        replace(of_texts, readings=(drawn,)),
    )


def learned(corpus: Corpus, pipeline: Pipeline) -> Iterator[ClassifierFigures]:
    """Yield what classifiers make of the labels before and after."""
    rows = [row for row in read_rows(corpus.read)[:_LEARNED] if "label" in row]
    if not rows:
        return
    texts = [str(row["text"]) for row in rows]
    private, _, _ = privatized(pipeline, texts, 0)
    for name in ("tfidf", "vectors"):
        make = make_classifier(name, pipeline.lexicon)
        labels = [str(row["label"]) for row in rows]
        task = learn("label", labels, texts, private, name, make, 3)
        accuracies = (task.original, task.private, task.static)
        yield ClassifierFigures(
            name, task.chance, *(one.accuracy for one in accuracies)
        )


def _batches(texts: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (texts[begin : begin + size] for begin in range(0, len(texts), size))


class Figures:
    """The file of figures; cells that are not measured keep theirs.

    dptext.measures.calibrate looks the parts up.
    """

    def __init__(self, path: Path, *, fresh: bool) -> None:
        self._path = path
        self._parts: dict[str, Any] = {} if fresh else json.loads(path.read_bytes())

    def rung(self, recipe: Profile, pipeline: Pipeline, risk: float) -> None:
        """Note that settings were measured at a risk."""
        ladder = calibrate.ladder_key(recipe.settings(), pipeline.lexicon)
        epsilon = pipeline.budget.description.high
        rung = calibrate.Rung(
            epsilon, context_risk.key_of(pipeline), context_risk.written_key(pipeline)
        )
        by_settings = self._parts.setdefault("ladders", {})
        by_settings.setdefault(ladder, {})[f"{risk:g}"] = asdict(rung)

    def add(self, part: str, key: str, figures: InContext) -> None:
        """Put the figures of a kind of text in the place of earlier ones."""
        cells = self._parts.setdefault(part, {})
        others = [e for e in cells.get(key, ()) if e["kind"] not in (figures.kind, "")]
        cells[key] = sorted([*others, asdict(figures)], key=lambda e: str(e["kind"]))

    def keep(self, keys: Collection[str]) -> None:
        """Leave out the figures of all other settings, such as of earlier lexicons."""
        for part in ("attackers", "written"):
            cells = self._parts.get(part, {})
            self._parts[part] = {key: cells[key] for key in cells if key in keys}

    def save(self) -> None:
        """Write the file."""
        text = json.dumps(self._parts, indent=1, sort_keys=True)
        self._path.write_text(f"{text}\n", encoding="utf-8")


def shipped_pipelines() -> Iterator[tuple[Pipeline, Pipeline]]:
    """Yield each pipeline of which figures ship, with its decoder and without one."""
    for name, risks in _SHIPPED.items():
        for risk in risks or (None,):
            over = {} if risk is None else {"budget": {"risk": risk}}
            yield (
                open_pipeline(name, over),
                open_pipeline(name, {**over, "decoder": "none"}),
            )


def shipped_keys() -> frozenset[str]:
    """Return the keys of all figures that ship."""
    keys = set[str]()
    for pipeline, undecoded in shipped_pipelines():
        keys |= {context_risk.key_of(pipeline), context_risk.written_key(pipeline)}
        keys.add(context_risk.written_key(undecoded))
    return frozenset(keys)


def main() -> None:
    """Measure and write the cells that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--profile", action="append", choices=_SHIPPED)
    parser.add_argument("--risk", action="append", help="default: all that ship")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--endpoint", help="only print what a model on a server finds")
    parser.add_argument("--model", default="")
    parser.add_argument("--texts", type=int, default=100, help="those sent to a server")
    asked = parser.parse_args()
    fresh = not (asked.profile or asked.risk or asked.kind or asked.endpoint)
    figures = Figures(calibrate.shipped_attackers(), fresh=fresh)
    for name in asked.profile or _SHIPPED:
        for risk in asked.risk or _SHIPPED[name] or (None,):
            over = {} if risk is None else {"budget": {"risk": risk}}
            recipe, pipeline = profile.load(name, over), open_pipeline(name, over)
            params = recipe.budget.params
            assert isinstance(params, uniform.Params)
            epsilon = pipeline.budget.description.high
            shown = "" if params.risk is None else f"risk {params.risk:.0%}, "
            print(f"{name}, {shown}epsilon {epsilon:g}", flush=True)
            if asked.endpoint:
                url, model = asked.endpoint, asked.model
                server = Server(
                    url,
                    model,
                    concurrency=_CONCURRENCY,
                    timeout=_TIMEOUT,
                    setting="--endpoint",
                )
                for kind in asked.kind or KINDS:
                    attack(kind, pipeline, server, asked.texts)
                continue
            undecoded = open_pipeline(name, {**over, "decoder": "none"})
            if params.risk is not None:
                figures.rung(recipe, pipeline, params.risk)
            for kind in asked.kind or KINDS:
                one = cell(kind, pipeline, undecoded)
                figures.add("attackers", context_risk.key_of(pipeline), one.attackers)
                written = context_risk.written_key(pipeline)
                figures.add("written", written, one.written)
                drawn = context_risk.written_key(undecoded)
                figures.add("written", drawn, one.drawn)
                if not fresh:
                    figures.save()
    # The figures that ship stay whole until all of them are measured.
    if not asked.endpoint:
        figures.keep(shipped_keys())
        figures.save()


if __name__ == "__main__":
    main()
