"""What `dptext audit` does with its options."""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from rich.table import Table

from dptext import lexicons, pipeline, profile, registry
from dptext import progress as steps
from dptext.cli import screen
from dptext.cli.faults import say
from dptext.errors import UsageError
from dptext.guarantees import audit
from dptext.report import audit_draws

# CPU seconds of the losses of a pair of words, and of a draw, on one core.
_PAIR, _WORD, _POINT = 3e-8, 4e-6, 3e-5


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is looked at: chosen inputs, draws of pairs, draws of the program."""

    inputs: int
    runs: int
    draws: int


def resolved(name: str, over: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Turn the name of a mechanism into the profile of it alone.

    Raises UsageError for a name that is neither, and for a mechanism with no epsilon.
    """
    if Path(name).suffix in (".yaml", ".yml") or name in profile.shipped():
        return name, over
    mechanisms = registry.names("mechanisms")
    if name not in mechanisms:
        known = tuple(sorted({*profile.shipped(), *mechanisms}))
        msg = (
            f"no profile or mechanism named {name!r}; {registry.suggest(name, known)}, "
            "or the path of a .yaml file"
        )
        raise UsageError(msg)
    if "name" in over.get("mechanism", {}):
        msg = f"audit {name}: this is a mechanism already; leave out --mechanism"
        raise UsageError(msg)
    if "budget" not in over:
        msg = f"audit {name}: a mechanism has no epsilon of its own; give --epsilon"
        raise UsageError(msg)
    settings = {**over.get("mechanism", {}), "name": name}
    return profile.DEFAULT, {"mapping": None, **over, "mechanism": settings}


def run(
    name: str, over: dict[str, Any], effort: Effort, as_json: bool, quiet: bool
) -> audit.Finding:
    """Audit a profile and print the result."""
    begun = time.monotonic()

    def progress(line: str) -> None:
        if not quiet:
            say(f"audit: {line} ({time.monotonic() - begun:.0f} s so far)")

    recipe = profile.load(name, over)
    preparing = f"audit: preparing {recipe.mechanism.name}"
    with contextlib.nullcontext() if quiet else steps.step(preparing):
        made = pipeline.build(recipe, lexicons.find(recipe.lexicon))
    if made.budget.description.kind != "word":
        msg = "audit takes an epsilon per word: give --epsilon"
        raise UsageError(msg)
    progress(f"about {_seconds(made, effort):.0f} s of one core are left")
    epsilon = made.budget.description.high
    result = audit.audit(
        made.channel,
        epsilon,
        audit_draws.of(made),
        inputs=effort.inputs,
        runs=effort.runs,
        number=effort.draws,
        progress=progress,
    )
    if as_json:
        print(msgspec.json.format(_plain(result, made, epsilon), indent=2).decode())  # noqa: T201
    else:
        _show(result, made, epsilon)
    return result


def _seconds(made: pipeline.Pipeline, effort: Effort) -> float:
    """Estimate the CPU seconds of an audit."""
    module, size = made.channel.module, made.channel.space.size
    if module.FAMILY == "noise":
        points = effort.draws / 10 + 8 * size + 20 * effort.runs
        return 2.0 + _POINT * points
    pairs = size if getattr(module, "METRIC_LAW", False) else 6 * effort.inputs
    return 1.0 + _PAIR * pairs * size + _WORD * (effort.draws + 48 * size)


def _plain(found: audit.Finding, made: pipeline.Pipeline, epsilon: float) -> bytes:
    head = {
        "profile": made.profile.name,
        "mechanism": made.channel.name,
        "epsilon": epsilon,
        "lexicon_digest": made.lexicon.digest,
    }
    return msgspec.json.encode({**head, **_finite(msgspec.to_builtins(found))})


def _finite(value: Any) -> Any:
    """Write infinite numbers as a word: JSON has none."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    infinite = isinstance(value, float) and math.isinf(value)
    return "infinite" if infinite else value


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
        shown = f"{found.confidence:.1%} for what samples show, all limits together"
        table.add_row("Confidence", shown)
    table.add_row("Claim against formula", _verdict(found))
    _show_program(table, found.program)
    screen.console().print(table)


def _show_program(table: Table, program: audit.Program | None) -> None:
    if program is None:
        return
    table.add_row("Program against formula", _program_verdict(program))
    for line in _power(program):
        table.add_row("Would have been found", line)
    if program.untested:
        table.add_row("Not tested", "; ".join(program.untested))


def _program_verdict(program: audit.Program) -> str:
    if not program.tested:
        return f"not tested: {program.method}"
    tests = (
        f"{program.tests:,} tests of {program.draws:,} draws at epsilon "
        f"{' and '.join(f'{value:.4g}' for value in program.epsilons)} "
        f"({program.method}); false alarms in at most {program.alarm:.1%} of audits"
    )
    if program.deviation is None:
        return f"no deviation in {tests}"
    worst = program.deviation
    return (
        f"REFUTED: {worst.event}: {worst.count:,} of {worst.draws:,} draws, expected "
        f"are {worst.probability * worst.draws:.4g} (chance {worst.p_value:.1e}); "
        f"{tests}"
    )


def _power(program: audit.Program) -> list[str]:
    """Say what would have been found with 95% power, the sharpest of each kind."""
    best: dict[str, audit.Power] = {}
    for each in program.power:
        kind = each.event.partition(", epsilon")[0]
        if kind not in best or each.smallest < best[kind].smallest:
            best[kind] = each
    return [
        f"{each.event}: {each.smallest:.2g} "
        + ("is enough" if each.missing else f"above its {each.probability:.2g}")
        for each in best.values()
    ]


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
        return "not refuted (chosen pairs and samples cannot prove a claim)"
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
