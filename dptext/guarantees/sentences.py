"""Writes claims as sentences, filling the templates of sentences.toml.

All figures come from the claim, so that rewording a template cannot change a figure or
verdict. The claim is accompanied by which texts it compares, what it covers, and what
it excludes: each setting that keeps, masks or drops a class of token restricts the
comparison to texts that agree in it (docs/guarantees.md, 4), and is stated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from dptext.guarantees import form_sentences, word_lists
from dptext.guarantees.claims import (
    MAX_MEANINGFUL_LOSS,
    MAX_MEANINGFUL_TEXT_LOSS,
    Claim,
    Loss,
    Terms,
    TopicTerms,
    factor,
    first_beyond,
    format_up,
    number,
    picked_after,
    picked_share,
    too_long,
)
from dptext.guarantees.templates import TEMPLATES, render, series
from dptext.tokens.draws import YEARS
from dptext.tokens.policy import Form, Policy, WordClass, WordList
from dptext.types import BudgetKind, Guarantee, Level, Metric, Notion, Strategy

# Lists of a policy.
_LISTS = ("keep", "mask")
# Number of originals among which an attacker looks for the right one.
ORIGINALS = 1000
_PROPERTIES = 3  # of two texts, in a sentence


def say(claim: Claim, promise: Guarantee, terms: Terms) -> tuple[str, str]:
    """Return the sentence of a claim, and the sentence for whole texts."""
    if claim.no_claim is not None:
        why = {"reason": promise.reason, "worst": format_up(claim.worst)}
        return render(f"no_claim.{claim.no_claim}", **why), render("text.none")
    if terms.topics is not None:
        return _topic_sentences(claim, terms.topics)
    in_context = promise.context and terms.kind is not BudgetKind.FREE
    origin = "context" if in_context else terms.kind
    parts = {
        **TEMPLATES["strategy"][terms.strategy],
        **_parts(claim, promise, terms),
        "agree": _agree(terms),
    }
    text = render(_template("text", claim, terms), **parts) + _how_long(claim, terms)
    if origin in TEMPLATES["origin"]:
        text += render(f"origin.{origin}", **parts)
    text += _recognised(claim)
    used = "".join(f" {line}" for line in terms.budget.used)
    return render(_template("sentence", claim, terms), **parts), text + used


def _agree(terms: Terms) -> str:
    """State which words are replaced, and what else two texts must share.

    Each sentence lists at most three properties, for readability.
    """
    properties = adjacency(terms)
    first, *others = (
        series(properties[begin : begin + _PROPERTIES])
        for begin in range(0, len(properties), _PROPERTIES)
    )
    return render(
        "phrase.agree",
        words=series(covered(terms.policy)),
        first=first,
        others="".join(render("phrase.agree_also", these=each) for each in others),
    )


def _topic_sentences(claim: Claim, topics: TopicTerms) -> tuple[str, str]:
    """Return the sentence for texts that become topics, and one with its figures."""
    epsilon = claim.epsilon
    kind = "" if topics.together == 1 else "_sets"
    together = f"{topics.together:,}"
    sentence = render(
        f"topics.sentence{kind}",
        together=together,
        epsilon=number(epsilon),
        factor=factor(epsilon),
        size=f"{topics.size:,}",
    )
    text = render(
        f"topics.text{kind}",
        together=together,
        epsilon=number(epsilon),
        nearest=nearest_percent(topics.nearest),
        large=render("phrase.large") if epsilon > MAX_MEANINGFUL_TEXT_LOSS else "",
    )
    known = render(
        "topics.recognised",
        average=percent(picked_share(epsilon, ORIGINALS, topics)),
        **recognition(epsilon),
    )
    return sentence, f"{text} {known}"


def recognition(epsilon: float) -> dict[str, str]:
    """Bound the probability of picking the right one of several originals.

    The bound holds for any single output, with a whole-text epsilon in nats.
    """
    return {
        "originals": f"{ORIGINALS:,}",
        "single": percent(picked_after(epsilon, ORIGINALS)),
        "pair": percent(picked_after(epsilon, 2)),
    }


def _recognised(claim: Claim) -> str:
    """State the same for a text of drawn words, if its whole loss is bounded."""
    total = claim.text_loss.total
    if total is None or not math.isfinite(total):
        return ""
    if claim.notion not in (Notion.LDP, Notion.METRIC):
        return ""
    return " " + render("phrase.recognised", **recognition(total))


def nearest_percent(value: float) -> str:
    """Format an exact probability as a percentage, rounded to nearest.

    One decimal place, or more if that would give 0% or 100%.
    """
    for digits in (1, 2, 3, 4):
        rounded = round(value * 100.0, digits)
        if 0.0 < rounded < 100.0:
            return f"{rounded:.{digits}f}%"
    return f"{value * 100.0:.0f}%"


def percent(value: float) -> str:
    """Format a bound on a probability as a percentage, rounded up."""
    for digits in (1, 2, 3, 4):
        step = 10.0**digits
        rounded = math.ceil(value * 100.0 * step - 1e-9) / step
        if rounded < 100.0:
            return f"{rounded:.{digits}f}%"
    return "100%"


def _template(table: str, claim: Claim, terms: Terms) -> str:
    """Return the template for the kind of budget, else for notion and level."""
    kind = terms.kind if claim.one_change is None else BudgetKind.FREE
    general = f"{claim.notion} {claim.level}"
    special = f"{general} {kind}"
    return f"{table}.{special if special in TEMPLATES[table] else general}"


def _parts(claim: Claim, promise: Guarantee, terms: Terms) -> dict[str, str]:
    """Return the values of all placeholders in templates, as text."""
    spent = terms.budget
    total, each = claim.text_loss.total or 0.0, claim.text_loss.each or 0.0
    epsilon = number(claim.epsilon)
    cut, most_likely = "", ""
    if promise.cut_by_epsilon:
        cut = render("phrase.cut", nats=format_up(each))
        most_likely = render("phrase.most_likely", nats=format_up(promise.max_loss))
    return {
        "at_any": measured(promise),
        "at_epsilon": measured(promise, epsilon),
        "at_part": measured(promise, f"({epsilon} / n)"),
        "cut": cut,
        "delta": number(promise.delta),
        "each": number(each),
        "each_short": format_up(each),
        "epsilon": epsilon,
        "factor": factor(claim.epsilon),
        "factors": _factors(claim.loss),
        "first": number(spent.first),
        "high": number(spent.high),
        "large": render("phrase.large") if total > MAX_MEANINGFUL_TEXT_LOSS else "",
        "lesser": _lesser(claim),
        "low": number(spent.low),
        "most_likely": most_likely,
        "mu": format_up(promise.mu),
        "of_n": " of n replaced words" if terms.kind is BudgetKind.FREE else "",
        "one_change": _one_change(claim),
        "share": _share(promise, terms),
        "short": _short(claim),
        "total": format_up(total),
        "total_factor": factor(total),
        "uncut": uncut(promise.metric),
        "weak": render("phrase.weak")
        if claim.loss.nearest > MAX_MEANINGFUL_LOSS
        else "",
    }


def uncut(metric: Metric) -> str:
    """Name a metric without its truncation, if that depends on epsilon."""
    if metric.cut is None:
        return metric.name
    return render("phrase.uncut", cut=number(metric.cut), name=metric.name)


def measured(promise: Guarantee, epsilon: str = "epsilon") -> str:
    """Name the metric; a truncation by epsilon uses the given epsilon."""
    if not promise.cut_by_epsilon:
        return uncut(promise.metric)
    most, name = number(promise.max_loss), promise.metric.name
    return render("phrase.measured", max_loss=most, epsilon=epsilon, name=name)


def distance(claim: Claim, promise: Guarantee, terms: Terms) -> str:
    """Name the metric of a claim."""
    if claim.metric.between_classes:
        extra = format_up(claim.metric.between_classes)
        within = measured(promise, number(claim.epsilon))
        return render("phrase.between_classes", measured=within, extra=extra)
    past = terms.kind is BudgetKind.PAST and claim.no_claim is None
    if past or claim.metric != promise.metric:
        return uncut(claim.metric)
    return measured(promise)


def decoding(terms: Terms, nothing: bool) -> str:
    """Describe the effect of decoding; "" if drawn words are written."""
    if terms.decoder == "none":
        return ""
    changes = "" if nothing else render("decoding.changes_nothing")
    party = terms.third_party
    if party is None:
        return render("decoding.by", decoder=terms.decoder, said=changes)
    how = "rewritten_by" if party.rewrites else "chosen_by"
    return render(f"decoding.{how}", host=party.host, model=party.model, said=changes)


def _factors(loss: Loss) -> str:
    """Explain the factor of a metric for near and for far words."""
    near = render(
        "phrase.factors",
        nearest=factor(loss.nearest),
        median=factor(loss.median),
        farthest=factor(loss.farthest),
    )
    beyond = loss.nearest <= MAX_MEANINGFUL_LOSS < loss.farthest
    return near + render("phrase.beyond") * beyond


def _lesser(claim: Claim) -> str:
    """State that n times the bound for one word also holds."""
    each = claim.text_loss.each
    if each is None:
        return ""
    nats = number(each) if claim.notion is Notion.LDP else f"{format_up(each)} nats"
    return render("phrase.lesser", nats=nats)


def _short(claim: Claim) -> str:
    """State the length from which a word's equal share of a total is meaningful."""
    total, each = claim.text_loss.total or 0.0, claim.text_loss.each
    if min(total, total if each is None else each) <= MAX_MEANINGFUL_LOSS:
        return ""
    return render("phrase.short", count=f"{math.ceil(total / MAX_MEANINGFUL_LOSS)}")


