"""A plan as a page."""

from __future__ import annotations

from dptext.report import _page, _promise, _use, plan
from dptext.report._page import Section
from dptext.report.plan import Plan


def render(result: Plan) -> bytes:
    """Return the page as UTF-8."""
    promise, risk = result.guarantee, result.risk
    texts = f"Whole texts: {promise.text_level}"
    lines = filter(None, (promise.sentence, texts, promise.decoding))
    promised = _promise.promised(
        "What a run will promise", promise, _page.paragraphs(lines)
    )
    sections: list[Section | tuple[Section, ...]] = [
        (promised, _promise.not_covered(promise)),
        _promise.meaning(promise, risk, result.in_context),
        Section("In figures", (_page.facts(plan.figures_of(result)),)),
    ]
    if risk is not None:
        good = (_page.bullets(_use.good_for(risk)), _page.note(result.risk_note))
        sections.append(Section("What this risk is good for", good))
    rows = [(each.before, each.after) for each in result.examples]
    table = _page.table(("as it is", "as it may come out"), rows, numbers=())
    sections.append(Section("Public sentences, and one way they come out", (table,)))
    return _page.page(
        f"Plan: {result.profile}",
        sections,
        lead=_page.note("Nothing private was read for this page."),
        footer=f"dptext plan, mechanism {result.mechanism}, lexicon {result.lexicon}",
    )
