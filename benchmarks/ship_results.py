"""Compute what ships for the built-in lexicon, so that users need not wait.

Writes dptext/data/tables: lists of nearest words and the like of the mechanisms that
need them; and dptext/data/results.json: epsilons, risks and public distances of the
shipped profiles, and of every mechanism with its default parameters at the risks that
`dptext compare` and `dptext calibrate` are mostly asked for. Each is keyed by lexicon
digest, space, parameters, prior and the number of its algorithm: what does not match is
computed by the user's program as though it were not there.

To be run after the built-in lexicon (after benchmarks/ship_weights.py), a shipped
profile or one of the algorithms has changed; a test checks that every risk of a profile
comes from the file. About twenty minutes of processor time, half a minute of them for
the tables; needs nothing but the package:

    python benchmarks/ship_results.py [--tables]

--tables: the tables alone.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dptext import cache, lexicons, load_profile, open_pipeline, pipeline, registry
from dptext.cli.compare import MECHANISMS
from dptext.errors import UsageError
from dptext.guarantees import account
from dptext.measures import bayes_risk, prior
from dptext.measures.public import risk_of
from dptext.profile import load, shipped

# What `dptext compare` asks for unless told otherwise; of other mechanisms only USUAL.
RISKS = (0.1, 0.2, 0.35)
USUAL = (0.2,)
# Mechanisms whose public tables ship, made for the vectors as they are.
TABLES = ("santext", "custext", "diffractor")


def main() -> None:
    """Write the tables, then the results unless only tables are asked for."""
    tables()
    if sys.argv[1:] != ["--tables"]:
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
            made = pipeline.build(load("balanced", over), lexicons.find("builtin"))
            if mechanism == "santext":
                made.mechanism.state.near.frequent.rows(np.zeros(1, np.int64))
        into.mkdir()
        for path in sorted((Path(folder) / "dptext").glob("*.arrays")):
            content = path.read_bytes().partition(b"\n")[2]
            (into / f"{path.stem}.npz").write_bytes(content)
            print(f"{path.stem}: {len(content):,} bytes")


def results() -> None:
    """Fill an empty cache folder, then gather what it holds, and the risks."""
    # What ships now must not answer in place of a computation.
    cache.shipped = lambda key: None
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        kept = dict(_risks())
        for path in sorted((Path(folder) / "dptext").glob("*.numbers")):
            kept[path.stem] = json.loads(path.read_bytes().partition(b"\n")[2])
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
    cache.shipped_file().write_text(text.replace('},"', '},\n"') + "\n")
    print(f"{len(kept)} results, {len(text)} bytes, {time.process_time():.0f} s CPU")


def _risks() -> list[tuple[str, dict[str, Any]]]:
    found = []
    for name in shipped():
        mechanism = load_profile(name).mechanism.name
        if _context(mechanism):
            print(f"{name}: needs a model")
        else:
            found += _measured(name, open_pipeline(name))
    lexicon = lexicons.find("builtin")
    for mechanism in registry.names("mechanisms"):
        risks = RISKS if mechanism in MECHANISMS else USUAL
        for risk in () if _context(mechanism) else risks:
            over = {
                "mechanism": {"name": mechanism},
                "mapping": None,
                "budget": {"name": "uniform", "epsilon": None, "risk": risk},
            }
            try:
                made = pipeline.build(load("balanced", over), lexicon)
            except UsageError as error:
                print(f"{mechanism} at {risk}: {error}")
                continue
            found += _measured(f"{mechanism} at {risk}", made)
    return found


def _context(mechanism: str) -> bool:
    return bool(registry.find("mechanisms", mechanism).FAMILY == "context")


def _measured(name: str, made: pipeline.Pipeline) -> list[tuple[str, dict[str, Any]]]:
    """Measure a pipeline's risk, and the distances that its report shows."""
    risk, note = risk_of(made)
    account.statement(
        made.profile,
        made.mechanism,
        made.budget.description,
        key="system",
        lexicon_given=False,
        identified=False,
        fields=None,
    )
    made.mechanism.space.translated()
    told = note if risk is None else f"risk {risk.success:.3%}"
    spent = f"{time.process_time():.0f} s CPU so far"
    print(
        f"{name}: epsilon {made.budget.description.high:g}, {told} ({spent})",
        flush=True,
    )
    if risk is None:
        return []
    words = prior.replaced(made.lexicon, made.profile.tokens)
    mapping = made.profile.settings().get("mapping")
    key = bayes_risk.key_of(
        made.mechanism, made.budget.description.high, words, True, mapping
    )
    return [(key, asdict(risk))]


if __name__ == "__main__":
    main()
