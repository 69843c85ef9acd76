"""Sentences of a statement on pieces recognised by form, and on other languages."""

from __future__ import annotations

from collections.abc import Iterator

from dptext.guarantees.templates import render, series
from dptext.tokens.forms import RULES
from dptext.tokens.languages import (
    COPIED,
    ENGLISH_SHARE,
    FEW_LOWER,
    MANY,
    MARK,
    language_lists,
    languages,
    name_of,
    names_without_special,
)
from dptext.tokens.policy import MANY_COMMON, Form, Policy
from dptext.types import ENGLISH

_COPIED_FORMS = (Form.FIXED, Form.MARKUP)


def made(kind: str, policy: Policy, layouts: str = "") -> str:
    """Describe what replaces a piece of a class or form."""
    repeated = render(f"shown.made.{policy.repeat}")
    marks = "_marks" if policy.marks else ""
    return render(f"shown.made.{kind}{marks}", repeated=repeated, layouts=layouts)


def _name(form: Form, policy: Policy) -> str:
    """Name a form; note that common words among emoji are unchanged."""
    if form is Form.EMOJI and policy.common:
        return render("phrase.other_emoji")
    return RULES[form].name


def new_forms(policy: Policy) -> list[Form]:
    """Return the forms whose pieces are drawn anew, in the order of the docs."""
    drawn = {*policy.forms} - {*_COPIED_FORMS}
    return [form for form in Form if form in drawn]


def shown_of_forms(policy: Policy) -> Iterator[str]:
    """Yield what the output reveals of pieces recognised by form."""
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
            short = RULES[form].name.partition(" (")[0]
            yield render(f"shown.{key}", Named=_capital(short))


def form_layouts(policy: Policy) -> tuple[str, ...]:
    """Describe a policy's forms and what their layouts reveal.

    Marks reveal no layouts.
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


def lists_of_names(policy: Policy) -> str:
    """Name the languages that have lists of names and special categories."""
    name = "lists_of_languages" if policy.languages else "english_lists"
    return render(f"shown.{name}")


def where_numbers_are_written(policy: Policy) -> dict[str, str]:
    """Return the languages in which written numbers get realistic replacements."""
    return {"In_languages": f"In {'every language' if policy.languages else 'English'}"}


def but_other_languages(policy: Policy) -> str:
    """Exclude records in other languages from the words the mechanism replaces."""
    if policy.marks_others:
        return render("covered.but_marked")
    return render("covered.but_other_languages") if policy.languages else ""


def languages_in_common(policy: Policy) -> list[str]:
    """Return what compared texts must also share if there are several languages."""
    if not policy.languages:
        return []
    return [render("in_common.languages", **_languages_of(policy))]


def _languages_of(policy: Policy) -> dict[str, str]:
    """Return the languages of a policy, with and without English."""
    names = {code: name_of(code) for code in policy.languages}
    others = (names[code] for code in names if code != ENGLISH)
    return {"named": series(tuple(names.values())), "others": series(tuple(others))}


def shown_languages(policy: Policy) -> list[str]:
    """State how a record's language is detected, and what that reveals."""
    if policy.marks_others:
        numbers = {"common": MANY_COMMON, "many": MANY, "lower": FEW_LOWER}
        named = {name: f"{number:,}" for name, number in numbers.items()}
        share = f"{ENGLISH_SHARE:.0%}"
        return [render("shown.marked_languages", **named, share=share, mark=MARK)]
    if not policy.languages:
        return []
    lists = [language_lists(code) for code in policy.languages if code != ENGLISH]
    without = names_without_special(policy.languages)
    is_one = len(policy.languages) == 1
    which = render(
        f"shown.{'one_language' if is_one else 'several_languages'}",
        **_languages_of(policy),
        first=name_of(policy.languages[0]),
        known=series(tuple(map(name_of, (ENGLISH, *languages())))),
        evidence=f"{COPIED:,}",
        many=str(MANY),
        other=render("shown.other_language", mark=MARK),
    )
    sentence = render(
        "shown.languages",
        **_languages_of(policy),
        which=which,
        opinions=render("shown.language_opinions") if policy.opinion == "keep" else "",
        nouns=render("shown.nouns") if any(each.nouns for each in lists) else "",
        repeated=render(f"shown.made.{policy.repeat}"),
        shown="" if policy.marks else render("shown.drawn_shown"),
        special=render("shown.no_special", named=series(without)) if without else "",
    )
    return [sentence]
