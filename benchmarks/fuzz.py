"""Give every reader bytes that are nearly right, for as long as one likes.

    python -m benchmarks fuzz --examples 20000 --seed 3
    python -m benchmarks fuzz --target report --atheris    # pip install atheris

An exception other than those of dptext ends it, with the bytes that it came from.
"""

from __future__ import annotations

import argparse
import sys

from hypothesis import HealthCheck, given, seed, settings

from tests.faults import fuzzing


def by_hypothesis(name: str, examples: int, start: int) -> None:
    """Change right bytes in a few places."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(fuzzing.nearly(fuzzing.TARGETS[name][1]()))
    def run(data: bytes) -> None:
        fuzzing.hold(name, data)

    seed(start)(run)()


def by_atheris(name: str) -> None:
    """Follow what bytes reach new code, until interrupted."""
    import atheris

    atheris.instrument_all()
    atheris.Setup(sys.argv[:1], lambda data: fuzzing.hold(name, data))
    atheris.Fuzz()


def main() -> None:
    """Fuzz one target or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", choices=list(fuzzing.TARGETS))
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--atheris", action="store_true")
    options = parser.parse_args()
    for name in [options.target] if options.target else fuzzing.TARGETS:
        if options.atheris:
            by_atheris(name)
        by_hypothesis(name, options.examples, options.seed)
        print(f"{name}: {options.examples} examples")


if __name__ == "__main__":
    main()
