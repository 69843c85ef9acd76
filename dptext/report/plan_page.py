"""A plan as a page."""

from __future__ import annotations

from pathlib import Path

from dptext.report import _badges, _page, _plain, _use, plan
from dptext.report._page import Section
from dptext.report.plan import Plan
from dptext.streams import open_output


def render(found: Plan) -> bytes:
    """Return the page as UTF-8."""
    promise = found.guarantee
    (tone, label), other = _badges.badges(promise)
    told = (promise.sentence, f"Whole texts: {promise.text_level}")
    sections: list[Section | tuple[Section, ...]] = [
        (
            Section(
                "What a run will promise",
                (_page.paragraphs(told),),
                tone=tone,
                label=label,
                more=(other,),
            ),
            Section(
                "Not covered",
                (_page.bullets(promise.not_covered),),
                boxed=True,
                label="Limits",
            ),
        ),
        Section(
            "What this means",
            (
                _page.paragraphs(_plain.meaning(promise, found.risk)),
                _page.note(_plain.scale(promise)),
                _page.note(_badges.SCALE),
            ),
        ),
        Section("In figures", (_page.facts(plan.figures_of(found)),)),
    ]
    if found.risk is not None:
        good = (_page.bullets(_use.good_for(found.risk)), _page.note(found.risk_note))
        sections.append(Section("What this risk is good for", good))
    rows = [(each.before, each.after) for each in found.examples]
    table = _page.table(("as it is", "as it may come out"), rows, numbers=())
    sections.append(Section("Public sentences, and one way they come out", (table,)))
    return _page.page(
        f"Plan: {found.profile}",
        sections,
        lead=_page.note("Nothing private was read for this page."),
        footer=f"dptext plan, mechanism {found.mechanism}, lexicon {found.lexicon}",
    )


def write(found: Plan, path: Path) -> None:
    """Write the page to a file."""
    with open_output(str(path)) as sink:
        sink.stream.write(render(found))
