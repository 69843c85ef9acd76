"""Reports of small runs, and their pages read strictly."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from rich.console import Console

from dptext import calibration, profile
from dptext.engine import documents, plan
from dptext.engine.job import Job
from dptext.engine.tally import Tally
from dptext.guarantees.claims import judge
from dptext.measures.public import PublicMeasures
from dptext.randomness import RunKey
from dptext.report import document, html, terminal, views
from dptext.report.blocks import Figures
from dptext.run.selection import Selection
from tests import small
from tests.engine import running

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Reader(HTMLParser):
    """Read a page strictly: tags closed in order, ids once, all text kept."""

    def __init__(self, data: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.style = ""
        self.feed(data.decode())
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element; attributes are there once."""
        assert len(dict(attrs)) == len(attrs), "an attribute is there twice"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the element opened last."""
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Keep text and style apart."""
        if self.open and self.open[-1] == "style":
            self.style += data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        """Return all text of the page, with single spaces."""
        return " ".join(" ".join(self.texts).split())

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of all elements of a name."""
        return [attributes for name, attributes in self.tags if name == tag]


def closed(data: bytes) -> Reader:
    """Check that a page runs and loads nothing, and return what it says."""
    page = Reader(data)
    assert not {name for name, _ in page.tags} & {
        "script",
        "iframe",
        "object",
        "embed",
        "img",
        "link",
        "form",
        "base",
        "foreignobject",
        "use",
        "image",
        "animate",
        "audio",
        "video",
    }
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    for name, attributes in page.tags:
        assert not [key for key in attributes if key.startswith("on")]
        assert not {"src", "srcset", "data", "action"} & attributes.keys()
        # The length of a bar, and nothing else.
        assert re.fullmatch(r"--b:[01]\.\d{3}", attributes.get("style") or "--b:0.000")
        for key in ("href", "xlink:href"):
            target = attributes.get(key)
            assert target is None or target.removeprefix("#") in ids, (name, target)
        labelled = attributes.get("aria-labelledby")
        assert labelled is None or labelled in ids
    assert not re.search(r"url\(|@import|expression", page.style)
    (policy,) = [a["content"] for a in page.named("meta") if "http-equiv" in a]
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    return page


def spaced(text: str) -> str:
    """Return a text with single spaces."""
    return " ".join(text.split())


def rendered(report: document.Document) -> bytes:
    """Return the page of a report."""
    return html.render(views.report(report))


def changed(report: document.Document, **values: Any) -> document.Document:
    """Return a document with other values at dotted names, written `a__b`.

    Its bounds are judged anew.
    """
    data = json.loads(document.encode(report))
    for name, value in values.items():
        *path, last = name.split("__")
        part = data
        for key in path:
            part = part.setdefault(key, {})
        part[last] = value
    other = document.decode(json.dumps(data).encode(), "changed")
    bound = other.guarantee.bound
    strength = judge(bound.notion, bound.level, bound.loss, bound.text_loss)
    return replace(other, guarantee=replace(other.guarantee, strength=strength))


RECIPES: dict[str, dict[str, Any]] = {
    "rank": {"mechanism": {"name": "rank", "k": 8}, "budget": "uniform"},
    "risk": {"mechanism": {"name": "rank", "k": 8}, "budget": "uniform"},
    "laplace": {"mechanism": "laplace", "budget": "uniform"},
    "tem-text": {"mechanism": "tem", "budget": "per-text"},
}


def internal_report(
    name: str, folder: Path, text: str = "a0x b1x, zzz 12 c2x.\n"
) -> document.Document:
    """Run a recipe on a small lexicon and return the internal report."""
    recipe = dict(RECIPES[name])
    given = {"risk": 0.3} if name == "risk" else {"epsilon": 3.0}
    recipe["budget"] = {"name": recipe["budget"], **given}
    ready = calibration.build(profile.parse(recipe, "test.yaml"), small.cloud(20, 4))
    source = folder / "in.txt"
    source.write_text(text)
    job = Job((str(source),), str(folder / "out.txt"), Selection())
    tally = Tally.begin(ready.lexicon)
    key = RunKey.fresh()
    measures = PublicMeasures.measure(ready)
    written = running.run(job, ready, key, tally)
    stated = documents.released(ready, job, key, [written], measures)
    return documents.counted(stated, ready, tally, job.inputs)


def panel(document: Any, folder: Path) -> str:
    """Return the text of the panel, with single spaces."""
    with (folder / "panel").open("w") as out:
        console = Console(record=True, width=100, file=out)
        terminal.show([views.report(document)], console)
        return " ".join(console.export_text().split())


def planned(whole: plan.Plan) -> dict[str, str]:
    """Return the figures of a plan."""
    (rows,) = [b.rows for b in plan.view(whole).first if isinstance(b, Figures)]
    return {str(name): str(value) for name, value in rows}
