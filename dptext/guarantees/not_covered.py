"""Which texts a statement compares, what it covers, and what it does not.

Each setting that keeps, masks or drops a class of token restricts the comparison to
texts that agree in it (docs/guarantees.md, 4); what they agree in is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from dptext.guarantees.claims import Terms
from dptext.guarantees.sentences import TEMPLATES, said, series
from dptext.tokens.forms import RULES
from dptext.tokens.policy import Listed, Policy
from dptext.types import Notion, Strategy


class Unprotected(StrEnum):
    """What settings may leave unprotected; EQUAL_WORDS: which words are equal."""

    PUNCTUATION = "punctuation"
    STOP_WORD = "stop_word"
    NUMBER = "number"
    UNKNOWN = "unknown"
    CASE = "case"
    EQUAL_WORDS = "equal-words"
    KEEP_LIST = "keep-list"
    MASK_LIST = "mask-list"
    FORMS = "forms"


def unprotected(policy: Policy, strategy: Strategy) -> tuple[Unprotected, ...]:
    """Return what the output shows of the text."""
    shown = {
        Unprotected.PUNCTUATION: policy.punctuation != "drop",
        Unprotected.STOP_WORD: policy.stop_word != "perturb",
        Unprotected.NUMBER: policy.number != "perturb",
        Unprotected.UNKNOWN: policy.unknown != "perturb",
        Unprotected.CASE: policy.case == "copy",
        Unprotected.EQUAL_WORDS: strategy is not Strategy.TOKEN,
        Unprotected.KEEP_LIST: bool(policy.keep),
        Unprotected.MASK_LIST: bool(policy.mask),
        Unprotected.FORMS: bool(policy.forms),
    }
    return tuple(name for name, is_shown in shown.items() if is_shown)


def adjacency(terms: Terms) -> tuple[str, ...]:
    """Return what two texts must have in common to be compared."""
    policy, strategy = terms.policy, TEMPLATES["strategy"][terms.strategy]
    parts = [said("in_common.words")]
    if "pattern" in strategy:
        parts.append(strategy["pattern"])
    parts += _by_setting("in_common", policy)
    if policy.keep:
        parts.append(said("in_common.keep_list"))
    if policy.mask:
        parts.append(said("in_common.mask_list"))
    for form in policy.forms:
        rule = RULES[form]
        layout = said("shown.layout") * bool(rule.said)
        parts.append(said("in_common.form", named=rule.named, layout=layout))
    if terms.run.finder:
        parts.append(said("in_common.spans", finder=terms.run.finder))
    return tuple(parts)


def covered(policy: Policy) -> tuple[str, ...]:
    """Return the classes of token that the mechanism replaces."""
    names = ["words" if policy.stop_word == "perturb" else "but_stop_words"]
    if policy.unknown == "perturb":
        names += ["unknown", "identifiers"]
    if policy.number == "perturb":
        names.append("number")
    parts = [said(f"covered.{name}") for name in names]
    if policy.listed:
        parts[-1] += said("covered.but_listed")
    return tuple(parts)


def shown(policy: Policy) -> tuple[str, ...]:
    """Return one sentence for each thing that the output shows of the text."""
    lines = [said("shown.tokens"), *_by_setting("shown", policy)]
    if policy.keep:
        lines.append(said("shown.keep_list", size=_size(policy.keep)))
    if policy.mask:
        lines.append(said("shown.mask_list", size=_size(policy.mask)))
    for form in policy.forms:
        rule = RULES[form]
        line = said(
            "shown.form",
            Which=rule.named[:1].upper() + rule.named[1:],
            made=said("shown.layout") * bool(rule.said),
            shown=f", and {rule.said}," if rule.said else "",
        )
        lines.append(line)
    return tuple(lines)


def always(notion: Notion, terms: Terms) -> Iterator[str]:
    """Yield what no setting covers."""
    if terms.run.finder:
        yield said("always.span", finder=terms.run.finder)
        yield said("always.finder", finder=terms.run.finder)
    if terms.run.fields is not None:
        named = series(tuple(f'"{name}"' for name in terms.run.fields))
        yield said("always.copied", named=named)
        if terms.run.detected:
            yield said("always.detected", named=named)
    yield said("always.person")
    policy, ways = terms.policy, TEMPLATES["written"]
    # Classes of token that count as one word, and ways to write one replacement.
    same = [
        said(f"equal.{name}")
        for name in ("unknown", "number")
        if getattr(policy, name) == "perturb"
    ]
    shared = said("equal.classes", classes=", and all ".join(same)) if same else ""
    keys = ["decoder"] * (terms.decoder != "none")
    keys += [f"case {policy.case}", f"agreement {policy.agreement}", "number"]
    named = series(tuple(ways[key] for key in keys if key in ways))
    written = said("written.ways", ways=named)
    yield said(f"strategy.{terms.strategy}.repeated", shared=shared, written=written)
    if terms.strategy is Strategy.DATA_SET:
        of_key = terms.run.key == "key-file"
        yield said("always.data_set_of_key" if of_key else "always.data_set")
    yield said("always.records")
    if notion is Notion.METRIC:
        yield said("always.far")


def _by_setting(table: str, policy: Policy) -> Iterator[str]:
    """Yield the sentences that a table has for the values of a policy's settings."""
    articles = said("shown.articles") * (policy.agreement != "none")
    for setting, by_value in TEMPLATES[table].items():
        value = getattr(policy, setting, None)
        if isinstance(by_value, Mapping) and value in by_value:
            yield said(f"{table}.{setting}.{value}", articles=articles)


def _size(listed: Listed) -> str:
    """Say how long a list is; what it holds is in the settings and its files."""
    lines = [line for text in listed.contents for line in text.split("\n")]
    count = len(listed.words) + sum(1 for line in lines if line.strip())
    words = f"{count} word{'s' * (count != 1)} or phrase{'s' * (count != 1)}"
    patterns = f"{len(listed.patterns)} pattern{'s' * (len(listed.patterns) != 1)}"
    parts = [words] * bool(count) + [patterns] * bool(listed.patterns)
    return f" ({' and '.join(parts)})" if parts else ""
