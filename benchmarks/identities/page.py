"""The page of identities, docs/results/identities.md, and its picture."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.identities.corpora import MARKED, TEXTS, TICKETS
from benchmarks.identities.systems import PEERS, default_systems
from benchmarks.private_rows import ROOT

ORIGINALS = "originals"
DOCS = ROOT / "docs" / "results"
RESULTS = DOCS / "identities.json"
PICTURE = DOCS / "identities.svg"
_CORPORA = MARKED[:3]
_HEADS = {
    "wikigold": "Wikipedia",
    "wnut17": "WNUT",
    "btc": "tweets",
    "presidio_made": "Presidio's test set",
}
_KINDS = ("person", "place", "organisation")
_FEWEST = 20  # values of a kind that has a column
_TITLE = "Persons that stand whole, against words unchanged"
_INNERMOST = re.compile(r"\{\s+([^{}\[\]]*?)\s+\}")
_COLOURS = {True: "#b45309", False: "#1d4ed8"}  # peers, dptext
Results = dict[str, Any]


def to_json(results: Results) -> str:
    """Return results as JSON, a line for each innermost object."""
    text = json.dumps(results, indent=1, ensure_ascii=False)
    lines = _INNERMOST.sub(
        lambda found: "{" + re.sub(r"\s*\n\s*", " ", found[1]) + "}", text
    )
    return f"{lines}\n"


def write(results: Results) -> None:
    """Write docs/results/identities.md and its picture."""
    text = Path(__file__).with_name("text.md").read_text("utf-8")
    before, after = text.split("<!-- tables -->")
    picture = chart(results)
    PICTURE.write_text(picture, encoding="utf-8")
    body = "\n".join(tables(results))
    (DOCS / "identities.md").write_text(
        f"{before}{body}{after}{footer(results)}\n", encoding="utf-8"
    )


def tables(results: Results) -> Iterator[str]:
    """Yield the lines of all tables."""
    rows = {name: row for name, row in ordered(results).items() if name != ORIGINALS}
    yield "## Whole, in three public corpora\n"
    yield "Share of marked entities that stand whole (in part) in the output.\n"
    yield from _corpora(rows)
    yield f"\n![{_TITLE}]({PICTURE.name})\n"
    yield "## Presidio's test set\n"
    yield "Share of values that stand whole in the output, by kind.\n"
    yield from _by_kind(rows, "presidio_made")
    if any(TICKETS in row["marked"] for row in rows.values()):
        yield "\n## Made tickets\n"
        yield "How many values stand whole in the output (in part).\n"
        yield from _tickets(rows)
    yield "\n## How it reads\n"
    yield from _reading(ordered(results))


def ordered(results: Results) -> Results:
    """Return the rows of systems: the originals, dptext, then peers."""
    usual = (ORIGINALS, *default_systems())
    places = {name: usual.index(name) for name in usual}
    before_peers = usual.index(next(iter(PEERS))) - 0.5
    rows = results["systems"]
    return {
        name: rows[name]
        for name in sorted(rows, key=lambda name: places.get(name, before_peers))
    }


def _label(system: str) -> str:
    return PEERS.get(system, f"`{system}`")


def _share(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1%}" if value < 0.0995 else f"{value:.0%}"


def _rare(number: float) -> str:
    return "< 0.001" if number < 0.001 else f"{number:.2g}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _head(cells: Sequence[str]) -> Iterator[str]:
    yield _row(cells)
    yield "| --- |" + " ---: |" * (len(cells) - 1)


def _both(found: dict[str, Any]) -> str:
    return f"{_share(found['whole']['share'])} ({_share(found['in_part']['share'])})"


def _corpora(rows: Results) -> Iterator[str]:
    """Yield persons, places and organisations of three corpora."""
    some = next(iter(rows.values()))["marked"]
    heads = [
        f"{kind}s, {_HEADS[name]} ({some[name]['kinds'][kind]['values']:,})"
        for kind in _KINDS
        for name in _CORPORA
    ]
    yield from _head(["system", *heads, "words unchanged"])
    for system, row in rows.items():
        cells = [
            _both(row["marked"][name]["kinds"][kind])
            for kind in _KINDS
            for name in _CORPORA
        ]
        unchanged = (
            _share(row["marked"][name]["words_unchanged"]) for name in _CORPORA
        )
        yield _row([_label(system), *cells, ", ".join(unchanged)])
    chances = [
        found["kinds"][kind]["whole"]["by_chance"] or 0.0
        for system, row in rows.items()
        if system not in PEERS
        for found in (row["marked"][name] for name in _CORPORA)
        for kind in _KINDS
        if kind in found["kinds"]
    ]
    if chances:
        most = f"{max(chances):.1%}"
        yield f"\nOf these stand by chance in outputs of dptext: at most {most}."


def _by_kind(rows: Results, corpus: str) -> Iterator[str]:
    kinds = next(iter(rows.values()))["marked"][corpus]["kinds"]
    names = [
        kind
        for kind in sorted(kinds, key=lambda kind: -kinds[kind]["values"])
        if kinds[kind]["values"] >= _FEWEST
    ]
    heads = [f"{name} ({kinds[name]['values']:,})" for name in names]
    yield from _head(["system", *heads, "words unchanged"])
    for system, row in rows.items():
        found = row["marked"][corpus]
        shares = [_share(found["kinds"][name]["whole"]["share"]) for name in names]
        yield _row([_label(system), *shares, _share(found["words_unchanged"])])


def _tickets(rows: Results) -> Iterator[str]:
    kinds = next(iter(rows.values()))["marked"][TICKETS]["kinds"]
    names = sorted(kinds)
    heads = [f"{name} ({kinds[name]['values']:,})" for name in names]
    yield from _head(["system", *heads, "words unchanged"])
    for system, row in rows.items():
        found = row["marked"][TICKETS]
        counts = [
            f"{found['kinds'][name]['whole']['count']:,} "
            f"({found['kinds'][name]['in_part']['count']:,})"
            for name in names
        ]
        yield _row([_label(system), *counts, _share(found["words_unchanged"])])
    expected = [
        "-" if equal is None else _rare(equal * kinds[name]["values"])
        for name in names
        for equal in (kinds[name]["random_equal"],)
    ]
    yield _row(["random equal, expected", *expected, ""])


def _reading(rows: Results) -> Iterator[str]:
    readers = any(
        "reader" in each for row in rows.values() for each in row["read"].values()
    )
    heads = ["system"]
    for name in TEXTS:
        heads += [f"{name}: words unchanged", "perplexity, SmolLM2", "by pairs"]
        heads += ["cosine (of other rows)", *(["reader finds"] if readers else [])]
    yield from _head([*heads, "accuracy, news", "words/s"])
    for system, row in rows.items():
        cells = [_label(system) if system != ORIGINALS else "originals"]
        for name in TEXTS:
            read = row["read"][name]
            cells.append(_share(read["words_unchanged"]))
            by_model = read["perplexity"]["by_model"]
            cells.append("-" if by_model is None else f"{by_model:,.0f}")
            cells.append(f"{read['perplexity']['by_pairs']:,.0f}")
            cosine = read["cosine"]
            shown = (
                f"{cosine['same']:.2f} ({cosine['other_rows']:.2f})" if cosine else "-"
            )
            cells.append(shown)
            if readers:
                cells.append(_share((read.get("reader") or {}).get("found")))
        speed = row.get("words_per_second")
        yield _row([*cells, f"{row['accuracy']:.2f}", f"{speed:,}" if speed else ""])


def footer(results: Results) -> str:
    """Return the sizes and versions of the measurements, and the systems left out."""
    sizes = results["sizes"]
    most = f"{sizes['sentences']:,}" if sizes["sentences"] else "all"
    lines = [
        f"Measured on {most} sentences with entities of each corpus, "
        f"{sizes['tickets']:,} tickets, {sizes['texts']:,} reviews and news, "
        f"{sizes['rows']:,} news for the classifier, seed {sizes['seed']}; lexicon "
        f"{results['lexicon']}."
    ]
    versions: dict[str, str] = {}
    for row in results["systems"].values():
        versions |= {k: v for k, v in row.get("versions", {}).items() if k != "lexicon"}
    lines.append(", ".join(f"{name} {version}" for name, version in versions.items()))
    lines[-1] += f", Python {results['python']}."
    reasons: dict[str, list[str]] = {}
    for system, why in results["left_out"].items():
        reasons.setdefault(why, []).append(_label(system))
    for why, names in reasons.items():
        lines.append(f"Not measured: {', '.join(names)} ({why}).")
    return "\n".join(f"\n{line}" for line in lines)


def persons(row: dict[str, Any]) -> tuple[float, float, float]:
    """Return the share of persons that stand whole in three corpora, and its limits."""
    from dptext.guarantees.binomial import limits

    found = [row["marked"][name]["kinds"]["person"] for name in _CORPORA]
    total = sum(each["values"] for each in found)
    count = sum(each["whole"]["count"] for each in found)
    return count / total, *limits(count, total, 0.05)


def chart(results: Results) -> str:
    """Draw persons that stand whole against words unchanged, as SVG."""
    rows = {name: row for name, row in results["systems"].items() if name != ORIGINALS}
    points = {}
    for name, row in rows.items():
        unchanged = [row["marked"][each]["words_unchanged"] for each in _CORPORA]
        points[name] = sum(unchanged) / len(unchanged), persons(row)
    top = max(0.1, *(high for _, (_, _, high) in points.values()))
    width, height, left, bottom = 720, 420, 70, 360

    def x(share: float) -> float:
        return left + share * (width - left - 30)

    def y(share: float) -> float:
        return bottom - share / top * (bottom - 30)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="13" role="img">',
        f"<title>{_TITLE}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for step in range(6):
        share = step / 5
        parts.append(
            f'<text x="{x(share):.0f}" y="{bottom + 20}" text-anchor="middle">'
            f"{share:.0%}</text>"
        )
        value = top * share
        parts.append(
            f'<line x1="{left}" x2="{width - 30}" y1="{y(value):.1f}" '
            f'y2="{y(value):.1f}" stroke="#ddd"/>'
            f'<text x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">'
            f"{value:.0%}</text>"
        )
    middle = (left + width - 30) / 2
    parts.append(
        f'<text x="{middle:.0f}" y="{height - 12}" text-anchor="middle">'
        "words unchanged (more is more readable)</text>"
        f'<text x="16" y="{bottom / 2:.0f}" text-anchor="middle" '
        f'transform="rotate(-90 16 {bottom / 2:.0f})">persons that stand whole</text>'
    )
    for name, (unchanged, (share, low, high)) in points.items():
        colour = _COLOURS[name in PEERS]
        across, up = x(unchanged), y(share)
        parts.append(
            f'<line x1="{across:.1f}" x2="{across:.1f}" y1="{y(low):.1f}" '
            f'y2="{y(high):.1f}" stroke="{colour}"/>'
            f'<circle cx="{across:.1f}" cy="{up:.1f}" r="4" fill="{colour}"/>'
        )
        # Names of neighbours are side by side where they rise; the last has no room.
        placed = f'x="{across - 8:.1f}" y="{up + 4:.1f}" text-anchor="end"'
        if across < width - 150:
            turned = f"translate({across + 3:.1f} {up - 8:.1f}) rotate(-78)"
            placed = f'transform="{turned}"'
        shown = PEERS.get(name, name.removeprefix("readable tokens."))
        parts.append(
            f'<text {placed} fill="{colour}" font-size="11">{html.escape(shown)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])
