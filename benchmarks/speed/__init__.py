"""Speed and memory: docs/speed.md."""
