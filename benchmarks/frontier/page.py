"""The page of the mechanisms compared: docs/results/frontier.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.private_rows import ROOT
from dptext import __version__

DOCS = ROOT / "docs" / "results"
Rows = Sequence[dict[str, Any]]
# By mechanism and level, kind of text and class of word: share, limits, words.
Shares = dict[str, dict[str, dict[str, list[float]]]]
CORPORA = ("AG News", "SST-2", "IMDb", "Trustpilot")
SHORT = {"Trustpilot": "gender (attack)"}
DECODED = ", decoded"
# The kind of text of each corpus that the attacker of the kind reads.
KINDS = {"AG News": "news", "SST-2": "sentences", "IMDb": "reviews"}
EQUAL = 0.2


def write(rows: Rows, epsilons: dict[str, dict[str, Any]], shares: Shares) -> None:
    """Write docs/results/frontier.md; shares is what the attacker of the kind finds."""
    digests = sorted({row["lexicon"] for row in rows})
    seeds = sorted({row["seed"] for row in rows if row["seed"]})
    text = Path(__file__).with_name("text.md").read_text("utf-8")
    parts = [text.split("<!-- tables -->")[0]]
    parts += tables(rows, epsilons, shares)
    parts.append(text.split("<!-- tables -->")[1])
    parts.append(
        f"dptext {__version__}, lexicon english {', '.join(digests)}, seeds {seeds}.\n"
    )
    (DOCS / "frontier.md").write_text("\n".join(parts), encoding="utf-8")


def tables(
    rows: Rows, epsilons: dict[str, dict[str, Any]], shares: Shares
) -> Iterator[str]:
    """Yield one table for each level, rank first, then by mean accuracy."""
    plain = [row for row in rows if row["mechanism"] == "unprotected"]
    yield "| unprotected | " + " | ".join(SHORT.get(c, c) for c in CORPORA) + " |"
    yield "| --- |" + " --- |" * len(CORPORA)
    cells = [_accuracy([row for row in plain if row["corpus"] == c]) for c in CORPORA]
    yield "| TF-IDF, vectors | " + " | ".join(cells) + " |"
    cells = [
        f"{row['perplexity']:,.0f}"
        for c in CORPORA
        for row in plain
        if row["corpus"] == c
    ]
    yield "| perplexity | " + " | ".join(cells) + " |\n"
    yield from _at_equal_success(rows, shares)
    for level in _levels(epsilons):
        epsilon_of = {
            name: at
            for key, at in epsilons.items()
            for name, other in [key.split(" | ")]
            if other == level
        }
        yield f"### {level}\n"
        here = [r for r in rows if r["level"] == level]
        finds = {
            name: _finds(shares.get(f"{name} | {level}", {})) for name in epsilon_of
        }
        if level.startswith(("context", "kind")):
            alone = f"risk {level.partition(' ')[2]}"
            others = [r for r in rows if r["level"] == alone]
            here += [r for r in others if not r["mechanism"].startswith("rank")]
            for name in {r["mechanism"].removesuffix(DECODED) for r in here}:
                if name != "rank":
                    epsilon_of[name] = epsilons[f"{name} | {alone}"]
                    finds[name] = _finds(shares.get(f"{name} | {alone}", {}))
        yield from _table(here, epsilon_of, finds)
        absent: dict[str, list[str]] = {}
        for name, at in epsilon_of.items():
            if "reason" in at:
                absent.setdefault(at["reason"].partition(";")[0], []).append(name)
        for reason, names in absent.items():
            shown = (
                "all mechanisms" if len(names) == len(epsilon_of) else "; ".join(names)
            )
            yield f"\nNot here: {shown}: {reason}."
        yield ""


def _at_equal_success(rows: Rows, shares: Shares) -> Iterator[str]:
    """Yield accuracies where the attacker of the kind finds 20% of each corpus."""
    yield f"### the attacker with text of the kind finds {EQUAL:.0%}, interpolated\n"
    yield "| mechanism | " + " | ".join(KINDS) + " |\n| --- |" + " --- |" * len(KINDS)
    for name in dict.fromkeys(key.split(" | ")[0] for key in sorted(shares)):
        for written in (name, name + DECODED):
            cells = [_interpolated(rows, shares, written, each) for each in KINDS]
            yield f"| {written} | " + " | ".join(cells) + " |"
    yield ""


def _interpolated(rows: Rows, shares: Shares, written: str, corpus: str) -> str:
    """Write the accuracies of one mechanism, linear between its nearest levels."""
    points = []
    for key, measured in shares.items():
        name, level = key.split(" | ")
        mine = [
            (row["tfidf"], row["means"])
            for row in rows
            if (row["mechanism"], row["level"], row["corpus"])
            == (written, level, corpus)
        ]
        if name == written.removesuffix(DECODED) and mine:
            share = measured[KINDS[corpus]]["all words"][0]
            points.append((share, *np.mean(mine, axis=0).tolist()))
    shown, *accuracies = np.array(sorted(points)).T
    values = [f"{np.interp(EQUAL, shown, each):.2f}" for each in accuracies]
    return " ".join(values)


def _finds(measured: dict[str, dict[str, list[float]]]) -> str:
    """Write what the attacker of the kind finds of each kind of text."""
    kinds = [f"{100 * of_kind['all words'][0]:.0f}" for of_kind in measured.values()]
    return f"{', '.join(kinds)}%" if kinds else "not known"


def _table(
    here: Rows, epsilon_of: dict[str, Any], finds: dict[str, str]
) -> Iterator[str]:
    """Yield the lines of one level: private texts, then a classifier of originals."""
    names = _sorted(here)
    if not names:
        return
    yield (
        "| mechanism | epsilon | risk | in context | same kind | worst loss | "
        + " | ".join(SHORT.get(c, c) for c in CORPORA)
        + " | exact | CS | part of speech | inflection | perplexity |"
    )
    yield "| --- |" + " --- |" * (5 + len(CORPORA) + 5)
    mine = {name: [r for r in here if r["mechanism"] == name] for name in names}
    for name in names:
        drawn = name.removesuffix(DECODED)
        yield _line(name, epsilon_of[drawn], finds[drawn], mine[name])
    yield "\nA classifier of originals, applied to private texts:\n"
    yield "| mechanism | " + " | ".join(c for c in CORPORA if c not in SHORT) + " |"
    yield "| --- |" + " --- |" * (len(CORPORA) - len(SHORT))
    for name in names:
        cells = [
            _accuracy([r for r in mine[name] if r["corpus"] == c], "public_")
            for c in CORPORA
            if c not in SHORT
        ]
        yield f"| {name} | " + " | ".join(cells) + " |"


def _levels(epsilons: Iterable[str]) -> list[str]:
    kinds = {"risk": 0, "context": 1, "kind": 2, "loss": 3}

    def position(level: str) -> tuple[int, float]:
        kind, _, value = level.partition(" ")
        return kinds[kind], float(value.rstrip("%"))

    return sorted({key.split(" | ")[1] for key in epsilons}, key=position)


def _sorted(here: Rows) -> list[str]:
    def worth(name: str) -> tuple[bool, float]:
        mine = [r["tfidf"] + r["means"] for r in here if r["mechanism"] == name]
        return name.startswith("rank"), float(np.mean(mine))

    return sorted({r["mechanism"] for r in here}, key=worth, reverse=True)


def _line(name: str, at: dict[str, Any], finds: str, mine: Rows) -> str:
    risk = f"{at['risk']:.1%}" if at["exact"] else f"at least {at['risk']:.1%}"
    loss = "none" if at["worst_loss"] is None else f"{at['worst_loss']:.4g}"
    context = [r for r in mine if r.get("context") is not None]
    shown = f"{context[0]['context']:.1%}" if context else "not known"
    cells = [name, f"{at['epsilon']:.4g}", risk, shown, finds, loss]
    cells += [_accuracy([r for r in mine if r["corpus"] == c]) for c in CORPORA]
    cells += [_mean(mine, "exact", "{:.1%}"), _mean(mine, "cs", "{:.2f}")]
    cells += [_mean(mine, key, "{:.0%}") for key in ("pos", "tag")]
    cells.append(_mean(mine, "perplexity", "{:,.0f}"))
    return "| " + " | ".join(cells) + " |"


def _accuracy(mine: Rows, of: str = "") -> str:
    cells = []
    for key in ("tfidf", "means"):
        values = [row[of + key] for row in mine]
        if not values:
            return ""
        spread = f"±{np.std(values):.2f}" if len(values) > 1 else ""
        cells.append(f"{np.mean(values):.2f}{spread}")
    return " ".join(cells)


def _mean(mine: Rows, key: str, form: str) -> str:
    """Write the mean over the corpora that have it, without the short Trustpilot."""
    values = [row[key] for row in mine if row.get(key) is not None]
    return form.format(np.mean(values)) if values else ""
