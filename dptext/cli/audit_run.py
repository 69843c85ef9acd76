"""What `dptext audit` does with its options."""

from __future__ import annotations

import math
from typing import Any

import msgspec
from rich.table import Table

from dptext import lexicons, pipeline, profile
from dptext.cli import screen
from dptext.errors import UsageError
from dptext.guarantees import audit
from dptext.report import assemble


def run(
    name: str, over: dict[str, Any], inputs: int, runs: int, as_json: bool
) -> audit.Finding:
    """Audit a profile and print what was found."""
    recipe = profile.load(name, over)
    made = pipeline.build(recipe, lexicons.find(recipe.lexicon))
    if made.spending.kind != "word":
        msg = "audit takes an epsilon per word: give --epsilon"
        raise UsageError(msg)
    epsilon = made.spending.high
    draw = assemble.public_draw(made, epsilon)
    found = audit.audit(made.channel, epsilon, draw, inputs=inputs, runs=runs)
    if as_json:
        print(msgspec.json.format(_plain(found, made, epsilon), indent=2).decode())  # noqa: T201
    else:
        _show(found, made, epsilon)
    return found


def _plain(found: audit.Finding, made: pipeline.Pipeline, epsilon: float) -> bytes:
    head = {
        "profile": made.profile.name,
        "mechanism": made.channel.name,
        "epsilon": epsilon,
        "lexicon_digest": made.lexicon.digest,
    }
    return msgspec.json.encode({**head, **_finite(msgspec.to_builtins(found))})


def _finite(data: dict[str, Any]) -> dict[str, Any]:
    """Write infinite numbers as a word: JSON has none."""
    out: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            out[key] = _finite(value)
        else:
            infinite = isinstance(value, float) and math.isinf(value)
            out[key] = "infinite" if infinite else value
    return out


def _show(found: audit.Finding, made: pipeline.Pipeline, epsilon: float) -> None:
    table = Table(box=None, show_header=False, padding=(0, 2))
    promise = made.channel.module.guarantee(made.channel.state, epsilon)
    claim = (
        f"none: {promise.reason}"
        if promise.notion == "none"
        else f"{promise.notion}, epsilon {epsilon:g}, distance {promise.metric}"
    )
    table.add_row("Claim", f"{made.channel.name}: {claim}")
    table.add_row("Method", f"{found.method} ({found.pairs:,} ordered pairs)")
    bound = "at least " if found.confidence else ""
    proven = found.proven is not None and found.worst == found.proven
    if not proven:
        table.add_row("Worst loss", bound + _worst(found))
    if found.proven is not None and found.proven_pair is not None:
        least = "infinite" if math.isinf(found.proven) else _at_least(found.proven)
        table.add_row("Proven loss", f"{least}: {_against(found.proven_pair)}")
    if proven and found.sampled is not None and found.sampled_pair is not None:
        shown = f"{_at_least(found.sampled)}: {_against(found.sampled_pair)}"
        table.add_row("By samples", f"{shown}, by {found.sampled_output!r}")
    if found.claims:
        shown = f"{bound}{found.ratio:.6g}: {_against(found.ratio_pair)}"
        table.add_row("Worst loss over claim", shown)
    table.add_row("Infinite losses", f"{found.infinite:.2%} of pairs")
    if found.confidence:
        table.add_row("Confidence", f"{found.confidence:.0%}, all limits together")
    table.add_row("Verdict", _verdict(found))
    screen.console().print(table)


def _worst(found: audit.Finding) -> str:
    shown = f"{_nats(found.worst)}: {_against(found.worst_pair)}"
    claim = ""
    if found.claims:
        claim = f" (claimed at most {_nats(found.claim_of_worst)})"
    return f"{shown}, by the output {found.worst_output!r}{claim}"


def _verdict(found: audit.Finding) -> str:
    if found.refuted:
        return "REFUTED: a pair of words loses more than is claimed"
    if found.claims and found.confidence:
        return "not refuted (samples cannot prove a claim)"
    if found.claims:
        return "holds for every pair that was audited"
    stated = found.published
    if stated is None:
        return "nothing is claimed; the losses above are what there is"
    if not stated.refuted:
        return (
            "the published claim is not refuted by this audit; dptext itself claims "
            "nothing here"
        )
    exact = stated.by == "exact losses" or math.isinf(stated.loss)
    loss = _nats(stated.loss) if exact else _at_least(stated.loss)
    return (
        f"the published claim is refuted: the loss of {_against(stated.pair)} is "
        f"{loss}, claimed are at most {_nats(stated.bound)} ({stated.source}; by "
        f"{stated.by}); dptext itself claims nothing here"
    )


def _against(pair: tuple[str, str]) -> str:
    return f"{pair[0]!r} against {pair[1]!r}"


def _at_least(value: float) -> str:
    return f"at least {_nats(value)}"


def _nats(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:.6g} nats"
