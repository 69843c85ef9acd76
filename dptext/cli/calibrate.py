"""`dptext calibrate`: the epsilon of a mechanism, or of all, at one risk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from dptext import lexicons, progress
from dptext.cli import options, parser, screen
from dptext.errors import UsageError
from dptext.evaluation import attackers, views
from dptext.measures.context_risk import AT_LEAST, SAME_KIND
from dptext.profile import FOR_PROGRAMS, Profile, load
from dptext.report import calibration
from dptext.report.blocks import Block, Paragraph
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
    """An attacker of whole texts, and the texts that it reads."""

    attacker: Annotated[
        str | None,
        Option(
            "With --public-text: the risk is how often this attacker of whole "
            "texts finds a word, such as ngram. Default: same-kind, which counts one "
            "half of the public texts and reads the other half.",
            MEASURES,
            metavar="NAME",
        ),
    ] = None
    public_text: options.PublicText = None

    def __post_init__(self) -> None:
        """Raise UsageError for an attacker without texts."""
        if self.attacker is not None and self.public_text is None:
            raise UsageError("--attacker needs --public-text, the text that it reads")

    def calibrate(
        self,
        recipe: Profile,
        lexicon: Lexicon,
        target: float,
        public: attackers.PublicText,
    ) -> tuple[JsonObject, list[Block]]:
        """Return the epsilon at which the attacker reaches the risk."""
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
            "Epsilon by the share of right guesses: 10%.",
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
            "--mechanism all: --public-text is read for one mechanism; name it"
        )
    over = replace(choices, risk=risk, mechanism=None if every else mechanism).keys
    recipe = load(profile, over)
    target = calibration.budget_risk(recipe)
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
    calibrations: Iterable[calibration.Calibration] = (
        calibration.every_mechanism(profile, over, opened)
        if every
        else [calibration.calibrated(recipe, opened)]
    )
    rows = []
    for row in calibrations:
        progress.say(calibration.line(row))
        rows.append(row)
    view = calibration.view(recipe, target, rows)
    screen.deliver({**data, "rows": rows}, as_json, *view)
