"""Experiments and measurements: `python -m benchmarks` lists them."""
