"""The guide's table of risks holds the figures of readers that ship."""

import json

from tests.outside import ROOT

_KINDS = ("AG News", "IMDb", "SST-2", "Trustpilot")
_WORDS = {"all words": "all", "all other words": "rare"}


def rows() -> list[str]:
    """Return the rows of the table, from the ladder with the most risks."""
    shipped = json.loads((ROOT / "dptext/data/readers.json").read_text())
    ladder = max(shipped["ladders"].values(), key=len)
    lines = []
    for risk, key in sorted(ladder.items(), key=lambda each: float(each[0])):
        measured = {each["corpus"]: each for each in shipped["readers"][key]}
        for band, name in _WORDS.items():
            cells = []
            for reader in ("alone", "ngram", "same-kind"):
                shares = [
                    next(
                        c["success"]
                        for r in measured[corpus]["readings"]
                        if r["reader"] == reader
                        for c in r["classes"]
                        if c["name"] == band
                    )
                    for corpus in _KINDS
                ]
                cells.append(", ".join(f"{100 * share:.0f}" for share in shares))
            kept = ""
            if name == "all":
                kept = ", ".join(
                    f"{100 * each['private']:.0f}"
                    for corpus in _KINDS[:3]
                    for each in measured[corpus]["learned"]
                    if each["classifier"] == "tfidf"
                )
            first = f"{float(risk):.0%}" if name == "all" else ""
            lines.append(f"| {first} | {name} | {' | '.join(cells)} | {kept} |")
    return lines


def test_the_guide_has_the_figures_that_ship() -> None:
    """Each risk stands in the guide with what readers found and classifiers keep."""
    guide = (ROOT / "docs/guide.md").read_text()
    assert [row for row in rows() if row not in guide] == []
