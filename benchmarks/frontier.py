"""Mechanisms at equal risk on real text: writes docs/frontier.md.

Each cell of `dptext compare` on a sample of four corpora (AG News, SST-2, IMDb,
Trustpilot), training and test privatized. The data are those of DPTEXT_TEST_DATA.

    python benchmarks/frontier.py --sample 2000 --jobs 2 --resume frontier.rows
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from pathlib import Path

import numpy as np

from dptext import __version__, lexicons
from dptext.cli.compare_run import _keep, _read
from dptext.evaluation import comparison
from dptext.evaluation.comparison import Cell, Row, Sample
from dptext.evaluation.run import Settings

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("DPTEXT_TEST_DATA", ROOT.parent / "shared" / "data"))
# Corpus -> its file, the label to learn, the attribute to attack.
CORPORA = {
    "AG News": ("agnews_test5600", "label", None),
    "SST-2": ("sst2_dev", "label", None),
    "IMDb": ("imdb_5k", "label", None),
    "Trustpilot": ("trustpilot_en_train", "age_cat", "gender"),
}
# A law that is good at a risk, as docs/rank.md finds; chosen on other rows.
RANK = {
    0.1: {"law": "arch", "k": 96, "p": 4},
    0.2: {"law": "arch", "k": 48, "p": 2},
    0.35: {"law": "arch", "k": 16, "p": 1.5},
}
MECHANISMS = ("rank", "santext", "laplace", "syntf")
TARGET = ROOT / "docs" / "frontier.md"


def sample(name: str, most: int) -> Sample:
    """Read a corpus: texts with their label and attribute."""
    file, label, attribute = CORPORA[name]
    with gzip.open(DATA / "text" / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    order = np.random.default_rng(0).permutation(len(rows))[:most]
    chosen = [rows[place] for place in sorted(order.tolist())]
    fields = [label, *([attribute] if attribute else [])]
    return Sample(
        tuple(row["text"] for row in chosen),
        tuple(tuple(str(row[field]) for field in fields) for row in chosen),
    )


def cells() -> list[Cell]:
    """Return mechanisms at each risk, with the other settings of balanced."""
    out = []
    for mechanism in MECHANISMS:
        for risk, law in RANK.items():
            params = {"name": mechanism, **(law if mechanism == "rank" else {})}
            over = {
                "mechanism": params,
                "mapping": None,
                "budget": {"name": "uniform", "epsilon": None, "risk": risk},
            }
            out.append(Cell(mechanism, f"{risk:.0%}", "builtin", "balanced", over))
    return out


def main() -> None:
    """Fill the grid and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--resume", type=Path, default=None)
    given = parser.parse_args()
    parts = [HEAD.format(version=__version__, sample=given.sample, splits=given.splits)]
    for name, (_, label, attribute) in CORPORA.items():
        settings = Settings(
            labels=(label,),
            attributes=(attribute,) if attribute else (),
            splits=given.splits,
            bayes=False,
        )
        found: dict[tuple[str, str], Row] = {}
        for cell, row in comparison.run(
            cells(),
            sample(name, given.sample),
            settings,
            jobs=given.jobs,
            done=_read(given.resume),
            keep=lambda key, row: _keep(given.resume, key, row),
        ):
            found[cell.level, cell.mechanism] = row
            print(name, cell.level, cell.mechanism, row.reason or "done", flush=True)
        parts.append(table(name, found, attribute))
        digest = lexicons.find("builtin").digest
        text = "\n".join(parts) + f"\nLexicon english, digest {digest[:12]}.\n"
        TARGET.write_text(text, encoding="utf-8")


def table(name: str, found: dict[tuple[str, str], Row], attribute: str | None) -> str:
    """Return the table of a corpus in Markdown."""
    head = ["risk", "mechanism", "epsilon", "worst loss", "PP", "CS", "utility"]
    head += ["attack"] if attribute else []
    head += ["words/s", "MB"]
    lines = [f"## {name}", "", "| " + " | ".join(head) + " |"]
    lines.append("| --- | --- |" + " --- |" * (len(head) - 2))
    original = next((r.result for r in found.values() if r.result), None)
    for risk in RANK:
        for mechanism in MECHANISMS:
            row = found[f"{risk:.0%}", mechanism]
            lines.append(f"| {risk:.0%} | {mechanism} | {_cells(row, attribute)} |")
    if original is not None:
        told = f"unprotected: utility {original.utility[0].original.accuracy:.3f}"
        if attribute:
            told += f", attack {original.attribute_attacks[0].original.accuracy:.3f}"
        lines += ["", f"{told}; chance {original.utility[0].chance:.3f}."]
    return "\n".join([*lines, ""])


def _cells(row: Row, attribute: str | None) -> str:
    if row.result is None:
        return f"{row.reason.partition(';')[0]} |" + " |" * (7 if attribute else 6)
    kept = row.result.kept
    loss = "none" if row.worst_loss is None else f"{row.worst_loss:.4g}"
    values = [f"{row.epsilon:.4g}", loss, f"{kept.perturbed:.3f}"]
    values.append(f"{kept.similarity:.3f}")
    tasks = [row.result.utility[0]]
    tasks += [row.result.attribute_attacks[0]] if attribute else []
    values += [str(task.private) for task in tasks]
    values += [f"{row.words_per_second:,.0f}", f"{row.megabytes:.0f}"]
    return " | ".join(values)


HEAD = """# Mechanisms at equal risk

Made by `python benchmarks/frontier.py` (dptext {version}): at most {sample} texts of
each corpus, {splits} splits, TF-IDF and logistic regression, trained and tested on
private texts. Every mechanism has the epsilon at which the best guess of a word, by
the ruler, succeeds as often as the risk says; for mechanisms with noise the upper 95%
limit does. `rank` takes the laws that `docs/rank.md` chose on other rows. Utility is
the accuracy on the corpus's label, the attack that on the author's gender (chance
about one half). ± is the standard deviation between splits. Worst loss: of one word,
in nats, by the mechanism's own claim. CS by the lexicon's vectors. Speed and memory
are those of one run on a machine of two cores, and say only which are slow.
"""


if __name__ == "__main__":
    main()
