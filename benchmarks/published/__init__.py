"""The published tables, measured again: docs/replication.md."""
