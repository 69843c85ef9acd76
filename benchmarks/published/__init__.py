"""The published tables, measured again: docs/results/replication.md."""
