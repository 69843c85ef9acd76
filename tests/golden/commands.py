"""Commands of the golden net, and the stored part of their results."""

from __future__ import annotations

import json
from pathlib import Path

from tests.golden.running import Entry, checked, content, digest, figures, run

IN = "../inputs/"
BALANCED = ("--profile", "balanced")
LEXICON = (*BALANCED, "--lexicon", "gold", "--decode", "none")
GOLD = (*LEXICON, "--epsilon", "6")
VECTORS = ("--lexicon", "gold", "--epsilon", "8")
TEXT = ("--field", "text")
SEED = ("--seed", "5")
KEY = ("--key-file", f"{IN}key")


def settings(*given: str) -> tuple[str, ...]:
    """Return the options that override keys of a profile."""
    return tuple(part for each in given for part in ("--set", each))


def released(command: str, source: str, out: str, *options: str) -> Entry:
    """Sanitize or embed a file; keep the output, the figures and the check."""
    where = ("-o", out, "--report", "report.json", "-q")
    ran = run(command, IN + source, *options, *where)
    entry: Entry = {"exit": ran.code}
    if not Path(out).exists():
        return entry
    entry["output"] = digest(content(Path(out)))
    side = json.loads(Path(f"{out}.dptext.json").read_bytes())
    full = json.loads(Path("report.json").read_bytes())
    entry["public"] = figures(side, "guarantee.strength.word")
    entry["internal"] = figures(full)
    if KEY[0] in options:  # of seeded runs the policy accepts none
        entry["check"] = checked(out)
    return entry


def words(source: str, *options: str) -> Entry:
    """Sanitize a file to one with the same suffixes."""
    return released("sanitize", source, "out." + source.partition(".")[2], *options)


def vectors(source: str, suffix: str, *options: str) -> Entry:
    """Release vectors of a file's texts."""
    return released("embed", source, f"out.{suffix}", *options)


def reported(*arguments: str, clear: tuple[str, ...] = (), named: str = "") -> Entry:
    """Run a command that prints JSON; keep its figures, and a text in it by name."""
    ran = run(*arguments)
    if not ran.out.startswith(b"{"):
        return {"exit": ran.code}
    data = json.loads(ran.out)
    text = {named: data[named]} if named else {}
    return {"exit": ran.code} | figures(data, *clear) | text


def drawn(*arguments: str, clear: tuple[str, ...]) -> Entry:
    """Run a command that draws anew each time; keep what does not depend on draws."""
    entry = reported(*arguments, clear=clear)
    return {name: entry.get(name) for name in ("exit", "clear")}


def ended(*arguments: str) -> Entry:
    """Run a command; keep its exit code."""
    return {"exit": run(*arguments).code}
