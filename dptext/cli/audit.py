"""`dptext audit`: whether a claim is true and the program does what is claimed."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import options, screen
from dptext.cli.faults import say
from dptext.cli.options import overrides
from dptext.cli.values import Number
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.guarantees.audit import AuditResult
    from dptext.pipeline import Pipeline
    from dptext.types import JsonObject

# CPU seconds of the losses of a pair of words, and of a draw, on one core.
_PAIR, _WORD, _POINT = 3e-8, 4e-6, 3e-5


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="PROFILE|MECHANISM",
            help="A profile, a .yaml file, or a mechanism (with --epsilon). If both "
            "have the same name, the profile is meant.",
        ),
    ] = "balanced",
    epsilon: options.Epsilon = None,
    mechanism: options.Mechanism = None,
    lexicon: options.Lexicon = None,
    set_: options.Set = None,
    inputs: Annotated[
        int,
        typer.Option(
            parser=Number(int, 4), help="Number of input words in an exact audit."
        ),
    ] = 200,
    runs: Annotated[
        int,
        typer.Option(
            parser=Number(int, 100),
            help="Draws of each word of a pair, if there is no exact output "
            "distribution.",
        ),
    ] = 20_000,
    draws: Annotated[
        int,
        typer.Option(
            parser=Number(int, 1000),
            help="Draws to test the program with; more find smaller deviations.",
        ),
    ] = 4_000_000,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Test whether a claim is true, and whether the program keeps to its formula.

    The claim is compared with the worst loss: exact if the output distribution has a
    closed form, a statistical lower bound for noise. If dptext claims nothing, the
    claim of the paper is tested.

    The program's draws are compared with the exact output distribution, or with the
    noise, with a false alarm in at most 1 of 1,000 audits.

    Takes 15 seconds (rank, noise) to two minutes (santext, tem) on two cores. Ends with
    exit code 1 if the claim or the program is refuted.
    """
    from dptext import lexicons, pipeline, progress
    from dptext import profile as profiles
    from dptext.guarantees import audit
    from dptext.report import audit as audits

    over = overrides(
        epsilon=epsilon, mechanism=mechanism, lexicon=lexicon, settings=set_
    )
    name, over = _resolved(name, over)
    began = time.monotonic()

    def tell(line: str) -> None:
        if not quiet:
            say(f"audit: {line} ({time.monotonic() - began:.0f} s so far)")

    recipe = profiles.load(name, over)
    preparing = f"audit: preparing {recipe.mechanism.name}"
    with contextlib.nullcontext() if quiet else progress.step(preparing):
        ready = pipeline.build(recipe, lexicons.find(recipe.lexicon))
    if ready.budget.description.kind != "word":
        raise UsageError("audit takes an epsilon per word: give --epsilon")
    tell(f"about {_seconds(ready, inputs, runs, draws):.0f} s of one core are left")
    finding = audit.audit(
        ready.mechanism,
        ready.budget.description.high,
        audits.draws(ready),
        inputs=inputs,
        runs=runs,
        number=draws,
        progress=tell,
    )
    if as_json:
        _print_json(finding, ready)
    else:
        screen.show(audits.view(finding, ready))
    if finding.failed:
        raise typer.Exit(1)


def _resolved(name: str, over: JsonObject) -> tuple[str, JsonObject]:
    """Turn the name of a mechanism into the profile of it alone.

    Raises UsageError for a name that is neither, and for a mechanism with no epsilon.
    """
    from dptext import profile, registry

    if Path(name).suffix in (".yaml", ".yml") or name in profile.shipped():
        return name, over
    mechanisms = registry.names("mechanisms")
    if name not in mechanisms:
        known = tuple(sorted({*profile.shipped(), *mechanisms}))
        raise UsageError(
            f"no profile or mechanism named {name!r}; {registry.suggest(name, known)}, "
            "or the path of a .yaml file"
        )
    settings = over.get("mechanism", {})
    if not isinstance(settings, dict) or "name" in settings:
        raise UsageError(
            f"audit {name}: this is a mechanism already; leave out --mechanism"
        )
    if "budget" not in over:
        raise UsageError(
            f"audit {name}: a mechanism has no epsilon of its own; give --epsilon"
        )
    over = {"mapping": None, **over, "mechanism": {**settings, "name": name}}
    return profile.DEFAULT, over


def _seconds(pipeline: Pipeline, inputs: int, runs: int, draws: int) -> float:
    """Estimate the CPU seconds of an audit."""
    from dptext.mechanisms import ExponentialMechanism, NoiseMechanism

    mechanism, size = pipeline.mechanism, pipeline.mechanism.space.size
    if isinstance(mechanism, NoiseMechanism):
        points = draws / 10 + 8 * size + 20 * runs
        return 2.0 + _POINT * points
    pairs = size if isinstance(mechanism, ExponentialMechanism) else 6 * inputs
    return 1.0 + _PAIR * pairs * size + _WORD * (draws + 48 * size)


def _print_json(finding: AuditResult, pipeline: Pipeline) -> None:
    import msgspec

    head = {
        "profile": pipeline.profile.name,
        "mechanism": pipeline.mechanism.name,
        "epsilon": pipeline.budget.description.high,
        "lexicon_digest": pipeline.lexicon.digest,
    }
    screen.print_json({**head, **msgspec.to_builtins(finding)}, infinite="infinite")
