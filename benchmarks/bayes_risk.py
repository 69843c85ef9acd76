"""How far apart the limits of a sampled risk are, and what measuring takes.

For each profile: epsilon at the risk, the limits, the success of the best guess of a
word in each frequency band, and the seconds of calibrating and of measuring, with
nothing kept from earlier runs.

    python -m benchmarks bayes_risk [--risk 0.2] [--lexicon builtin] [PROFILE ...]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time

from dptext import cache, lexicons, pipeline, profile
from dptext.measures import public

PROFILES = ("balanced", "cmp", "mahalanobis", "gaussian", "comparative-vickrey")


def main() -> None:
    """Print a line for each profile."""
    parser = argparse.ArgumentParser()
    parser.add_argument("profiles", nargs="*", default=PROFILES)
    parser.add_argument("--risk", type=float, default=0.2)
    parser.add_argument("--lexicon", default="builtin")
    arguments = parser.parse_args()
    lexicon = lexicons.find(arguments.lexicon)
    budget = {"name": "uniform", "risk": arguments.risk, "epsilon": None}
    print("profile               epsilon    low  success  calibrate  measure  bands")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        cache.shipped = lambda key: None
        for name in arguments.profiles:
            began = time.perf_counter()
            sanitizer = pipeline.build(profile.load(name, {"budget": budget}), lexicon)
            built = time.perf_counter()
            risk, _ = public.risk_of(sanitizer)
            ended = time.perf_counter()
            assert risk is not None
            low = risk.success if risk.low is None else risk.low
            bands = " ".join(f"{band.success:.1%}" for band in risk.bands)
            print(
                f"{name:20} {sanitizer.budget.description.high:8.4g} {low:6.2%} "
                f"{risk.success:8.2%} "
                f"{built - began:10.1f} {ended - built:8.1f}  {bands}"
            )


if __name__ == "__main__":
    main()
