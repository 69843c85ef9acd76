"""`dptext calibrate`: the epsilon of a mechanism, or of all, at one risk."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from dptext import calibration, lexicons, profile, progress, registry
from dptext.budgets import uniform
from dptext.cli import options, parser, screen
from dptext.errors import UsageError
from dptext.evaluation import attackers, views
from dptext.guarantees.sentences import measured
from dptext.measures import bayes_risk, public
from dptext.measures.context_risk import AT_LEAST, SAME_KIND
from dptext.profile import FOR_PROGRAMS, Profile, load
from dptext.report import figures
from dptext.report.blocks import Block, Column, Paragraph, Table, paragraphs
from dptext.run.choices import Choices
from dptext.run.marks import GUARANTEE, MEASURES, Option
from dptext.run.selection import Selection
from dptext.types import JsonObject, Lexicon

EXAMPLES = (
    "dptext calibrate --risk 20% --mechanism all",
    "dptext calibrate --risk 25% --public-text old-tickets.jsonl",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingAttacker:
    """An attacker of whole texts, and its texts."""

    attacker: Annotated[
        str | None,
        Option(
            "With --public-text: attacker whose success is the risk, such as ngram. "
            "Default: same-kind, which learns from one half of the public texts and "
            "attacks the other.",
            MEASURES,
            metavar="NAME",
        ),
    ] = None
    public_text: options.PublicText = None

    def __post_init__(self) -> None:
        """Raise UsageError for an attacker without texts."""
        if self.attacker is not None and self.public_text is None:
            raise UsageError("--attacker needs texts to attack: give --public-text")

    def calibrate(
        self,
        recipe: Profile,
        lexicon: Lexicon,
        target: float,
        public: attackers.PublicText,
    ) -> tuple[JsonObject, list[Block]]:
        """Return the epsilon at which the attacker reaches the given risk."""
        name = self.attacker or SAME_KIND
        with progress.step(f"looking for the epsilon at which {name} reaches the risk"):
            epsilon, reading = attackers.calibrate_by_attacker(
                recipe=recipe,
                lexicon=lexicon,
                target=target,
                attacker=name,
                public=public,
            )
        data: JsonObject = {"text": public.name, "text_sha256": public.digest}
        data |= {"epsilon": epsilon, "reading": reading}
        summary = f"epsilon {epsilon:.4g}: {reading.attacker} finds in {public.name}"
        table = views.attackers_table(reading)
        return data, [Paragraph(summary), table, Paragraph(AT_LEAST, "note")]


def command(
    profile: Annotated[
        str,
        typer.Argument(
            metavar="PROFILE", help="Profile of `dptext list`, or a .yaml file."
        ),
    ] = FOR_PROGRAMS,  # a risk is about all words
    *,
    risk: Annotated[
        str,
        Option(
            "Epsilon for a share of right guesses: 10%.",
            GUARANTEE,
            metavar="SHARE",
        ),
    ],
    mechanism: Annotated[
        str | None,
        Option(
            "Mechanism with its default parameters, or all of them.",
            GUARANTEE,
            metavar="NAME",
        ),
    ] = None,
    choices: Annotated[Choices, parser.Take("lexicon overrides")],
    reader: ReadingAttacker,
    selection: Annotated[Selection, parser.Take("fields")],
    as_json: options.AsJson = False,
) -> None:
    """Find the epsilon of a mechanism for a given risk.

    All other settings are those of the profile. With --mechanism all, mechanisms that
    cannot be calibrated are listed with the reason. No text is read, except that of
    --public-text: then the risk is how often an attacker of these texts finds a word in
    context, by the upper limit of a 95% interval. A better attacker finds more.
    """
    every = mechanism == "all"
    options.check_public_text(reader.public_text, selection.fields)
    if every and reader.public_text is not None:
        raise UsageError(
            "--mechanism all does not work with --public-text: name one mechanism"
        )
    over = replace(choices, risk=risk, mechanism=None if every else mechanism).keys
    recipe = load(profile, over)
    target = budget_risk(recipe)
    opened = lexicons.find(recipe.lexicon)
    data: JsonObject = {
        "profile": recipe.name,
        "target": target,
        "lexicon": opened.name,
        "lexicon_digest": opened.digest,
    }
    public = attackers.PublicText.named(reader.public_text, selection.fields)
    if public is not None:
        reached, blocks = reader.calibrate(recipe, opened, target, public)
        screen.deliver(data | reached, as_json, *blocks)
        return
    calibrations: Iterable[Calibration] = (
        every_mechanism(profile, over, opened)
        if every
        else [calibrated(recipe, opened)]
    )
    rows = []
    for row in calibrations:
        progress.say(line(row))
        rows.append(row)
    view = as_table(recipe, target, rows)
    screen.deliver({**data, "rows": rows}, as_json, *view)


@dataclasses.dataclass(frozen=True, slots=True)
class Calibration:
    """A mechanism and its epsilon for a risk."""

    mechanism: str
    parameters: JsonObject
    space: str = ""
    mapping: str | None = None
    epsilon: float | None = None
    unit: str = ""
    metric: str = ""
    notion: str = ""
    reason: str = ""
    delta: float = 0.0
    #: Epsilon times the largest distance, in nats, up to delta; None without a bound.
    worst_loss: float | None = None
    risk: bayes_risk.Risk | None = None
    #: Mean probability that a word is drawn as itself.
    n_w: float | None = None
    #: Time of the calibration.
    seconds: float = 0.0
    #: Why the mechanism has no such epsilon; None if it has one.
    skipped: str | None = None


def budget_risk(recipe: profile.Profile) -> float:
    """Return the risk in a profile's budget. Raises UsageError if it has none."""
    params = recipe.budget.params
    if not isinstance(params, uniform.Params) or params.risk is None:
        raise UsageError("calibrate chooses epsilon: leave budget settings out")
    return params.risk


