"""Sentences of a statement on records in several languages."""

from __future__ import annotations

from dptext.guarantees.templates import render, series
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
from dptext.tokens.policy import MANY_COMMON, Policy
from dptext.types import ENGLISH


def lists_of_names(policy: Policy) -> str:
    """State the languages of lists of names and special categories."""
    name = "lists_of_languages" if policy.languages else "english_lists"
    return render(f"shown.{name}")


def where_numbers_are_written(policy: Policy) -> dict[str, str]:
    """Name the languages in which numbers are written as people write them."""
    return {"In_languages": f"In {'every language' if policy.languages else 'English'}"}


def but_other_languages(policy: Policy) -> str:
    """Except records in other languages from the words that the mechanism replaces."""
    if policy.marks_others:
        return render("covered.but_marked")
    return render("covered.but_other_languages") if policy.languages else ""


def languages_in_common(policy: Policy) -> list[str]:
    """Return what compared texts have in common besides, with several languages."""
    if not policy.languages:
        return []
    return [render("in_common.languages", **_languages_of(policy))]


def _languages_of(policy: Policy) -> dict[str, str]:
    """Name the languages of a policy, and those other than English."""
    names = {code: name_of(code) for code in policy.languages}
    others = (names[code] for code in names if code != ENGLISH)
    return {"named": series(tuple(names.values())), "others": series(tuple(others))}


def shown_languages(policy: Policy) -> list[str]:
    """State how the language of a record is found, and what its texts show."""
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
