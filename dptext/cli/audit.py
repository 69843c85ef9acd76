"""`dptext audit`: tests a privacy claim, and the program against its formula."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Annotated

import msgspec
import typer

from dptext import calibration, lexicons, progress, registry, word_file
from dptext.cli import options, parser, screen
from dptext.engine import release_audit, words_audit
from dptext.errors import UsageError
from dptext.guarantees import audit
from dptext.profile import DEFAULT, FOR_PROGRAMS, Profile, load, shipped
from dptext.run.choices import Choices
from dptext.run.marks import Number, Option

EXAMPLES = ("dptext audit balanced", "dptext audit santext --epsilon 5 --json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """The sample size of an audit: words and draws."""

    inputs: Annotated[
        int,
        Option(
            "Number of input words in an exact audit.", parse=Number(kind=int, low=4)
        ),
    ] = 200
    runs: Annotated[
        int,
        Option(
            "Draws of each word of a pair, if there is no exact output distribution.",
            parse=Number(kind=int, low=100),
        ),
    ] = 20_000
    draws: Annotated[
        int,
        Option(
            "Draws to test the program with; more find smaller deviations.",
            parse=Number(kind=int, low=1000),
        ),
    ] = 4_000_000


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="PROFILE|MECHANISM",
            help="A profile, a .yaml file, a mechanism (with --epsilon), or a file "
            "of dptext words. A profile takes precedence over a mechanism of "
            f"the same name. Default: {DEFAULT}.",
        ),
    ] = None,
    *,
    choices: Annotated[
        Choices, parser.Take("epsilon mechanism lexicon overrides", is_typed=True)
    ],
    size: Sampling,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Test whether a claim is true and the program matches its formula.

    The claim is compared with the worst loss: exact if the output distribution has a
    closed form, a statistical lower bound for noise. If dptext claims nothing, the
    claim of the paper is tested.

    The program's draws are compared with the exact output distribution, or with the
    noise, with a false alarm in at most 1 of 1,000 audits.

    The release as a whole is tested by public texts: budget, prior of an attacker,
    random bits, nonces and decoder.

    Takes 20 seconds (rank, noise) to two minutes (santext, tem) on two cores. Ends with
    exit code 1 if the claim, the program or the release is refuted.
    """
    if name is not None and word_file.is_list(name):
        _audit_words(name, as_json=as_json)
        return
    recipe = _recipe(name or choices.name, choices)
    began = time.monotonic()
    progress.enable(not quiet, "audit: ")

    def tell(line: str) -> None:
        progress.say(f"{line} ({time.monotonic() - began:.0f} s so far)")

    with progress.step(f"preparing {recipe.mechanism.name}"):
        ready = calibration.build(recipe, lexicons.find(recipe.lexicon))
    finding = audit.audit(
        ready.mechanism,
        ready.budget.description.high,
        release_audit.draws(ready),
        inputs=size.inputs,
        runs=size.runs,
        number=size.draws,
        progress=tell,
    )
    nonces = min(max(size.draws // 15, 2**13), release_audit.NONCES)
    checks = release_audit.audit_release(ready, nonces=nonces, progress=tell)
    data = {
        "profile": ready.profile.name,
        "mechanism": ready.mechanism.name,
        "epsilon": ready.budget.description.high,
        "lexicon_digest": ready.lexicon.digest,
        **msgspec.to_builtins(finding),
        "release": msgspec.to_builtins(checks),
    }
    view = release_audit.view(finding, ready, checks)
    screen.deliver(data, as_json, view, infinite="infinite")
    if finding.failed or any(check.refuted for check in checks):
        raise typer.Exit(1)


def _audit_words(path: str, *, as_json: bool) -> None:
    """Audit a list of words that many people wrote."""
    finding = words_audit.audit_words(word_file.read(path))
    data = {**msgspec.to_builtins(finding), "refuted": finding.refuted}
    screen.deliver(data, as_json, finding.view)
    if finding.refuted:
        raise typer.Exit(1)


def _recipe(name: str, choices: Choices) -> Profile:
    """Return the settings of a profile or mechanism. Raises UsageError."""
    profiles, mechanisms = shipped(), registry.names("mechanisms")
    if name in profiles or name.endswith((".yaml", ".yml")):
        return load(name, choices.keys)
    if name not in mechanisms:
        hint = registry.suggest(name, (*profiles, *mechanisms))
        raise UsageError(
            f"no profile or mechanism named {name!r}; {hint} (or give the path of a "
            ".yaml file)"
        )
    if choices.mechanism is not None:
        raise UsageError(f"{name} is already a mechanism: leave --mechanism out")
    over = replace(choices, mechanism=name).keys
    if "budget" not in over:
        raise UsageError(f"{name} is a mechanism and needs an epsilon: give --epsilon")
    return load(FOR_PROGRAMS, over)
