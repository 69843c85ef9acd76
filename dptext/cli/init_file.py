"""Formats the configuration that `dptext init` writes, with comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from dptext.run import groups
from dptext.run.selection import Selection

if TYPE_CHECKING:
    from dptext.engine.job import Job
    from dptext.engine.survey import FieldSummary

_HEAD = (
    "# Settings of dptext, written by dptext init. docs/configuration.md says more.\n"
)
_FORMS = (
    "# Dates, times, amounts, codes, URLs, e-mail addresses, phone numbers, tags and\n"
    "# the like become others of the same layout, which is shown (tokens.forms,\n"
    "# docs/tokens.md).\n"
)
OWN_WORDS = "Product names and the like stay in texts with --keep-words WORD."
KEY = "pseudonyms.key"


class Use(StrEnum):
    """How to treat a field."""

    PRIVATE = "private"
    DROP = "drop"
    PSEUDONYM = "pseudonym"
    COPY = "copy"


# By the names of fields.
Uses = Mapping[str, Use]


def settings_text(
    job: Job,
    columns: Sequence[FieldSummary],
    uses: Uses,
    recipe: tuple[dict[str, Any], dict[str, Any]],
    proposal: Sequence[str] = (),
) -> str:
    """Return the content of the file: the use of each field, and the policy.

    proposal: comment lines on words that many people wrote.
    """
    import yaml

    selection, usual = job.selection, Selection(fields=())
    sanitize: dict[str, Any] = {}
    for name, option, _ in groups.options(Selection):
        value = getattr(selection, name)
        if value != getattr(usual, name):
            shown = list(value) if isinstance(value, tuple) else value
            sanitize[option.spelled or name] = shown
    settings, check = recipe
    sanitize |= settings
    if columns:
        check["fields"] = list(selection.fields)
        check["copy"] = list(named(uses, Use.COPY))
        check["pseudonyms"] = list(selection.replaced)
        kept = [
            each.name
            for each in columns
            if each.identifies is not None and uses[each.name] is Use.COPY
        ]
        if kept:  # asked about by name
            check["allow"] = [*check["allow"], {"identifying": kept}]
    text = yaml.safe_dump(
        {"sanitize": sanitize, "check": check}, sort_keys=False, allow_unicode=True
    )
    formed = _FORMS if "forms" in check["allow"] else ""
    comments = ""
    if "topics" not in settings:
        comments = _own_words(columns, uses, settings, proposal)
    return f"{_HEAD}{formed}{comments}{_notes(columns, uses)}{text}"


def _own_words(
    columns: Sequence[FieldSummary],
    uses: Uses,
    settings: Mapping[str, Any],
    proposal: Sequence[str],
) -> str:
    """Return comment lines that offer values of copied fields as words to keep."""
    import yaml

    lines, offers = [] if "keep_words" in settings else [OWN_WORDS], []
    lines += proposal
    for each in offered(columns, uses):
        values = [x for x in each.values if x not in settings.get("keep_words", ())]
        if values:
            listed = yaml.safe_dump(
                values, default_flow_style=True, allow_unicode=True, width=10_000
            )
            offers.append(f"  {each.name!r}: {listed.strip()}")
    if offers:
        lines.append("Words of copied fields stay in texts, too, if sanitize and check")
        lines += ["have them under keep_words:", *offers]
    return "".join(f"# {line}\n" for line in lines)


def _notes(columns: Sequence[FieldSummary], uses: Uses) -> str:
    """Return comment lines naming the fields that look identifying."""
    remarks = {
        Use.DROP: "left out, since it looks identifying",
        Use.COPY: "unchanged, though it looks identifying",
        Use.PSEUDONYM: "a pseudonym, which can be linked",
    }
    needs_key = ""
    if Use.PSEUDONYM in uses.values():
        needs_key = f"# pseudonyms need a key: --key-file {KEY}, or DPTEXT_KEY_FILE\n"
    of_pages = "".join(
        f"# left out, since its sheet is no table: {each.name!r}\n"
        for each in columns
        if each.is_page and uses[each.name] is Use.DROP
    )
    return (
        needs_key
        + of_pages
        + "".join(
            f"# {remarks[uses[each.name]]}: {each.name!r} ({each.identifies})\n"
            for each in columns
            if each.identifies is not None and uses[each.name] in remarks
        )
    )


def offered(columns: Sequence[FieldSummary], uses: Uses) -> list[FieldSummary]:
    """Return the copied fields whose values could be words to keep."""
    return [each for each in columns if each.values and uses[each.name] is Use.COPY]


def named(uses: Uses, use: Use) -> tuple[str, ...]:
    """Return the fields with a given use."""
    return tuple(name for name, each in uses.items() if each is use)
