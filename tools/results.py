"""Compute what ships for the built-in lexicon, so that users need not wait.

Writes dptext/data/tables: lists of nearest words and the like of the mechanisms that
need them; and dptext/data/results.json: epsilons, risks and public distances of the
shipped profiles, and of every mechanism with its default parameters at the risks that
`dptext compare` and `dptext calibrate` are mostly asked for, and the distances of
weighted vectors (`dptext embed --pool sif`). Each is keyed by lexicon
digest, space, parameters, prior and the number of its algorithm: what does not match is
computed by the user's program as though it were not there.

To be run after the built-in lexicon (after python -m tools.weights), a shipped
profile or one of the algorithms has changed; a test checks that every risk of a profile
comes from the file. About twenty minutes of processor time, half a minute of them for
the tables; needs nothing but the package:

    python -m tools.results [--tables]

--tables: the tables alone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dptext import (
    cache,
    calibration,
    lexicons,
    load_profile,
    open_pipeline,
    pipeline,
    registry,
)
from dptext.cli.compare import MECHANISMS
from dptext.errors import UsageError
from dptext.guarantees import statement
from dptext.guarantees.claims import RunTerms
from dptext.lexicons import topics
from dptext.measures import bayes_risk
from dptext.measures.public import measure_risk
from dptext.mechanisms import Family
from dptext.mechanisms.santext import SanText
from dptext.profile import load, shipped
from dptext.vectors import Pool, release

# The defaults of `dptext compare`; of other mechanisms only USUAL.
RISKS = (0.1, 0.2, 0.35)
USUAL = (0.2,)
# Mechanisms with public tables that ship, made for unchanged vectors.
TABLES = ("santext", "custext", "diffractor")


def main() -> None:
    """Write the tables, then the results unless only tables are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", action="store_true", help="the tables alone")
    arguments = parser.parse_args()
    tables()
    if not arguments.tables:
        results()


def tables() -> None:
    """Fill an empty cache folder with the tables of mechanisms, and take them over."""
    into = cache.shipped_tables()
    shutil.rmtree(into, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for mechanism in TABLES:
            over = {
                "mechanism": {"name": mechanism},
                "budget": {"name": "uniform", "epsilon": 10.0, "risk": None},
            }
            sanitizer = calibration.build(
                load("balanced", over), lexicons.find("builtin")
            )
            if isinstance(sanitizer.mechanism, SanText):
                sanitizer.mechanism.distribution.frequent.rows(np.zeros(1, np.int64))
        into.mkdir()
        for path in sorted((Path(folder) / "dptext").glob("*.arrays")):
            content = path.read_bytes().partition(b"\n")[2]
            (into / f"{path.stem}.npz").write_bytes(content)
            print(f"{path.stem}: {len(content):,} bytes")


def results() -> None:
    """Fill an empty cache folder, then gather what it holds, and the risks."""
    # The results shipped now must not stand in for a computation.
    cache.shipped = lambda key: None
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        kept = dict(_risks())
        _weighted()
        for path in sorted((Path(folder) / "dptext").glob("*.numbers")):
            kept[path.stem] = json.loads(path.read_bytes().partition(b"\n")[2])
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
    cache.shipped_file().write_text(text.replace('},"', '},\n"') + "\n")
    print(f"{len(kept)} results, {len(text)} bytes, {time.process_time():.0f} s CPU")


def _risks() -> list[tuple[str, dict[str, Any]]]:
    measured = []
    for name in shipped():
        recipe = load_profile(name)
        mechanism = recipe.mechanism.name
        if recipe.lexicon.startswith(topics.PREFIX):
            print(f"{name}: needs a file of topics")
        elif _reads_text(mechanism):
            print(f"{name}: needs a model")
        else:
            measured += _measured(name, open_pipeline(name))
    lexicon = lexicons.find("builtin")
    for mechanism in registry.names("mechanisms"):
        risks = RISKS if mechanism in MECHANISMS else USUAL
        for risk in () if _reads_text(mechanism) else risks:
            over = {
                "mechanism": {"name": mechanism},
                "mapping": None,
                "budget": {"name": "uniform", "epsilon": None, "risk": risk},
            }
            try:
                sanitizer = calibration.build(load("balanced", over), lexicon)
            except UsageError as error:
                print(f"{mechanism} at {risk}: {error}")
                continue
            measured += _measured(f"{mechanism} at {risk}", sanitizer)
    return measured


def _weighted() -> None:
    """Measure the distances of weighted vectors under Gaussian noise."""
    recipe = {"mechanism": "discrete-gaussian"}
    release.prepare(release.parse(recipe, {"pool": Pool.SIF.value}))


def _reads_text(mechanism: str) -> bool:
    family: Family = registry.find("mechanisms", mechanism).Params.family
    return family is Family.TEXTS


def _measured(
    name: str, sanitizer: pipeline.Pipeline
) -> list[tuple[str, dict[str, Any]]]:
    """Measure a pipeline's risk, and the distances that its report shows."""
    risk, note = measure_risk(sanitizer)
    statement.run_statement(
        sanitizer.profile,
        sanitizer.mechanism,
        sanitizer.budget.description,
        RunTerms(),
    )
    sanitizer.mechanism.space.translated()
    shown = note if risk is None else f"risk {risk.success:.3%}"
    spent = f"{time.process_time():.0f} s CPU so far"
    print(
        f"{name}: epsilon {sanitizer.budget.description.high:g}, {shown} ({spent})",
        flush=True,
    )
    if risk is None:
        return []
    words = bayes_risk.prior_of_replaced(sanitizer.lexicon, sanitizer.profile.tokens)
    mapping = sanitizer.profile.settings().get("mapping")
    key = bayes_risk.risk_key(
        sanitizer.mechanism, sanitizer.budget.description.high, words, True, mapping
    )
    return [(key, asdict(risk))]


if __name__ == "__main__":
    main()
