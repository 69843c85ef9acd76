"""Speed and memory: docs/results/speed.md."""
