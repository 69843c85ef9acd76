"""`dptext calibrate`: the epsilon of a mechanism, or of all, at one risk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from dptext.cli import options, screen
from dptext.cli.options import Text, overrides
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.report.blocks import Block
    from dptext.types import JsonObject


def command(
    profile: Annotated[str, options.PROFILE] = "balanced",
    *,
    risk: str,
    mechanism: Annotated[
        Text, "Mechanism with its default parameters, or all of them."
    ] = None,
    lexicon: Text = None,
    set_: options.Texts = None,
    attacker: Annotated[
        Text,
        "With --public-text: the risk is how often this attacker of whole texts "
        "finds a word, such as ngram. Default: same-kind, which counts one half of the "
        "public texts and reads the other half.",
    ] = None,
    public_text: Text = None,
    field: options.Texts = None,
    as_json: bool = False,
) -> None:
    """Find the epsilon of a mechanism for a given risk.

    All other settings are those of the profile. With --mechanism all, mechanisms that
    cannot be calibrated are listed with the reason. No text is read, except that of
    --public-text: then the risk is how often an attacker of these texts finds a word in
    context, by the upper limit of a 95% interval. A better attacker finds more.

    Example: dptext calibrate --risk 25% --public-text old-tickets.jsonl
    """
    from dptext import lexicons, progress
    from dptext import profile as profiles
    from dptext.evaluation import views
    from dptext.evaluation.attackers import PublicText, calibrate_by_attacker
    from dptext.measures.context_risk import AT_LEAST, SAME_KIND
    from dptext.report import calibration
    from dptext.report.blocks import Paragraph

    every = mechanism == "all"
    if attacker is not None and public_text is None:
        raise UsageError("--attacker goes with --public-text: what it reads")
    options.check_public_text(public_text, field)
    if every and public_text is not None:
        raise UsageError(
            "--mechanism all: --public-text is read for one mechanism; name it"
        )
    over = overrides(
        risk=risk,
        mechanism=None if every else mechanism,
        lexicon=lexicon,
        settings=set_,
    )
    recipe = profiles.load(profile, over)
    target = calibration.budget_risk(recipe)
    opened = lexicons.find(recipe.lexicon)
    data: JsonObject = {
        "profile": recipe.name,
        "target": target,
        "lexicon": opened.name,
        "lexicon_digest": opened.digest,
    }
    public = PublicText.named(public_text, field)
    if public is not None:
        name = attacker or SAME_KIND
        with progress.step(f"looking for the epsilon at which {name} reaches the risk"):
            epsilon, reading = calibrate_by_attacker(
                recipe=recipe,
                lexicon=opened,
                target=target,
                attacker=name,
                public=public,
            )
        data |= {"text": public.name, "text_sha256": public.digest}
        data |= {"epsilon": epsilon, "reading": reading}
        said = f"epsilon {epsilon:.4g}: {reading.attacker} finds in {public.name}"
        table = views.attackers_table(reading)
        blocks: list[Block] = [Paragraph(said), table, Paragraph(AT_LEAST, "note")]
    else:
        calibrations: Iterable[calibration.Calibration] = (
            calibration.every_mechanism(profile, over, opened)
            if every
            else [calibration.calibrated(recipe, opened)]
        )
        rows = []
        for row in calibrations:
            progress.say(calibration.line(row))
            rows.append(row)
        data["rows"] = rows
        blocks = [*calibration.view(recipe, target, rows)]
    screen.deliver(data, as_json, *blocks)
