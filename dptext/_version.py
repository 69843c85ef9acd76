"""The version of the program; imports nothing, so any module may import it."""

from __future__ import annotations

__version__ = "1.0.0"
