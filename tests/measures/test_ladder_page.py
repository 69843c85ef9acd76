"""The guide's table of risks holds the figures of readers that ship."""

import json
from typing import Any

from dptext import lexicons, profile
from dptext.measures import calibrate
from tests.outside import ROOT

_KINDS = ("AG News", "IMDb", "SST-2", "Trustpilot")
_WORDS = {"all words": "all", "all other words": "rare"}


def rows() -> list[str]:
    """Return the rows of the table, from the ladder with the most risks."""
    shipped = json.loads((ROOT / "dptext/data/readers.json").read_text())
    ladder = max(shipped["ladders"].values(), key=len)
    lines = []
    for risk, rung in sorted(ladder.items(), key=lambda each: float(each[0])):
        key = rung["readers"]
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


def of_profile(name: str) -> tuple[list[float], list[float], list[float], float]:
    """Return what the reader of the kind finds, of rare words too, and one word's.

    Then the share that classifiers keep of what they learn beyond chance.
    """
    settings: dict[str, Any] = dict(profile.load(name).settings())
    lexicon = lexicons.find("builtin")
    shipped = json.loads(calibrate.shipped_readers().read_text())
    rungs = shipped["ladders"][calibrate.ladder_key(settings, lexicon)]
    risk = settings["budget"]["risk"]
    key = rungs[f"{risk:g}"]["readers"]
    measured = {each["corpus"]: each for each in shipped["readers"][key]}
    columns: list[list[float]] = []
    for reader, band in (("same-kind", 0), ("same-kind", -1), ("alone", 0)):
        columns.append(
            [
                100 * reading["classes"][band]["success"]
                for corpus in _KINDS
                for reading in measured[corpus]["readings"]
                if reading["reader"] == reader
            ]
        )
    kept = [
        (each["private"] - each["chance"]) / (each["original"] - each["chance"])
        for corpus in _KINDS
        for each in measured[corpus]["learned"]
    ]
    return columns[0], columns[1], columns[2], sum(kept) / len(kept)


def test_profiles_say_what_the_strongest_reader_finds() -> None:
    """Their descriptions and the guide have the figures that ship."""
    guide = (ROOT / "docs/guide.md").read_text()
    for name in ("strict", "balanced", "readable"):
        all_words, rare, alone, kept = of_profile(name)
        about = profile.load(name).about
        assert f"finds {min(all_words):.0f} to {max(all_words):.0f}%" in about
        cells = [
            ", ".join(f"{share:.0f}" for share in column) + "%"
            for column in (all_words, rare, alone)
        ]
        row = " | ".join([*cells, f"{kept:.0%} |"])
        assert row in guide, row
