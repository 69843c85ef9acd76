"""Every field of a report has its row or sentence, or says at its place why not."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dptext
from dptext.report import answer, views
from dptext.report.document import Document, public
from dptext.report.layout import Layout
from tests import made_topics
from tests.cli.running import here
from tests.report.pages import changed, internal_report

# The comment above a field that no page and no answer shows.
MARK = "# No row: "
SERVER = {"host": "localhost", "model": "m", "proxy": True}
USED = {
    **SERVER,
    "texts": 1,
    "requests": 1,
    "unanswered": 0,
    "tokens_sent": 9,
    "tokens_received": 9,
}
ATTACKER = {
    "attacker": "ngram",
    "kind": "news",
    "corpus": "a paper",
    "success": 0.3,
    "low": 0.2,
    "high": 0.4,
    "content": 0.2,
    "rare": 0.1,
    "words": 900,
    "counted": 9,
    "special": 0.2,
    "categories": {"health": 0.2},
}
BAND = {
    "name": "rare",
    "words": 9,
    "share": 0.5,
    "success": 0.2,
    "success_band_known": 0.3,
    "baseline": 0.1,
}
LIMITS = {"field": "person", "nats": 5.0, "delta": 1e-6}
WORDS = {
    "words__attackers": [ATTACKER],
    "words__written": [ATTACKER],
    "words__risk__low": 0.1,
    "words__risk__bands": [BAND],
    "words__risk__success_with_form": 0.4,
    "words__risk__baseline_with_form": 0.3,
    "words__risk__confidence": 0.99,
    "private__words__unchanged_texts": 1,
}


def classes(cls: type, found: dict[type, list[str]]) -> dict[type, list[str]]:
    """Return the dataclasses of a report with the names of their fields."""
    if cls not in found:
        found[cls] = [each.name for each in dataclasses.fields(cls)]
        hints = list(typing.get_type_hints(cls).values())
        for hint in hints:
            hints += typing.get_args(hint)
            if isinstance(hint, type) and dataclasses.is_dataclass(hint):
                classes(hint, found)
    return found


def reason(cls: type, name: str) -> str:
    """Return the reason at a field for having no row, if there is one."""
    source = inspect.getsource(cls).splitlines()
    place = next(n for n, line in enumerate(source) if line.startswith(f"    {name}:"))
    while place and source[place - 1].startswith("    #"):
        place -= 1
        if source[place].strip().startswith(MARK):
            return source[place].strip().removeprefix(MARK)
    return ""


def reports(folder: Path) -> Iterator[Document]:
    """Yield reports of words, topics and vectors, with every part that one may have."""
    words = internal_report("risk", folder)
    for more in (
        {},
        {"run__recorded": {"ledger": "ab", "entry": None, "limits": LIMITS}},
        {"private__words__used": USED},
        {"run__layout__dropped": ["a"], "run__layout__pseudonyms": ["b"]},
    ):
        yield changed(words, **WORDS, **more)
    yield internal_report("laplace", folder)
    bare = public(words)
    yield changed(bare, output__used=SERVER)
    made_topics.make("rows")
    yield dptext.privatize(["Anna came.", "A dog."], topics="rows", report=True)[1]
    source = folder / "in.jsonl"
    source.write_text('{"who":"a","text":"the film was good"}\n' * 2)
    shown, out = folder / "report.json", str(folder / "out.npy")
    run = ("embed", str(source), "-f", "text", "--pool", "mean", "--epsilon", "5")
    files = ("--subject", "who", "--most", "2", "-o", out, "--report", str(shown))
    ran = here(*run, *files)
    assert ran.code == 0, ran.err
    yield dptext.report.document.decode(shown.read_bytes(), "report")


def test_every_field_of_a_report_has_a_row(
    run_folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages and answers read each field; a comment at a field says why they do not."""
    found, read = classes(Document, {}), set[tuple[type, str]]()
    made = [*reports(tmp_path)]
    for cls in found:

        def get(self: object, name: str, cls: type = cls) -> Any:
            # A command to type names all options of a layout that differ.
            if sys._getframe(1).f_code is not Layout.typed.__code__:
                read.add((cls, name))
            return object.__getattribute__(self, name)

        monkeypatch.setattr(cls, "__getattribute__", get)
    for report in made:
        views.report(report)
        answer.answer(report)
    monkeypatch.undo()
    every = {(cls, name) for cls, names in found.items() for name in names}
    missing = {
        f"{cls.__name__}.{name}" for cls, name in every - read if not reason(cls, name)
    }
    assert not missing, " ".join(sorted(missing))
    needless = {
        f"{cls.__name__}.{name}" for cls, name in every & read if reason(cls, name)
    }
    assert not needless, " ".join(sorted(needless))
    assert len(every) > 100


def test_the_mark_is_read_at_the_field() -> None:
    """The reason of the field above or below another one is not its own."""
    assert re.match("programs", reason(Document, "version"))
    assert not reason(Document, "audience")
