"""Whether outputs of `readable` make sense: faults that stop a receiver, counted.

    python -m benchmarks sense [--draws 1000] [--seed 0]
    python -m benchmarks sense --show 40
    python -m benchmarks sense --check
    python -m benchmarks sense --language-model PATH [--texts 100]

Fills tickets, letters, reviews and news (benchmarks/sense/texts.txt; people of twenty
origins, with other names, dates and numbers each time) so many times, writes them under
`readable`, and counts faults by comparing texts before and after: names, addresses and
order numbers that stand twice and become two, opinions turned, numbers and dates that
cannot be, emoji, acronyms and common words with capitals that become other words, real
brands, and whether five words stand everywhere. Prints a table in Markdown: row,
chances of the fault, its share, its limit.

--check makes fewer draws and fails where a share is above its limit. --show prints
outputs to read. --language-model prints the perplexity of tickets, news and reviews and
of their outputs under a causal model (benchmarks.perplexity).
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from benchmarks import perplexity
from benchmarks.private_rows import privatized, read_rows
from benchmarks.sense import records
from benchmarks.sense.counting import Written, counts
from benchmarks.sense.records import Made
from dptext import open_pipeline
from dptext.engine.language import Language
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Record

# Largest share of each row that --check allows: 0, or a little above the share of today
# (docs/results/sense.md).
LIMITS = {
    "equal names become unequal": 0.005,
    "equal e-mail addresses become unequal": 0.0,
    "equal order numbers become unequal": 0.0,
    "equal phone numbers become unequal": 0.0,
    "equal products become unequal": 0.0,
    "equal usernames become unequal": 0.0,
    "two people get one name": 0.0,
    "he or she against the name": 0.02,
    "polarity turned": 0.01,
    "text with an opinion lost": 0.02,
    "text with an opinion added": 0.02,
    "denial of a delicate word turned": 0.01,
    "equal plain words become unequal": 1.0,
    "different plain words become equal": 0.01,
    "illness without a word of illness": 0.6,
    "1 before a plural": 0.02,
    "range backwards": 0.0,
    "year outside 2010 to 2035": 0.0,
    "rating above its scale": 0.0,
    "percentage above 100": 0.0,
    "age below 10 or above 89": 0.01,
    "blood pressure that cannot be": 0.0,
    "date that is none or outside 2010 to 2035": 0.0,
    "dates out of order": 0.0,
    "times of a chat out of order": 0.0,
    "weekday becomes another word": 0.0,
    "emoji become words or nothing": 0.0,
    "first word after emoji lost": 0.0,
    "common word with a capital replaced after a mark or greeting": 0.0,
    "modal or verb before a pronoun or article replaced": 0.0,
    "acronyms lost": 0.0,
    "key of a log changed": 0.0,
    "Windows, Error and the like lost": 0.0,
    "word of a heading in capitals changed": 0.02,
    "real brand invented": 0.01,
    "organisation of capitals becomes words": 0.02,
    "username with underscores kept whole": 0.0,
    "German row not told": 0.0,
    "five commonest words, ticket": 0.2,
    "five commonest words, letter": 0.18,
    "five commonest words, review": 0.16,
    "five commonest words, news": 0.24,
}
_CHECKED_DRAWS = 20
_BATCH = 200
_GERMAN = "german"
# Texts of the test data whose perplexity is measured, with their longest beginning.
_CORPORA = {
    "news": "agnews_test5600",
    "reviews of films": "imdb_5k",
    "customer reviews": "trustpilot_en_test",
}
_PROFILES = ("readable", "balanced")
_LONGEST = 400
# Records of one file, of which some are in German.
_FILE = 20
_TOLD = re.compile(r"(\d+) of the first .* another language")


class Table:
    """Chances and faults by row."""

    def __init__(self) -> None:
        self.chances: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        # Words in lower case that were written for other ones, by kind of text.
        self._words: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, written: Written) -> None:
        """Count a record that was written."""
        for row, is_fault in counts(written):
            self.count(row, 1, is_fault)
        for each in written.aligned:
            self._words[written.record.kind].update(new for _, new in each.plain())

    def count(self, row: str, chances: int, faults: int) -> None:
        """Count chances and faults of a row."""
        self.chances[row] += chances
        self.faults[row] += faults

    def close(self) -> None:
        """Count the five commonest words of each kind."""
        for kind, words in self._words.items():
            five = sum(count for _, count in words.most_common(5))
            self.count(f"five commonest words, {kind}", words.total(), five)

    def share(self, row: str) -> float:
        """Return the share of faults, nan without a chance."""
        chances = self.chances[row]
        return self.faults[row] / chances if chances else float("nan")

    def above(self) -> list[str]:
        """Return the rows above their limits, and those that were not counted."""
        return [row for row, limit in LIMITS.items() if not self.share(row) <= limit]

    def lines(self) -> Iterator[str]:
        """Yield the lines of the table in Markdown."""
        yield "| fault | chances | share | limit |"
        yield "| --- | ---: | ---: | ---: |"
        for row, limit in LIMITS.items():
            share = f"{self.share(row):.1%}"
            yield f"| {row} | {self.chances[row]:,} | {share} | {limit:.0%} |"


def written(pipeline: Pipeline, made: Sequence[Made], seed: int) -> Iterator[Written]:
    """Yield made records with their outputs."""
    randomness = pipeline.randomness(RunKey.from_seed(seed))
    given = [Record(number, each.texts, None) for number, each in enumerate(made)]
    for begin in range(0, len(made), _BATCH):
        batch = slice(begin, begin + _BATCH)
        done = pipeline.privatize(given[batch], randomness)
        yield from map(Written, made[batch], done.texts)


def told(pipeline: Pipeline, made: Sequence[Made]) -> Iterator[tuple[int, int]]:
    """Yield how many rows of each file are in German, and of how many no warning is."""
    lexicon = pipeline.lexicon
    for begin in range(0, len(made), _FILE):
        file = made[begin : begin + _FILE]
        said: list[str] = []
        language = Language(pipeline.tokenizer, lexicon.name, said.append)
        language.look(
            Record(number, each.texts, None) for number, each in enumerate(file)
        )
        language.close()
        german = sum(each.kind == _GERMAN for each in file)
        found = sum(int(match[1]) for line in said if (match := _TOLD.match(line)))
        yield german, max(german - found, 0)


def counted(draws: int, seed: int) -> Table:
    """Write all records so many times and count."""
    pipeline = open_pipeline("readable")
    table = Table()
    made = [*records.made(draws, seed)]
    for chances, faults in told(pipeline, made):
        table.count("German row not told", chances, faults)
    english = [each for each in made if each.kind != _GERMAN]
    for each in written(pipeline, english, seed):
        table.add(each)
    table.close()
    return table


def show(count: int, seed: int) -> None:
    """Print outputs, each kind in turn."""
    pipeline = open_pipeline("readable")
    made = [each for each in records.made(1, seed) if each.kind != _GERMAN]
    for each in [*written(pipeline, made, seed)][:count]:
        print(f"\n## {each.record.kind}\n")
        for before, after in zip(each.record.texts, each.texts, strict=True):
            print(f"{before}\n=>\n{after}\n")


def real(count: int, seed: int) -> dict[str, list[str]]:
    """Return made tickets and texts of the test data, in one line each, by kind."""
    draws = -(-count // sum(kind == "ticket" for kind, _ in records.templates()))
    tickets = (
        each.texts for each in records.made(draws, seed) if each.kind == "ticket"
    )
    texts = {"tickets": [" ".join(each) for each in tickets]}
    for kind, corpus in _CORPORA.items():
        texts[kind] = [row["text"][:_LONGEST] for row in read_rows(corpus)]
    return {
        kind: [" ".join(text.split()) for text in of_kind[:count]]
        for kind, of_kind in texts.items()
    }


def fluency(model: str, count: int, seed: int) -> Iterator[str]:
    """Yield a table in Markdown: perplexity per word of texts and of their outputs."""
    yield f"| | original | {' | '.join(_PROFILES)} |"
    yield f"| --- | ---: |{' ---: |' * len(_PROFILES)}"
    pipelines = [open_pipeline(profile) for profile in _PROFILES]
    for kind, texts in real(count, seed).items():
        plain = perplexity.by_network(texts, model)
        cells = [f"{plain:,.0f}"]
        for pipeline in pipelines:
            found = perplexity.by_network(privatized(pipeline, texts, seed)[0], model)
            cells.append(f"{found:,.0f} ({found / plain:.1f})")
        yield f"| {kind} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table, check it, or show outputs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--show", type=int, metavar="COUNT")
    parser.add_argument("--language-model", metavar="PATH")
    parser.add_argument("--texts", type=int, default=100)
    arguments = parser.parse_args()
    if arguments.language_model:
        for line in fluency(arguments.language_model, arguments.texts, arguments.seed):
            print(line, flush=True)
        return
    if arguments.show:
        show(arguments.show, arguments.seed)
        return
    draws = arguments.draws or (_CHECKED_DRAWS if arguments.check else 1000)
    table = counted(draws, arguments.seed)
    print("\n".join(table.lines()))
    if arguments.check and (above := table.above()):
        sys.exit("above the limit: " + "; ".join(above))


if __name__ == "__main__":
    main()
