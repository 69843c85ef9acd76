"""Pages in a browser: they fit, can be read, and follow the reader's colours.

A page stands in a frame of a given width inside a page of this test, which measures it.
"""

from __future__ import annotations

import html as escaping
import json
import os
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

import dptext
from dptext.report import document, html
from dptext.report.blocks import Axis, Chart, Column, Page, Point, Section, Table
from dptext.report.figures import share, short
from tests.report.pages import changed, internal_report, rendered

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
DARK = "--blink-settings=preferredColorScheme=0"
LIGHT = "--blink-settings=preferredColorScheme=1"
LONG = "a_very_long_name_without_any_place_to_break_it_" * 3

MEASURE = """<!DOCTYPE html><html><body style="margin:0">
<pre id="out"></pre><script>
function measure(frame) {
  const page = frame.contentDocument, view = frame.contentWindow;
  const root = page.documentElement, found = [];
  for (const each of page.querySelectorAll("body *")) {
    const box = each.getBoundingClientRect();
    if (each.closest(".scroll") && !each.matches(".scroll")) continue;
    if (each.closest("details:not([open])") && !each.matches("details,summary"))
      continue;
    if (box.width && box.right > root.clientWidth + 0.5)
      found.push(each.tagName + " " + box.right + " " + each.textContent.slice(0, 40));
  }
  const heights = [...page.querySelectorAll("figure > svg text")].map(
    each => parseFloat(view.getComputedStyle(each).fontSize)
      * each.ownerSVGElement.getBoundingClientRect().width / 460);
  const style = view.getComputedStyle(page.body);
  document.getElementById("out").textContent = JSON.stringify({
    high: page.body.getBoundingClientRect().height,
    scroll: root.scrollWidth, client: root.clientWidth, out: found,
    text: Math.min(...heights), ink: style.color, paper: style.backgroundColor,
    charts: page.querySelectorAll("figure > svg").length});
}
</script><iframe style="border:0;width:%dpx;height:900px" srcdoc="%s"
onload="measure(this)"></iframe></body></html>"""


HIDDEN = """<!DOCTYPE html><html><body><pre id="out"></pre><script>
function measure(frame) {
  const each = frame.contentDocument.querySelector(".scroll");
  document.getElementById("out").textContent = each.scrollWidth - each.clientWidth;
}
</script><iframe style="border:0;width:%dpx;height:900px" srcdoc="%s"
onload="measure(this)"></iframe></body></html>"""


@lru_cache(maxsize=1)
def browser() -> str | None:
    """Return the path of a Chromium, None if no browser is installed."""
    given = os.environ.get("DPTEXT_TEST_BROWSER")
    return given or next(filter(None, map(shutil.which, NAMES)), None)


pytestmark = pytest.mark.skipif(
    browser() is None,
    reason=f"no browser: none of {', '.join(NAMES)} is installed",
)