def _how_long(claim: Claim, terms: Terms) -> str:
    """State from how many words on a bound per word is meaningless."""
    each = claim.text_loss.each
    if claim.level is Level.WORDS:
        if (lengths := too_long(claim)) is None:
            return ""
        return render("phrase.longer", text=f"{lengths[0]}", word=f"{lengths[1]}")
    if claim.level is Level.TEXT or each is None or each > MAX_MEANINGFUL_LOSS:
        return ""
    count = first_beyond(each, MAX_MEANINGFUL_TEXT_LOSS)
    which = "in a single word" if count == 1 else f"in {count} words or more"
    named = TEMPLATES["strategy"][terms.strategy]["named"]
    return render("phrase.how_long", named=named, which=which)


def _one_change(claim: Claim) -> str:
    """Describe the loss from one changed word, if less than for the whole text."""
    one = claim.one_change
    if one is None or not one.first:
        return render("phrase.all_change")
    which = f"for n = {one.first} to {one.last:g}"
    if math.isinf(one.last) or one.first == one.last:
        which = f"for n = {one.first}" + " and more" * math.isinf(one.last)
    changed, moved = number(one.changed), number(one.moved)
    return render("phrase.one_change", changed=changed, moved=moved, which=which)


def _share(promise: Guarantee, terms: Terms) -> str:
    """Bound the sum of a text's epsilons if all of the text may choose them."""
    spent, varying = terms.budget, promise.varying_epsilon
    if spent.total is not None:
        most = render("phrase.share_of_total", total=number(spent.total))
        if varying is None or varying.total == 1.0:
            return most
        return most + render("phrase.times_total", times=format_up(varying.total))
    if spent.rate is not None:
        return render("phrase.share_of_rate", rate=number(spent.rate))
    return ""


