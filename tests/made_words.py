"""Lists of words that many people wrote, made by hand."""

from __future__ import annotations

from dataclasses import replace

from dptext.partition import Law
from dptext.word_file import CONFIRMED, Entry, WordFile

LAW = Law.calibrate(1.0, 1e-6)
LISTED = WordFile(
    epsilon=1.0,
    delta=1e-6,
    unit="person",
    subject="customer: id",
    persons=2352,
    cap=64,
    sigma=LAW.sigma,
    rho=round(LAW.rho, 6),
    lists="a" * 64,
    profile="b" * 64,
    version="1.0.0",
    key="system",
    draw="c" * 32,
    entries=(
        Entry("?", "CloudDesk", "143.7"),
        Entry("+", "firmware", "91.2"),
        Entry("?", "grüße", "31.0"),
    ),
)


def listed(*words: str) -> WordFile:
    """Return a list of confirmed words."""
    entries = tuple(Entry(CONFIRMED, word, "50.0") for word in words)
    return replace(LISTED, entries=entries)