def run(folder: Path, *options: str) -> bytes:
    """Run the browser without a window and return what it prints."""
    path = browser()
    assert path is not None
    done = subprocess.run(
        [
            path,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--no-first-run",
            f"--user-data-dir={folder / 'profile'}",
            "--window-size=1600,1000",
            *options,
        ],
        capture_output=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def measured(page: bytes, wide: int, folder: Path, colours: str = LIGHT) -> Any:
    """Return the measures of a page in a frame of a width in pixels."""
    frame = folder / "frame.html"
    frame.write_text(MEASURE % (wide, escaping.escape(page.decode())))
    options = ("--virtual-time-budget=5000", "--dump-dom", colours)
    page_text = run(folder, *options, frame.as_uri()).decode()
    inner = page_text.partition('<pre id="out">')[2].partition("</pre>")[0]
    return json.loads(escaping.unescape(inner))


def report(folder: Path) -> bytes:
    """Return the page of a report with long names in it."""
    internal: document.Document = changed(
        internal_report("rank", folder),
        run__profile=LONG,
        output__file=LONG,
        private__inputs=[LONG, LONG],
    )
    return rendered(internal)


def comparison(folder: Path) -> bytes:
    """Return a page with charts of many lines, bars and wide tables."""
    lines = [
        (
            f"mechanism {n} {LONG if n == 3 else ''}",
            [Point(10.0**e, e * n / 20) for e in range(-2, 3)],
        )
        for n in range(8)
    ]
    axes = Axis("epsilon", short), Axis(LONG, short)
    columns = [Column(LONG), *(Column(LONG, share, full=1.0) for _ in range(3))]
    blocks = (
        Chart(LONG, *axes, lines),
        Table(columns, [(name, 0.2, 0.5, 1.0) for name, _ in lines], title="Bars"),
        Table([Column(LONG)] * 4, [[LONG] * 4, ["a few words"] * 4]),
    )
    return html.render(Page("Comparison", [Section(LONG, blocks)]))


@pytest.mark.parametrize("page_of", [report, comparison])
@pytest.mark.parametrize("wide", [320, 400, 1400])
def test_pages_fit_and_can_be_read(page_of: Any, wide: int, tmp_path: Path) -> None:
    """Nothing sticks out at any width; text in charts is at least 10 pixels high."""
    sizes = measured(page_of(tmp_path), wide, tmp_path)
    assert sizes["client"] == wide
    assert sizes["scroll"] == wide, sizes["out"]
    assert not sizes["out"]
    if wide >= 400 and sizes["charts"]:
        assert sizes["text"] >= 10


def test_a_folded_report_is_short_and_prints_all(tmp_path: Path) -> None:
    """At most 2,000 pixels high at 1,200 wide; on paper closed parts are open."""
    data = dptext.privatize(["The film was good."], "balanced", report=True)[1]
    page = rendered(data)
    folded = measured(page, 1200, tmp_path)
    assert folded["charts"] == 1
    assert folded["high"] <= 2000
    assert measured(page, 400, tmp_path)["scroll"] == 400
    opened = page.replace(b"<details>", b"<details open>")
    assert measured(opened, 1200, tmp_path)["high"] > 2 * folded["high"]
    pages = []
    for name, each in (("closed", page), ("open", opened)):
        source, paper = tmp_path / f"{name}.html", tmp_path / f"{name}.pdf"
        source.write_bytes(each)
        run(tmp_path, f"--print-to-pdf={paper}", source.as_uri())
        pages.append(paper.read_bytes().count(b"/Type /Page\n"))
    assert pages[0] >= pages[1] > 3


def test_pages_follow_the_colours_of_the_reader(tmp_path: Path) -> None:
    """Dark on light, and light on dark for readers who prefer it."""
    page = report(tmp_path)
    light = measured(page, 400, tmp_path, LIGHT)
    dark = measured(page, 400, tmp_path, DARK)
    assert brightness(light["paper"]) > 200 > 60 > brightness(light["ink"])
    assert brightness(dark["paper"]) < 60 < 200 < brightness(dark["ink"])


def test_wide_tables_become_cards(tmp_path: Path) -> None:
    """At 400 pixels a row of many columns is a card: nothing scrolls to the side."""
    columns = [Column("mechanism"), *(Column(f"measure {n}", str) for n in range(14))]
    table = Table(columns, [("rank", *("55.0% ± 7.1%",) * 14)] * 2)
    page = html.render(Page("Compared", [Section("All figures", (table,))]))
    hidden = {}
    for wide in (400, 1000):
        frame = tmp_path / "frame.html"
        frame.write_text(HIDDEN % (wide, escaping.escape(page.decode())))
        options = ("--virtual-time-budget=5000", "--dump-dom")
        page_text = run(tmp_path, *options, frame.as_uri()).decode()
        hidden[wide] = float(page_text.partition('id="out">')[2].partition("<")[0])
    assert hidden[400] <= 0.5
    assert hidden[1000] > 100


def brightness(colour: str) -> float:
    """Return the mean of red, green and blue."""
    return sum(map(float, colour[4:-1].split(","))) / 3


def test_pages_draw_and_print(tmp_path: Path) -> None:
    """A page of a real run gives pictures at both widths, and a document on paper."""
    page = tmp_path / "page.html"
    page.write_bytes(rendered(internal_report("risk", tmp_path)))
    for wide in (500, 1400):
        picture = tmp_path / f"{wide}.png"
        size = f"--window-size={wide},1200"
        run(tmp_path, size, f"--screenshot={picture}", page.as_uri())
        data = picture.read_bytes()
        assert int.from_bytes(data[16:20], "big") == wide
        assert len(data) > 20_000, "an empty page is smaller"
    paper = tmp_path / "page.pdf"
    run(tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={paper}", page.as_uri())
    assert paper.read_bytes().startswith(b"%PDF")
