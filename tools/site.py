"""The hook of mkdocs.yml: pages of the root on the site, links, pictures and layout.

THREATS.md and the like stay where people look for them, at the root, and are pages of
the site, too. Links lead to files of the repository; here those between docs/ and the
root become links of the site, and one to a file outside it becomes the name of the
file. A picture of docs/pictures/ is put into the page itself, where the style sheet
gives it the colours of the theme, light or dark. Short code stays on one line, and the
theme shows its navigation on narrower screens than it does by itself.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# Files of the root that are pages, with their addresses on the site.
PAGES = {
    name: name.lower()
    for name in ("THREATS.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md")
}
FENCED = re.compile(r"(?ms)^([ \t]*)(`{3,}).*?^\1\2[ \t]*$|`[^`\n]+`")
PICTURE = re.compile(r"(?m)^!\[([^][]*)\]\((?:[.]{2}/)*pictures/([\w-]+[.]svg)\)$")
# Code of a command with an option, which fits on a line of a phone.
SHORT = re.compile(r"<code>([^<\n]{1,28})</code>")
# Widths from which the theme shows the navigation beside the page, and below which it
# does not: 1,220 pixels by default, 1,120 here.
WIDTHS = {"76.25em": "70em", "76.234375em": "69.984375em"}
# Weight of a page of results in a search; that of others is 1.
RESULTS = 0.1
LINK = re.compile(r"(!?)\[([^][]*)\]\(([^()\s]+)\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the root."""
    from mkdocs.structure.files import File

    for name, address in PAGES.items():
        files.append(File.generated(config, address, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Change links between files of the repository to links of the site.

    The search finds pages for users before pages of results.
    """
    address = page.file.src_uri
    if address.startswith("results/"):
        page.meta["search"] = {"boost": RESULTS}
    return PICTURE.sub(picture, site_links(markdown, address))


def on_page_content(html: str, **_: Any) -> str:
    """Mark short code, which the style sheet keeps on one line."""
    return SHORT.sub(r'<code class="short">\1</code>', html)


def on_post_build(config: Any) -> None:
    """Have the theme show its navigation beside the page on narrower screens, too."""
    assets = Path(config.site_dir, "assets")
    for path in (*assets.glob("stylesheets/*.css"), *assets.glob("javascripts/*.js")):
        text = path.read_text("utf-8")
        for before, after in WIDTHS.items():
            text = text.replace(before, after)
        path.write_text(text, "utf-8")


def picture(found: re.Match[str]) -> str:
    """Return the drawing of a picture without its own style, as a figure."""
    drawn = (ROOT / "docs" / "pictures" / found[2]).read_text("utf-8")
    drawn = re.sub(r"(?s)<style>.*?</style>\s*", "", drawn).strip()
    return f'<figure class="picture" markdown="0">\n{drawn}\n</figure>'


def site_links(markdown: str, address: str) -> str:
    """Change the links of a page to those of the site, code left unchanged.

    address: of the page, from docs/ on; a page of the root has its address in PAGES.
    """
    at_root = {value: key for key, value in PAGES.items()}
    source = at_root.get(address, f"docs/{address}")

    def changed(link: re.Match[str]) -> str:
        mark, words, target = link.groups()
        if "://" in target or target.startswith("#"):
            return link[0]
        name, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), name))
        on_site = PAGES.get(path) or path.removeprefix("docs/")
        if on_site == path:
            return words if words.strip("`") == path else f"{words} (`{path}`)"
        relative = os.path.relpath(on_site, posixpath.dirname(address) or ".")
        return f"{mark}[{words}]({relative}{f'#{anchor}' if anchor else ''})"

    parts = []
    end = 0
    for code in FENCED.finditer(markdown):
        parts += [LINK.sub(changed, markdown[end : code.start()]), code[0]]
        end = code.end()
    parts.append(LINK.sub(changed, markdown[end:]))
    return "".join(parts)
