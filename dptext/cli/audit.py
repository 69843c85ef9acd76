"""`dptext audit`: whether a claim is true and the program does what is claimed."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from dptext.cli import options, screen
from dptext.cli.options import Number, Text, overrides
from dptext.errors import UsageError


def command(
    name: Annotated[
        str,
        "PROFILE|MECHANISM",
        "A profile, a .yaml file, or a mechanism (with --epsilon). If both have the "
        "same name, the profile is meant.",
    ] = "balanced",
    *,
    epsilon: options.Epsilon = None,
    mechanism: Text = None,
    lexicon: Text = None,
    set_: options.Texts = None,
    inputs: Annotated[
        int, Number(int, 4), "Number of input words in an exact audit."
    ] = 200,
    runs: Annotated[
        int,
        Number(int, 100),
        "Draws of each word of a pair, if there is no exact output distribution.",
    ] = 20_000,
    draws: Annotated[
        int,
        Number(int, 1000),
        "Draws to test the program with; more find smaller deviations.",
    ] = 4_000_000,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """Test whether a claim is true, and whether the program keeps to its formula.

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
    import msgspec

    from dptext import lexicons, pipeline, progress, registry
    from dptext import profile as profiles
    from dptext.engine import audit as audits
    from dptext.engine import release_audit
    from dptext.guarantees import audit

    shipped, mechanisms = profiles.shipped(), registry.names("mechanisms")
    alone = name not in shipped and name in mechanisms
    if not alone and name not in shipped and not name.endswith((".yaml", ".yml")):
        hint = registry.suggest(name, (*shipped, *mechanisms))
        raise UsageError(
            f"no profile or mechanism named {name!r}; {hint} (or give the path of a "
            ".yaml file)"
        )
    if alone and mechanism is not None:
        raise UsageError(f"{name} is a mechanism already: leave out --mechanism")
    over = overrides(
        epsilon=epsilon,
        mechanism=name if alone else mechanism,
        lexicon=lexicon,
        settings=set_,
    )
    if alone and "budget" not in over:
        raise UsageError(f"{name} is a mechanism, without an epsilon: give --epsilon")
    began = time.monotonic()
    progress.enable(not quiet, "audit: ")

    def tell(line: str) -> None:
        progress.say(f"{line} ({time.monotonic() - began:.0f} s so far)")

    recipe = profiles.load(profiles.DEFAULT if alone else name, over)
    with progress.step(f"preparing {recipe.mechanism.name}"):
        ready = pipeline.build(recipe, lexicons.find(recipe.lexicon))
    finding = audit.audit(
        ready.mechanism,
        ready.budget.description.high,
        audits.draws(ready),
        inputs=inputs,
        runs=runs,
        number=draws,
        progress=tell,
    )
    nonces = min(max(draws // 15, 2**13), release_audit.NONCES)
    checks = release_audit.audit_release(ready, nonces=nonces, progress=tell)
    data = {
        "profile": ready.profile.name,
        "mechanism": ready.mechanism.name,
        "epsilon": ready.budget.description.high,
        "lexicon_digest": ready.lexicon.digest,
        **msgspec.to_builtins(finding),
        "release": msgspec.to_builtins(checks),
    }
    view = audits.view(finding, ready, checks)
    screen.deliver(data, as_json, view, infinite="infinite")
    if finding.failed or any(check.refuted for check in checks):
        raise typer.Exit(1)
