"""The page of a report: what the document says, one closed file, nothing run."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext.report import answer, document, figures, html, protection
from dptext.report.blocks import (
    Axis,
    Badge,
    Bullets,
    Chart,
    Code,
    Column,
    Figures,
    Heading,
    Mark,
    More,
    Page,
    Paragraph,
    Point,
    Section,
    Table,
    Tokens,
)
from dptext.report.figures import short
from tests.cli import running
from tests.report.pages import (
    RECIPES,
    changed,
    closed,
    internal_report,
    rendered,
    spaced,
)

NASTY = '<script>alert("x")</script>&amp;\'</style>'
finite = st.floats(-1e12, 1e12, allow_nan=False)


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("text", ["a0x b1x, zzz 12 c2x.\n", ""])
def test_page_says_what_the_document_says(name: str, text: str, tmp_path: Path) -> None:
    """Every sentence, digest, setting and figure of a real run is on its page."""
    report = internal_report(name, tmp_path, text)
    assert report.words is not None
    data = rendered(report)
    assert len(data) < 200_000
    page = closed(data)
    promise = report.guarantee
    for line in (
        promise.wording.sentence,
        promise.wording.text_level,
        *promise.scope.conditions,
        *promise.scope.not_covered,
        report.words.risk_note,
        report.run.settings_digest,
        report.run.lexicon_digest,
        protection.badge(promise).text,
        *(line.sentence for line in answer.answer(report)),
    ):
        assert spaced(line) in page.text
    assert report.output is not None
    assert report.output.sha256 in page.text
    assert "dptext check out.txt" in page.text
    for key, value in report.run.settings["tokens"].items():
        assert f"tokens.{key}" in page.text
        assert str(value) in page.text or isinstance(value, bool) or value is None
    if report.words.risk is not None:
        for band in report.words.risk.bands:
            for share in (band.baseline, band.success, band.success_band_known):
                assert figures.share(share) in page.text
    assert report.private is not None
    counted = report.private.words
    assert counted is not None
    for kind, count in counted.tokens.items():
        shown = (kind.replace("_", " "), counted.treatment[kind], f"{count:,}")
        assert " ".join(shown) in page.text
    assert page.text.count("For the owner of the text only") == 4
    assert "Do not release this page" in page.text


@pytest.mark.parametrize("name", RECIPES)
def test_public_page_shows_nothing_private(name: str, tmp_path: Path) -> None:
    """The page of a public report has no part that is a function of the text."""
    internal = internal_report(name, tmp_path)
    assert internal.words is not None
    public = document.public(internal)
    page = closed(rendered(public))
    for word in ("owner", "in.txt", "Epsilon per text", "Records", "stop word"):
        assert word not in page.text.replace(internal.words.prior, "")
    assert "Public report" in page.text
    same = changed(public, private=None)
    assert rendered(same) == rendered(public)


def test_page_is_the_same_for_the_same_document(tmp_path: Path) -> None:
    """A page has no time, no chance and no path in it."""
    report = internal_report("rank", tmp_path)
    assert rendered(report) == rendered(report)
    assert str(tmp_path).encode() not in rendered(document.public(report))


def test_names_that_look_like_markup_stay_text(tmp_path: Path) -> None:
    """Names of fields, files, profiles, metrics and settings are shown unchanged."""
    report = changed(
        internal_report("rank", tmp_path),
        run__profile=NASTY,
        run__lexicon=NASTY,
        words__prior=NASTY,
        run__settings={NASTY: {NASTY: [NASTY]}},
        guarantee__scope__not_covered=[NASTY],
        guarantee__scope__conditions=[NASTY],
        guarantee__wording__sentence=NASTY,
        guarantee__wording__source=NASTY,
        words__risk_note=NASTY,
        output__file=NASTY,
        private__inputs=[NASTY],
        private__words__metrics={NASTY: {NASTY: NASTY}},
        private__words__tokens={NASTY: 3},
        private__words__treatment={NASTY: NASTY},
    )
    data = rendered(report)
    assert b"<script" not in data
    assert closed(data).text.count(spaced(NASTY)) >= 16


def every_block(text: str) -> list[Any]:
    """Return a block of each kind with a text in every place: 27 of them."""
    axis = Axis(text, short)
    columns = [Column(text), Column(text, str), Column(text, short, full=1.0)]
    points = (Point(1, 1, text), Point(2, 2, text))
    return [
        Heading(text),
        Paragraph(text),
        Paragraph(text, "note"),
        Bullets([text]),
        Figures([(text, text), (Code(text), Code(text))]),
        Table(columns, [(text, Code(text), 0.5)], title=text),
        Table([*columns, Column(text)], [(text, text, 0.5, Mark(text, text))]),
        Tokens([Mark(text, "replaced"), Mark(text, text)]),
        More([Paragraph(text)]),
        Chart(text, axis, axis, [(text, points)]),
    ]


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_shown_not_obeyed(text: str) -> None:
    """Any string is unchanged in a page, except characters that cannot be shown."""
    section = Section(text, every_block(text), (Badge(text),))
    page = closed(html.render(Page(text, [section, section], (text,), text)))
    shown = re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f]", "\ufffd", text)
    shown = re.sub("[\u202a-\u202e\u2066-\u2069\ufffe\uffff]", "\ufffd", shown)
    if shown.strip():
        assert sum(shown in each for each in page.texts) >= 2 * 27


def test_what_is_no_character_can_be_written() -> None:
    """Lone surrogates, as file names may have, do not stop the page."""
    data = html.render(Page("a\udcffb\rc\0d\u202ee", []))
    assert "a\ufffdb\ufffdc\ufffdd\ufffde" in data.decode()


def test_no_finite_loss_is_shown_without_guarantee(tmp_path: Path) -> None:
    """A page of a run without guarantee gives no bound."""
    report = changed(internal_report("rank", tmp_path), guarantee__bound__notion="none")
    text = closed(rendered(report)).text
    assert "loss in nats, at most" not in text


def test_limits_of_a_sampled_risk_are_shown(tmp_path: Path) -> None:
    """Where the risk lies between limits the page says so."""
    report = changed(
        internal_report("rank", tmp_path),
        words__risk__method="sampled",
        words__risk__low=0.111,
        words__risk__high=0.222,
        words__risk__confidence=0.95,
    )
    text = closed(rendered(report)).text
    assert "11.1% to 22.2%" in text
    assert "The upper limit holds with 95.0% confidence" in text


numbers = st.lists(st.tuples(finite, finite), max_size=6)


def chart(*lines: list[tuple[float, float]]) -> Chart:
    """Return a chart of lines through points."""
    named = [
        (f"s{n}", [Point(x, y) for x, y in points]) for n, points in enumerate(lines)
    ]
    return Chart("t", Axis("x", short), Axis("y", short), named)


@settings(deadline=None)
@given(st.lists(numbers, min_size=1, max_size=3))
def test_points_lie_where_their_values_say(
    drawn: list[list[tuple[float, float]]],
) -> None:
    """Markers of a chart are inside it and in the order of their values."""
    placed = html.drawn(chart(*drawn))
    positions = [(x, y) for line in placed.lines for x, y, _ in line.marks]
    kept = [point for points in drawn for point in points]
    assert len(positions) == len(kept)
    assert all(0 <= x <= html.WIDE and 0 <= y <= html.HIGH for x, y in positions)
    for (x, y), (left, top) in zip(kept, positions, strict=True):
        for (x2, y2), (left2, top2) in zip(kept, positions, strict=True):
            assert x >= x2 or left <= left2
            assert y >= y2 or top >= top2


@settings(deadline=None)
@given(finite, finite)
def test_ticks_are_round_and_inside(low: float, high: float) -> None:
    """A scale holds its values and has two to fifteen ticks, all inside."""
    scale = html.Scale.fit([low, high], 0.0, 100.0)
    assert 2 <= len(scale.ticks) <= 15
    assert all(-1e-6 <= scale.at(t) <= 100 + 1e-6 for t in scale.ticks)
    rounding = 1e-9 * (scale.high - scale.low)
    assert scale.low <= min(low, high) + rounding
    assert max(low, high) - rounding <= scale.high


def test_values_that_are_not_finite_are_not_drawn() -> None:
    """Points without a position are left out of the picture, and move no axis."""
    points = [(0.0, 1.0), (2.0, math.inf), (3.0, 4.0)]
    assert html.drawn(chart(points)) == html.drawn(chart(points[::2]))
    (line,) = html.drawn(chart(points)).lines
    assert len(line.marks) == 2


def test_bars_are_in_proportion() -> None:
    """A bar of half the value is half as long; figures stand in its cell."""
    column = Column("x", short, full=2.0)
    assert [column.bar(value) for value in (2.0, 1.0, -1.0, 5, None)] == [
        1.0,
        0.5,
        0.0,
        1.0,
        None,
    ]
    table = Table([Column("name"), column], [("a", 1.0), ("b", None)])
    page = closed(html.render(Page("t", [Section("s", [table])])))
    cells = page.named("td")
    assert [cell.get("style") for cell in cells] == ["--b:0.500", None]
    assert "1" in page.texts


def test_a_column_without_any_value_is_left_out() -> None:
    """And none in a table without rows."""
    columns = [Column("name"), Column("x", short), Column("y", short)]
    table = Table(columns, [("a", None, 1.0), ("b", None, 0.0)])
    assert [each.name for each in table.filled().columns] == ["name", "y"]
    assert table.filled().rows == [["a", 1.0], ["b", 0.0]]
    assert len(Table(columns, []).filled().columns) == 3


def test_charts_have_a_name_and_a_description() -> None:
    """Pictures are named for screen readers, and keys to them are hidden."""
    page = closed(html.render(Page("t", [Section("s", [chart([(0, 1), (2, 3)])])])))
    assert "Lines of y by x." in page.text
    pictures = [a for a in page.named("svg") if "viewbox" in a]
    assert [a["role"] for a in pictures] == ["img"]
    hidden = [a for a in page.named("svg") if "viewbox" not in a]
    assert all(a["aria-hidden"] == "true" for a in hidden)


def test_sanitize_writes_the_page(options: tuple[str, ...], tmp_path: Path) -> None:
    """--html writes the internal report; the page of its JSON is the same."""
    page, report = tmp_path / "r.html", tmp_path / "r.json"
    ran = running.here(
        "sanitize",
        "--format",
        "text",
        *options,
        "-q",
        "--html",
        str(page),
        "--report",
        str(report),
        given=b"the film was very good\n",
    )
    assert ran.code == 0, ran.err
    assert "For the owner" in closed(page.read_bytes()).text
    ran = running.here("report", str(report), "--html", "-")
    assert ran.out == page.read_bytes()
    assert ran.err == ""


def test_report_writes_the_page_of_a_sidecar(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """A sidecar, named or by its output, becomes a page, and is not written over."""
    out = tmp_path / "out.txt"
    source = tmp_path / "in.txt"
    source.write_text("the film was very good\n")
    running.here("sanitize", str(source), "-o", str(out), *options, "-q")
    sidecar = str(out) + ".dptext.json"
    page = tmp_path / "p.html"
    for name in (sidecar, str(out)):
        page.unlink(missing_ok=True)
        assert running.here("report", name, "--html", str(page)).out == b""
    assert "Public report" in closed(page.read_bytes()).text
    ran = running.here("report", sidecar, "--html", sidecar)
    assert ran.code == 2
    assert "already read or written by this run" in ran.err


def test_page_is_no_other_file_of_the_run(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """--html may not name a file that the run reads or writes."""
    source = tmp_path / "in.txt"
    source.write_text("the film\n")
    same = str(tmp_path / "o.txt")
    for arguments in (
        ("--html", str(source)),
        ("-o", same, "--html", same),
        ("-o", same, "--html", same + ".dptext.json"),
    ):
        ran = running.here("sanitize", str(source), *arguments, *options)
        assert ran.code == 2
        assert "already" in ran.err
    assert source.read_text() == "the film\n"