def adjacency(terms: Terms) -> tuple[str, ...]:
    """Return the properties that two texts must share to be compared."""
    policy, strategy = terms.policy, TEMPLATES["strategy"][terms.strategy]
    parts = [render("in_common.words")]
    if "pattern" in strategy:
        parts.append(strategy["pattern"])
    if policy.common:
        parts.append(render("in_common.common"))
    if policy.words is not None:
        parts.append(render("in_common.corpus_words"))
    parts += _by_setting("in_common", policy)
    parts += [render(f"in_common.{n}_list") for n in _LISTS if getattr(policy, n)]
    parts += form_sentences.languages_in_common(policy)
    if policy.classes:
        layouts = ""
        if _has_layouts(policy):
            also = _nationalities("phrase.and_nationalities", policy)
            layouts = render("in_common.organisations", nationalities=also)
        named = _classes(policy)
        parts.append(render("in_common.classes", named=named, layouts=layouts))
    if policy.forms:
        parts.append(render("in_common.forms"))
    if named := _repeated(policy):
        parts.append(render("in_common.repeat", named=named))
    if _orders_dates(policy):
        parts.append(render("in_common.dates"))
    if terms.run.finder:
        parts.append(render("in_common.spans", finder=terms.run.finder))
    return tuple(parts)


def covered(policy: Policy) -> tuple[str, ...]:
    """Return the classes of token that the mechanism replaces."""
    names = ["words" if policy.stop_word == "perturb" else "but_stop_words"]
    if policy.common:
        names = ["but_common"]
    if policy.unknown == "perturb":
        names += ["unknown", "identifiers"]
    if policy.number == "perturb":
        names.append("number")
    parts = [render(f"covered.{name}") for name in names]
    if policy.has_lists or policy.classes:
        parts[-1] += render("covered.but_listed")
    parts[-1] += form_sentences.but_other_languages(policy)
    return tuple(parts)


