"""What `dptext audit` does with its options."""

from __future__ import annotations

import math
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from dptext import lexicons, pipeline, profile
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
    data = msgspec.to_builtins(found)
    for key, value in data.items():
        if isinstance(value, float) and math.isinf(value):
            data[key] = "infinite"
    head = {
        "profile": made.profile.name,
        "mechanism": made.channel.name,
        "epsilon": epsilon,
        "lexicon_digest": made.lexicon.digest,
    }
    return msgspec.json.encode({**head, **data})


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
    x, other = found.worst_pair
    bound = "at least " if found.confidence else ""
    table.add_row(
        "Worst loss",
        f"{bound}{_nats(found.worst)}: {x!r} against {other!r}, by the output "
        f"{found.worst_output!r} (claimed at most {_nats(found.claim_of_worst)})",
    )
    x, other = found.ratio_pair
    table.add_row(
        "Worst loss over claim", f"{bound}{found.ratio:.6g}: {x!r} against {other!r}"
    )
    table.add_row("Infinite losses", f"{found.infinite:.2%} of pairs")
    if found.confidence:
        table.add_row("Confidence", f"{found.confidence:.0%}, all limits together")
    table.add_row("Verdict", _verdict(found))
    Console().print(table)


def _verdict(found: audit.Finding) -> str:
    if not found.claims:
        return "nothing is claimed; the losses above are what there is"
    if found.refuted:
        return "REFUTED: a pair of words loses more than is claimed"
    if found.confidence:
        return "not refuted (samples cannot prove a claim)"
    return "holds for every pair that was audited"


def _nats(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:.6g} nats"
