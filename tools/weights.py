"""Compute the weights of rank that ship: the best for the built-in lexicon by risk.

Writes dptext/data/rank_weights.json. To be run after the built-in lexicon has changed,
then python -m tools.results. The priors are those of all words and of all but stop
words; docs/results/rank.md names the epsilon that weights are made for. Takes minutes;
needs scipy.

    python -m tools.weights
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dptext
from dptext import lexicons, registry, spaces
from dptext.errors import UsageError
from dptext.measures import bayes_risk, calibrate
from dptext.mechanisms import Aim, rank
from dptext.spaces import Space
from dptext.tokens.policy import Policy
from dptext.types import Lexicon
from tools import best_weights

# fmt: off
RISKS = (
    0.03, 0.035, 0.04, 0.05, 0.065, 0.07, 0.08, 0.09, 0.1, 0.11, 0.125, 0.14, 0.15,
    0.16, 0.175, 0.19, 0.2, 0.225, 0.25, 0.275, 0.3, 0.325, 0.35, 0.375, 0.4,
    0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9,
)
# fmt: on
UTILITY = "closeness"
PRIORS = {"all words": Policy(), "all but stop words": Policy(stop_word="keep")}


def solved(lexicon: Lexicon, space: Space, policy: Policy) -> Iterator[dict[str, Any]]:
    """Solve for each risk that a guess without any output does not have already."""
    words = bayes_risk.prior_of_replaced(lexicon, policy)
    problem = best_weights.problem(rank.Params(), space, words, UTILITY)
    least = 0.0  # a larger risk takes no smaller epsilon
    for risk in RISKS:
        if risk < 1.1 * words.max():
            continue
        best = best_weights.find(problem, None, risk, least=least)
        least = best.epsilon
        mechanism = best.params.prepare(space, Aim())
        try:
            epsilon = calibrate.epsilon_for(mechanism, risk, words)
        except UsageError:
            print(f"{risk:.3g}: cannot be met")
            continue
        closeness = best_weights.achieved(mechanism, words, epsilon, UTILITY)
        print(
            f"{risk:.3g}: for {best.epsilon:g} nats {best.worth:.4f}, with rounded "
            f"steps {epsilon:g} {closeness:.4f} {best.params.steps}",
            flush=True,
        )
        yield {
            "risk": risk,
            "epsilon": epsilon,
            "closeness": round(closeness, 4),
            "steps": best.params.steps,
        }


def as_json(digest: str, tables: dict[str, list[dict[str, Any]]]) -> str:
    """Write the tables as JSON, one a line."""
    about = (
        "Weights of the mechanism rank by risk (docs/results/rank.md); steps: "
        "[last rank, part of epsilon]. Made by python -m tools.weights from the "
        "built-in lexicon."
    )
    lines = [
        f'{{"about": {json.dumps(about)},',
        f'"lexicon": "{digest}",',
        '"tables": [',
    ]
    for number, (words, rows) in enumerate(tables.items()):
        lines.append(f'{"," if number else ""}{{"words": "{words}", "weights": [')
        written = [json.dumps(row, separators=(",", ":")) for row in rows]
        lines += [",\n".join(written), "]}"]
    return "\n".join([*lines, "]}", ""])


def main() -> None:
    """Solve for each prior and write the file."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    lexicon = lexicons.find("builtin")
    identity = registry.find("spaces", "identity")
    space = spaces.prepare(lexicon, "identity", identity.Params())
    tables = {
        name: list(solved(lexicon, space, policy)) for name, policy in PRIORS.items()
    }
    path = Path(dptext.__file__).parent / "data" / "rank_weights.json"
    path.write_text(as_json(lexicon.digest, tables), encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
