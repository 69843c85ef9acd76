"""Compute the weights of rank that ship: the best for risks with the built-in lexicon.

Writes dptext/data/rank_weights.json. To be run after the built-in lexicon has changed,
then benchmarks/ship_results.py. The priors are those of all words and of all but stop
words; what epsilon a table is made for, docs/rank.md says. Takes minutes; needs scipy.

    python benchmarks/ship_weights.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dptext
from dptext import lexicons, mechanisms, registry, spaces
from dptext.adversaries import best_law, calibrate, prior
from dptext.errors import UsageError
from dptext.mechanisms import rank
from dptext.spaces import Space
from dptext.tokens.policy import Policy
from dptext.types import Lexicon

RISKS = (
    *(0.03, 0.035, 0.04, 0.05, 0.065, 0.07, 0.08, 0.09, 0.1, 0.11, 0.125, 0.14, 0.15),
    *(0.16, 0.175, 0.19, 0.2, 0.225, 0.25, 0.275, 0.3, 0.325, 0.35, 0.375, 0.4),
    *(0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9),
)
UTILITY = "closeness"
PRIORS = {"all words": Policy(), "all but stop words": Policy(stop_word="keep")}


def laws(lexicon: Lexicon, space: Space, policy: Policy) -> Iterator[dict[str, Any]]:
    """Solve for each risk that a guess without any output does not have already."""
    words = prior.replaced(lexicon, policy)
    given = best_law.problem(rank.Params(), space, words, UTILITY)
    for risk in RISKS:
        if risk < 1.1 * words.max():
            continue
        law = best_law.find(given, None, risk)
        channel = mechanisms.ready("rank", rank, law.params, space)
        try:
            epsilon = calibrate.epsilon_for(channel, risk, words)
        except UsageError:
            print(f"{risk:.3g}: out of reach")
            continue
        found = best_law.achieved(channel, words, epsilon, UTILITY)
        print(
            f"{risk:.3g}: for {law.epsilon:g} nats {law.worth:.4f}, with rounded steps "
            f"{epsilon:g} {found:.4f} {law.params.steps}",
            flush=True,
        )
        yield {
            "risk": risk,
            "epsilon": epsilon,
            "closeness": round(found, 4),
            "steps": law.params.steps,
        }


def written(digest: str, tables: dict[str, list[dict[str, Any]]]) -> str:
    """Write the tables as JSON, one law a line."""
    about = (
        "Weights of the mechanism rank by risk (docs/rank.md); steps: [last rank, part "
        "of epsilon]. Made by benchmarks/ship_weights.py from the built-in lexicon."
    )
    lines = [
        f'{{"about": {json.dumps(about)},',
        f'"lexicon": "{digest}",',
        '"tables": [',
    ]
    for number, (words, rows) in enumerate(tables.items()):
        lines.append(f'{"," if number else ""}{{"words": "{words}", "weights": [')
        told = [json.dumps(row, separators=(",", ":")) for row in rows]
        lines += [",\n".join(told), "]}"]
    return "\n".join([*lines, "]}", ""])


def main() -> None:
    """Solve for each prior and write the file."""
    lexicon = lexicons.find("builtin")
    module = registry.find("spaces", "identity")
    space = spaces.prepare(lexicon, "identity", module.Params())
    found = {
        name: list(laws(lexicon, space, policy)) for name, policy in PRIORS.items()
    }
    path = Path(dptext.__file__).parent / "data" / "rank_weights.json"
    path.write_text(written(lexicon.digest, found), encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