def calibrated(recipe: profile.Profile, lexicon: Lexicon) -> Calibration:
    """Calibrate a profile."""
    began = time.perf_counter()
    ready = calibration.build(recipe, lexicon)
    seconds = time.perf_counter() - began
    mechanism, epsilon = ready.mechanism, ready.budget.description.high
    promise = mechanism.guarantee(epsilon)
    risk, _ = public.measure_risk(ready)
    deniability = public.measure_deniability(ready)
    loss = promise.worst(epsilon)
    return Calibration(
        mechanism=mechanism.name,
        parameters=dataclasses.asdict(mechanism.params),
        space=recipe.space.name,
        mapping=None if recipe.mapping is None else recipe.mapping.name,
        epsilon=epsilon,
        unit=promise.unit,
        metric=measured(promise),
        notion=promise.notion,
        reason=promise.reason,
        delta=promise.delta,
        worst_loss=loss if math.isfinite(loss) else None,
        risk=risk,
        n_w=None if deniability is None else deniability.n_w,
        seconds=seconds,
    )


def every_mechanism(
    name: str, over: Mapping[str, object], lexicon: Lexicon
) -> Iterator[Calibration]:
    """Calibrate a profile with each mechanism; skip those that cannot reach the risk.

    name: the profile; over: keys that override it.
    """
    names = registry.names("mechanisms")
    progress.say(
        f"calibrating {len(names)} mechanisms on {len(lexicon.words):,} words; each "
        "new result takes minutes and is cached"
    )
    for each in names:
        chosen = over.get("mechanism")
        settings = {**(chosen if isinstance(chosen, Mapping) else {}), "name": each}
        keys = {**over, "mechanism": settings, "mapping": None}
        try:
            if registry.find("mechanisms", each).Params.family == "texts":
                raise UsageError(
                    "it reads the whole text, while the Bayes risk refers to one word"
                )
            yield calibrated(profile.load(name, keys), lexicon)
        except UsageError as error:
            yield Calibration(each, {}, skipped=str(error))


def _settings(row: Calibration) -> str:
    """Format the parameters that are set; a table only by its length."""
    settings = [
        f"{key}={f'{len(value)} pairs' if isinstance(value, tuple) else value}"
        for key, value in row.parameters.items()
        if value is not None and value != ()
    ]
    if row.mapping:
        settings.append(f"mapping {row.mapping}")
    return ", ".join(settings)


def line(row: Calibration) -> str:
    """Format a row on one line, for progress output."""
    if row.skipped is not None:
        return _reason(row)
    return (
        f"{row.mechanism}: epsilon {_epsilon(row)}, risk {_risk(row)}, worst loss "
        f"{_loss(row)} nats ({row.seconds:.1f} s)"
    )


def _reason(row: Calibration) -> str:
    """Return why a mechanism has no epsilon or no guarantee, "" if it has both."""
    if row.skipped is not None:
        return f"{row.mechanism}: not calibrated: {row.skipped}"
    return f"{row.mechanism}: no guarantee: {row.reason}" if row.reason else ""


def _epsilon(row: Calibration) -> str:
    return f"{row.epsilon:g} {row.unit}"


def _risk(row: Calibration) -> str:
    if row.risk is None:
        return "not measured"
    if row.risk.low is None:
        return figures.share(row.risk.success)
    return figures.between(row.risk.low, row.risk.success)


def _loss(row: Calibration) -> str:
    loss = figures.bound(row.worst_loss)
    return f"{loss}, up to delta {row.delta:g}" if row.delta else loss


_COLUMNS = (
    Column("mechanism"),
    Column("parameters", path=_settings),
    Column("epsilon", str, path=_epsilon),
    Column("risk", str, path=_risk),
    Column("N_w", figures.share, path="n_w"),
    Column("worst loss, nats", str, path=_loss),
    Column("seconds", "{:.1f}".format),
    Column("guarantee", path="notion"),
)


def as_table(
    recipe: profile.Profile, target: float, rows: Sequence[Calibration]
) -> list[Block]:
    """Return a table of calibrated mechanisms, and why others were skipped."""
    calibrated = [row for row in rows if row.skipped is None]
    title = (
        f"Risk at most {target:.4g} of words as profile {recipe.name} replaces them, "
        f"space {recipe.space.name}"
    )
    return [
        *([Table.from_items(_COLUMNS, calibrated, title)] if calibrated else []),
        *paragraphs(*map(_reason, rows)),
        *paragraphs(*figures.legend("N_w"), kind="note"),
        Paragraph(bayes_risk.LIMITS, "note"),
    ]
