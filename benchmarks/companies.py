"""How often the name of a company stays if its words are common ones.

    python -m benchmarks companies [--draws 1000] [--seed 0]

Writes sentences with the name of a company many times and prints, as a table in
Markdown, the share of outputs that hold the whole name, in any case: for each profile,
and for `readable` also with the name in lower case, as people write it in chats.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from benchmarks.delicate import PROFILES, outputs, share
from dptext import open_pipeline
from dptext.pipeline import Pipeline

COMPANIES = (
    "Best Buy",
    "Apple",
    "Target",
    "Amazon",
    "Sprint",
    "Shell",
    "Gap",
    "Subway",
    "Orange",
    "Whole Foods",
    "Dollar General",
    "Home Depot",
    "General Motors",
    "Bank of America",
)
SENTENCES = (
    "I bought it at {} last week and want my money back.",
    "{} never answered my letter.",
    "My manager at {} told me to wait.",
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    columns: list[tuple[str, Pipeline, Callable[[str], str]]] = [
        (f"`{name}`", open_pipeline(name), str) for name in PROFILES
    ]
    columns.append(("`readable`, lower case", columns[-1][1], str.lower))
    print("| company |", " | ".join(name for name, _, _ in columns), "|")
    print("| --- |" + " ---: |" * len(columns))
    means = [0.0] * len(columns)
    for company in COMPANIES:
        row = []
        for _, pipeline, spell in columns:
            texts: list[str] = []
            for sentence in SENTENCES:
                given = sentence.format(spell(company))
                texts += outputs(pipeline, given, arguments.draws, arguments.seed)
            row.append(share(company, texts))
        means = [a + b / len(COMPANIES) for a, b in zip(means, row, strict=True)]
        print(f"| {company} |", " | ".join(f"{each:.1%}" for each in row), "|")
    print("| mean |", " | ".join(f"{each:.1%}" for each in means), "|")


if __name__ == "__main__":
    main()
