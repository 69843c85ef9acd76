"""Word-level differential privacy for text. Imports nothing heavy."""

from __future__ import annotations

__version__ = "0.1.0"
