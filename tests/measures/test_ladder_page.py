"""The tables of docs/results/attackers.md hold the figures that ship."""

import json
import re
from typing import Any

import dptext
from dptext import profile
from dptext.measures import calibrate, context_risk
from dptext.report import answer
from tests.outside import ROOT
from tools import terminal

_KINDS = ("AG News", "IMDb", "SST-2", "Trustpilot")
_WORDS = {"all words": "all", "all other words": "rare"}


def written_words(figures: dict[str, Any], band: str) -> str:
    """Return how many words of a class are the original as written, by corpus."""
    shares = [
        each["success"]
        for corpus in _KINDS
        for each in figures[corpus]["readings"][0]["classes"]
        if each["name"] == band
    ]
    return ", ".join(f"{100 * share:.0f}" for share in shares)


def rows() -> list[str]:
    """Return the rows of the table, from the ladder with the most risks."""
    shipped = json.loads((ROOT / "dptext/data/attackers.json").read_text())
    ladder = max(shipped["ladders"].values(), key=len)
    lines = []
    for risk, rung in sorted(ladder.items(), key=lambda each: float(each[0])):
        measured = {
            each["corpus"]: each for each in shipped["attackers"][rung["attackers"]]
        }
        written = {each["corpus"]: each for each in shipped["written"][rung["written"]]}
        for band, name in _WORDS.items():
            cells = [written_words(written, band)]
            for attacker in ("alone", "ngram", "same-kind"):
                shares = [
                    next(
                        c["success"]
                        for r in measured[corpus]["readings"]
                        if r["attacker"] == attacker
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


def test_the_page_has_the_figures_that_ship() -> None:
    """Each risk has its row: finds of attackers and accuracies of classifiers."""
    page = (ROOT / "docs/results/attackers.md").read_text()
    assert [row for row in rows() if row not in page] == []


def of_profile(
    name: str,
) -> tuple[list[str], list[float], list[float], list[float], float]:
    """Return written words, what the attacker of the kind finds, and one draw's guess.

    Of written words and of what the attacker finds all and rare ones; at last the share
    that classifiers keep of what they learn beyond chance.
    """
    shipped = json.loads(calibrate.shipped_attackers().read_text())
    pipeline = dptext.open_pipeline(name)
    keys = context_risk.key_of(pipeline), context_risk.written_key(pipeline)
    measured = {each["corpus"]: each for each in shipped["attackers"][keys[0]]}
    as_written = {each["corpus"]: each for each in shipped["written"][keys[1]]}
    written = [written_words(as_written, band) for band in _WORDS]
    columns: list[list[float]] = []
    every, rare = _WORDS
    for attacker, band in (("same-kind", every), ("same-kind", rare), ("alone", every)):
        columns.append(
            [
                100 * each["success"]
                for corpus in _KINDS
                for reading in measured[corpus]["readings"]
                for each in reading["classes"]
                if reading["attacker"] == attacker and each["name"] == band
            ]
        )
    kept = [
        (each["private"] - each["chance"]) / (each["original"] - each["chance"])
        for corpus in _KINDS
        for each in measured[corpus]["learned"]
    ]
    return written, columns[0], columns[1], columns[2], sum(kept) / len(kept)


def test_profiles_say_what_the_strongest_attacker_finds() -> None:
    """Their descriptions and the page have the figures that ship."""
    page = (ROOT / "docs/results/attackers.md").read_text()
    for name in ("strict", "balanced", "readable"):
        written, all_words, rare, alone, kept = of_profile(name)
        about = profile.load(name).about
        found = f"{min(all_words):.0f} to {max(all_words):.0f}%"
        assert f"finds at least {found}" in about
        cells = [
            ", ".join(f"{share:.0f}" for share in column) + "%"
            for column in (all_words, rare, alone)
        ]
        cells = [*(f"{each}%" for each in written), *cells]
        row = " | ".join([*cells, f"{kept:.0%} |"])
        assert row in page, row


def test_the_first_screens_have_the_figures_that_ship() -> None:
    """The picture of README and the tutorial have the lines of the answers.

    python -m tools.terminal draws the picture anew.
    """
    picture = terminal.text_of(terminal.PICTURE.read_text("utf-8"))
    page = (ROOT / "docs/tutorial.md").read_text("utf-8")
    for text, name in ((picture, "readable"), (page, "balanced")):
        document = dptext.privatize(["The film was good."], name, report=True)[1]
        lines = {
            line.name: line.short or line.sentence
            for line in answer.answer(document)
            if re.search(rf"^ {line.name} ", text, re.MULTILINE)
        }
        assert {"attacker", "people", "profile"} <= lines.keys()
        shown = " ".join(text.split())
        for line in (
            "attacker",
            "same word",
            "one guess",
            "original",
            "people",
            "profile",
        ):
            if line in lines:
                assert f"{line} {lines[line]}" in shown, name
