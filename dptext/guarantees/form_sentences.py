"""What the output shows of pieces that are known by their form, in words."""

from __future__ import annotations

from collections.abc import Iterator

from dptext.guarantees.templates import render, series
from dptext.tokens.forms import RULES
from dptext.tokens.policy import Form, Policy

_COPIED_FORMS = (Form.FIXED, Form.MARKUP)


def made(kind: str, policy: Policy, layouts: str = "") -> str:
    """Describe what a piece of a class or form becomes."""
    repeated = render(f"shown.made.{policy.repeat}")
    marks = "_marks" if policy.marks else ""
    return render(f"shown.made.{kind}{marks}", repeated=repeated, layouts=layouts)


def _in_order(policy: Policy) -> list[Form]:
    """Return the forms of a policy in the order of its settings' documentation."""
    return [form for form in Form if form in policy.forms]


def _short_name(form: Form) -> str:
    """Name a form without the words that explain it."""
    return RULES[form].name.partition(" (")[0]


def _name(form: Form, policy: Policy) -> str:
    """Name a form; common words among emoji are unchanged."""
    if form is Form.EMOJI and policy.common:
        return render("phrase.other_emoji")
    return RULES[form].name


def new_forms(policy: Policy) -> list[Form]:
    """Return the forms with pieces that are drawn anew."""
    return [form for form in _in_order(policy) if form not in _COPIED_FORMS]


def shown_of_forms(policy: Policy) -> Iterator[str]:
    """Yield the parts that the output shows of pieces known by their form."""
    if new := new_forms(policy):
        yield render(
            "shown.forms",
            named=series(tuple(_name(form, policy).partition(" (")[0] for form in new)),
            new=made("form", policy),
            shown=render(f"shown.made.form_shows{'_marks' if policy.marks else ''}"),
        )
    for form in _COPIED_FORMS:
        if form in policy.forms:
            key = str(form)
            if form is Form.MARKUP and policy.punctuation == "drop":
                key = "markup_dropped"
            yield render(f"shown.{key}", Named=_capital(_short_name(form)))


def form_layouts(policy: Policy) -> tuple[str, ...]:
    """Describe the forms of a policy, and the information in their layouts.

    Marks show no layouts.
    """
    if policy.marks:
        return ()
    new = new_forms(policy)
    lines = [
        render("shown.layout", named=RULES[form].name, layout=layout)
        for form in new
        if (layout := RULES[form].shows)
    ]
    if bare := tuple(_name(form, policy) for form in new if not RULES[form].shows):
        lines.append(render("shown.no_layout", named=series(bare)))
    if Form.FIXED in policy.forms:
        lines.append(render("shown.fixed", Named=_capital(RULES[Form.FIXED].name)))
    if Form.MARKUP in policy.forms and policy.punctuation != "drop":
        markup = RULES[Form.MARKUP]
        named, layout = _capital(markup.name), markup.shows
        lines.append(render("shown.markup_layout", Named=named, layout=layout))
    return tuple(lines)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