def shown(policy: Policy) -> tuple[str, ...]:
    """Return one sentence for each thing that the output reveals of the text."""
    lines = [render("shown.tokens"), *_by_setting("shown", policy)]
    if policy.common:
        used = {
            "articles": policy.agreement != "none",
            "headings": policy.case == "copy",
            "opinions": policy.opinion == "keep",
            "articles_shouted": policy.case == "copy",
            "before_names": policy.case == "copy",
        }
        words = {key: render(f"shown.{key}") if used[key] else "" for key in used}
        words["lists"] = form_sentences.lists_of_names(policy)
        lines.insert(0, render("shown.common", count=f"{policy.common:,}", **words))
    if policy.words is not None:
        lines.append(word_lists.show(policy.words))
    lines += form_sentences.shown_languages(policy)
    for name in _LISTS:
        if listed := getattr(policy, name):
            lines.append(render(f"shown.{name}_list", size=_size(listed)))
    if policy.classes:
        lines.append(_shown_classes(policy))
    lines += form_sentences.shown_of_forms(policy)
    if named := _repeated(policy):
        people = dates = ""
        if WordClass.PERSON in policy.classes and not policy.marks:
            people = render("shown.people")
        if _orders_dates(policy):
            dates = render("shown.dates", **_years(policy))
        times = "" if policy.marks else render("shown.times")
        lines.append(
            render("shown.repeat", named=named, people=people, dates=dates, times=times)
        )
    if policy.marks:
        lines.append(render("shown.marks"))
    return tuple(lines)


def _repeated(policy: Policy) -> str:
    """Name the pieces that stay equal within a record if equal, "" if none."""
    if policy.repeat == "none":
        return ""
    used = {
        "classes": bool(policy.classes),
        "forms": bool(form_sentences.new_forms(policy)),
        "numbers": policy.number == "digits",
        "words": bool(policy.languages),
    }
    return series(tuple(render(f"equal.of_{name}") for name in used if used[name]))


def _orders_dates(policy: Policy) -> bool:
    """Return whether the output reveals the order of a record's dates."""
    return policy.repeat == "record" and Form.DATE in policy.forms and not policy.marks


def _years(policy: Policy) -> dict[str, str]:
    """Return the first and the last year that are written."""
    return dict(zip(("first", "last"), map(str, policy.years or YEARS), strict=True))


def _has_layouts(policy: Policy) -> bool:
    """Return whether names of organisations have layouts that are revealed."""
    return WordClass.ORGANISATION in policy.classes and not policy.marks


def _nationalities(template: str, policy: Policy) -> str:
    """Return the clause on nationalities if they have layouts, else ""."""
    has = policy.common and WordClass.PLACE in policy.classes
    return render(template) if has else ""


def _shown_classes(policy: Policy) -> str:
    of_layouts = and_layouts = by_layouts = organisations = ""
    if _has_layouts(policy):
        of_layouts, by_layouts = (
            render(f"phrase.{name}_layouts") for name in ("of", "by")
        )
        also = _nationalities("phrase.or_nationalities", policy)
        and_layouts = render("phrase.and_layouts", nationalities=also)
        name = "joined" if policy.case == "copy" else "not_joined"
        small = policy.common > 0 and WordClass.PLACE in policy.classes
        small = small and not policy.languages
        organisations = render(
            "shown.organisations",
            joined=render(f"shown.{name}"),
            small=render("shown.in_small_letters") if small else "",
            nationalities=_nationalities("shown.nationalities", policy),
        )
    pattern = render("shown.made.pattern") if policy.repeat != "none" else ""
    return render(
        "shown.classes",
        named=_classes(policy),
        new=form_sentences.made("class", policy, of_layouts),
        and_layouts=and_layouts,
        by_layouts=by_layouts,
        pattern=pattern,
        organisations=organisations,
        weekdays=_weekdays(policy),
    )


def _weekdays(policy: Policy) -> str:
    """State that weekdays fit written dates; "" where there are no such."""
    fit = WordClass.WEEKDAY in policy.classes and Form.DATE in policy.forms
    if not fit or policy.marks:
        return ""
    alike = render("shown.alike") if policy.repeat == "record" else ""
    return render("shown.weekdays", alike=alike)


