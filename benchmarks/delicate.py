"""How often delicate words are written back and found: sentences, and public texts.

    python -m benchmarks delicate [--draws 200] [--seed 0]
    python -m benchmarks delicate --categories [--profile balanced]

Writes each sentence many times and prints, as a table in Markdown, the share of outputs
that hold the delicate word: as drawn (`none`, at the risk of `balanced`), and as each
profile decodes it, in two columns, "any" where the decoder may write every word from
context and "drawn" where it writes words of the lists
(dptext/data/words/english_classes.txt) only where they were drawn, as it does.

--categories prints, by special category, of the words of public texts (those of
tools.attackers: news, film reviews, customer reviews, sentences) how many are found: by
the attacker who has the pairs of other texts of the kind, and by who takes the written
word as it stands, in the same three ways of writing.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from benchmarks.private_rows import read_rows
from dptext import open_pipeline
from dptext.attackers import ngrams
from dptext.attackers.channel import Channel, InputCandidates
from dptext.attackers.reader import SameKindAttacker
from dptext.lexicons import word_classes
from dptext.measures import context_risk
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Floats, Record
from tools.attackers import KINDS, counted

SENTENCES = {
    "cancer": "My mother was diagnosed with breast cancer last year.",
    "HIV": "I am HIV positive and need to talk to somebody.",
    "suicide": "His brother committed suicide two years ago.",
    "arrested": "I was arrested for drunk driving last weekend.",
    "depression": "I have suffered from depression since my divorce.",
    "pregnant": "She is five months pregnant and cannot travel.",
    "Muslim": "As a Muslim woman I was refused service in your store.",
}
PROFILES = ("strict", "balanced", "readable")


@dataclass(frozen=True, eq=False)
class AnyWord(Channel):
    """A channel that lets a decoder write each word that may be drawn."""

    def candidates(
        self, epsilon: float, count: int, inputs: Floats | None = None
    ) -> InputCandidates:
        """Return the likeliest inputs of every output, all drawn ones writable."""
        table = super().candidates(epsilon, count, inputs)
        drawn = np.arange(len(self.prior) + 1) < len(table.rows)
        drawn &= ~word_classes.vulgar_rows(self.lexicon)
        writable = drawn[table.rows] & np.isfinite(table.log_probs)
        return table._replace(writable=writable)


def with_any_word(pipeline: Pipeline) -> Pipeline:
    """Return the pipeline with a decoder that the lists do not bind."""
    channel = pipeline.channel
    parts = {each.name: getattr(channel, each.name) for each in fields(channel)}
    decoder = pipeline.profile.decoder.params.prepare(AnyWord(**parts))
    return replace(pipeline, decoder=decoder)


def by_category(profile: str) -> None:
    """Print how many words of each category are found in public texts."""
    drawn = open_pipeline(profile)
    undecoded = open_pipeline(profile, {"decoder": {"name": "none"}})
    ways = {"written, `none`": undecoded, "any": with_any_word(drawn), "drawn": drawn}
    classes = context_risk.word_classes(drawn.lexicon)
    names = [context_risk.ALL, context_risk.SPECIAL_WORDS]
    names += context_risk.CATEGORIES.values()
    found = {name: np.zeros(2 + len(ways), np.int64) for name in names}
    shipped = ngrams.find_model(ngrams.ENGLISH, drawn.channel)
    for corpus in KINDS.values():
        kind = counted(corpus, drawn).kind(shipped)
        attacker = SameKindAttacker(drawn.channel, kind)
        rows = read_rows(corpus.read)[: corpus.texts]
        records = [
            Record(number, (str(row["text"]),), None) for number, row in enumerate(rows)
        ]
        draws = drawn.draws(records, drawn.randomness(RunKey.from_seed(0)))
        released = drawn.released(draws.words, draws.drawn, draws.eps)
        guesses = [attacker.guess(released)]
        given = draws.words, draws.drawn, draws.eps
        guesses += (each.decode(*given) for each in ways.values())
        ids = draws.words.ids
        for name in names:
            inside = (ids >= 0) & classes[name][ids]
            right = (int((inside & (guess == ids)).sum()) for guess in guesses)
            found[name] += [int(inside.sum()), *right]
    print("| words | how many | attacker |", " | ".join(ways), "|")
    print("| --- |" + " ---: |" * (2 + len(ways)))
    for name, totals in found.items():
        words, *others = totals.tolist()
        shares = (f"{each / max(words, 1):.1%}" for each in others)
        print(f"| {name} | {words:,} |", " | ".join(shares), "|")


def outputs(pipeline: Pipeline, sentence: str, draws: int, seed: int) -> Sequence[str]:
    """Write a sentence so many times."""
    records = [Record(number, (sentence,), None) for number in range(draws)]
    key = pipeline.randomness(RunKey.from_seed(seed))
    return [text for (text,) in pipeline.privatize(records, key).texts]


def share(word: str, texts: Sequence[str]) -> float:
    """Return the share of texts that hold a word, in any case."""
    pattern = re.compile(rf"\b{word}\b", re.IGNORECASE)
    return sum(bool(pattern.search(text)) for text in texts) / len(texts)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--categories", action="store_true")
    parser.add_argument("--profile", default="balanced")
    arguments = parser.parse_args()
    if arguments.categories:
        by_category(arguments.profile)
        return
    columns = {"`none`": open_pipeline("balanced", {"decoder": {"name": "none"}})}
    for name in PROFILES:
        pipeline = open_pipeline(name)
        columns[f"`{name}`, any"] = with_any_word(pipeline)
        columns[f"`{name}`, drawn"] = pipeline
    print("| sentence |", " | ".join(columns), "|")
    print("| --- |" + " ---: |" * len(columns))
    for word, sentence in SENTENCES.items():
        shares = (
            share(word, outputs(each, sentence, arguments.draws, arguments.seed))
            for each in columns.values()
        )
        bold = re.sub(rf"\b{word}\b", f"**{word}**", sentence)
        print(f"| {bold} |", " | ".join(f"{each:.0%}" for each in shares), "|")


if __name__ == "__main__":
    main()
