"""Links of the repository become links of the site."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools import site

pytestmark = pytest.mark.quick


def test_links_between_docs_and_the_root() -> None:
    """A page of the root has its own address; a file outside the site is named."""
    changed = site.site_links
    assert changed("[T](../THREATS.md#keys)", "ledger.md") == "[T](threats.md#keys)"
    assert changed("[a](docs/policy.md#x)", "threats.md") == "[a](policy.md#x)"
    assert changed("[T](../../THREATS.md)", "results/rank.md") == "[T](../threats.md)"
    assert changed("[b](../rank.md)", "results/x.md") == "[b](../rank.md)"
    assert changed("[c](../dptext/a.md)", "x.md") == "c (`dptext/a.md`)"


@pytest.mark.parametrize(
    "text",
    [
        "`[T](../THREATS.md)`",
        "```sh\n[T](../THREATS.md)\n```",
        "[a](https://example.org/../x) [b](#there)",
    ],
)
def test_code_and_other_links_stay(text: str) -> None:
    """Code, addresses of other hosts and headings of the page are unchanged."""
    assert site.site_links(text, "ledger.md") == text


def test_the_site_asks_no_other_host() -> None:
    """No font, script, style or picture comes from elsewhere."""
    settings = (site.ROOT / "mkdocs.yml").read_text("utf-8")
    assert "font: false" in settings
    styles = (site.ROOT / "docs/assets/site.css").read_text("utf-8")
    assert "//" not in settings + re.sub(r"(?s)/\*.*?\*/", "", styles)
    for page in (site.ROOT / "docs").rglob("*.md"):
        text = page.read_text("utf-8")
        assert not re.search(r"!\[[^]]*\]\(https?:|<(?:script|link|img)\b", text), page


def test_a_picture_is_put_into_its_page() -> None:
    """It has no style sheet there, and a page in a folder finds it, too."""
    for prefix in ("", "../"):
        text = f"![Copy and report]({prefix}pictures/checking.svg)"
        drawn = site.PICTURE.sub(site.picture, text)
        assert drawn.startswith('<figure class="picture" markdown="0">\n<svg ')
        assert "<style>" not in drawn


def test_short_code_is_marked() -> None:
    """A long command may break, and blocks of code are unchanged."""
    short, long = "<code>--profile readable</code>", f"<code>{'x' * 40}</code>"
    marked = site.on_page_content(f"<p>{short} {long}</p><pre><code>a\nb</code></pre>")
    assert marked.count('class="short"') == 1
    assert long in marked


def test_the_navigation_is_shown_at_1200_pixels(tmp_path: Path) -> None:
    """The widths of the theme are replaced in styles and scripts."""
    for name in ("stylesheets/main.css", "javascripts/bundle.js"):
        path = tmp_path / "assets" / name
        path.parent.mkdir(parents=True)
        path.write_text("(min-width: 76.25em) (max-width: 76.234375em)")
    site.on_post_build(SimpleNamespace(site_dir=str(tmp_path)))
    for path in (tmp_path / "assets").rglob("*.*"):
        assert path.read_text() == "(min-width: 70em) (max-width: 69.984375em)"


def test_the_search_finds_pages_for_users_first() -> None:
    """Pages of results have less weight."""
    for address, meta in (("files.md", {}), ("results/rank.md", {"boost": 0.1})):
        page = SimpleNamespace(file=SimpleNamespace(src_uri=address), meta={})
        assert site.on_page_markdown("# Title", page) == "# Title"
        assert page.meta.get("search", {}) == meta