def original_row(total: float | None) -> str:
    """State whether an attacker with an original text can find its row.

    total: the loss of a text as a whole; without protection for it, nearly every
    row was found under the shipped profiles (THREATS.md).
    """
    protected = total is not None and total <= MAX_MEANINGFUL_TEXT_LOSS
    return render("always.original_of_protected" if protected else "always.original")


def uncovered(notion: Notion, terms: Terms) -> Iterator[str]:
    """Yield the gaps of every setting, except for `original_row`."""
    if terms.run.finder:
        yield render("always.span", finder=terms.run.finder)
        yield render("always.finder", finder=terms.run.finder)
    if terms.run.fields is not None:
        others = (*terms.run.fields, *terms.run.dropped, *terms.run.replaced)
        yield render("always.copied", named=_named(others))
        if terms.run.dropped:
            yield render("always.dropped", named=_named(terms.run.dropped))
        if terms.run.replaced:
            yield render("always.replaced", named=_named(terms.run.replaced))
    if terms.topics is not None:
        yield from _uncovered_by_topics(terms)
        return
    yield render("always.person")
    policy, ways = terms.policy, TEMPLATES["written"]
    # Classes of token that count as one word, and ways to write one replacement.
    names = [n for n in ("unknown", "number") if getattr(policy, n) == "perturb"]
    same = [render(f"equal.{name}") for name in (*names, "names")]
    shared = render("equal.classes", classes=", and all ".join(same))
    keys = [f"case {policy.case}", f"agreement {policy.agreement}", "number"]
    if terms.decoder != "none":
        keys.insert(0, "decoder")
    named = series(tuple(ways[key] for key in keys if key in ways))
    written = render("written.ways", ways=named)
    yield render(f"strategy.{terms.strategy}.repeated", shared=shared, written=written)
    if terms.strategy is Strategy.DATA_SET:
        of_key = terms.run.key == "key-file"
        yield render("always.data_set_of_key" if of_key else "always.data_set")
    yield render(f"always.records{order(terms)}")
    if notion is Notion.METRIC:
        yield render("always.far")


def order(terms: Terms) -> str:
    """Return the suffix of sentence names for records in random order."""
    return "_shuffled" if terms.run.shuffled else ""


def _uncovered_by_topics(terms: Terms) -> Iterator[str]:
    assert terms.topics is not None
    yield render("topics.person")
    yield render("topics.disclosed", factor=factor(terms.epsilon))
    for name in ("words", "missing"):
        yield render(f"topics.{name}")
    yield render(f"always.topic_records{order(terms)}")


def _named(fields: tuple[str, ...]) -> str:
    return series(tuple(f'"{name}"' for name in fields))


def _by_setting(table: str, policy: Policy) -> Iterator[str]:
    """Yield the sentences in a table for the values of a policy's settings."""
    # dptext.writing.quantities writes numbers in this way beside common words.
    used = {"articles": policy.agreement != "none", "but_formed": bool(policy.forms)}
    used |= dict.fromkeys(("as_people_write", "ratings"), policy.common > 0)
    # Where opinions are unchanged, ratings are.
    keeps = policy.opinion == "keep" and policy.common > 0 and not policy.marks
    kept = ("same_ratings", "copied_ratings")
    blanks = {k: render(f"shown.{k}") if keeps else "" for k in kept}
    blanks |= _years(policy) | form_sentences.where_numbers_are_written(policy)
    parts = {k: render(f"shown.{k}", **blanks) if used[k] else "" for k in used}
    for setting, by_value in TEMPLATES[table].items():
        value = getattr(policy, setting, None)
        if isinstance(by_value, Mapping) and value in by_value:
            name = f"{table}.{setting}.{value}"
            if name == "shown.number.digits" and policy.marks:
                name = "shown.number_marks"
            yield render(name, **parts)


def _classes(policy: Policy) -> str:
    """Name the classes whose words are drawn at random."""
    return series(tuple(render(f"class.{each}") for each in policy.classes))


def _size(listed: WordList) -> str:
    """Describe a list by its length; its content is in the settings and files."""
    lines = [line for text in listed.contents for line in text.split("\n")]
    count = len(listed.words) + sum(1 for line in lines if line.strip())
    parts = []
    if count:
        parts.append("1 word or phrase" if count == 1 else f"{count} words or phrases")
    if listed.patterns:
        patterns = len(listed.patterns)
        parts.append("1 pattern" if patterns == 1 else f"{patterns} patterns")
    return f" ({' and '.join(parts)})" if parts else ""
