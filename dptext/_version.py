"""The version of the program; a leaf, so that any module may import it."""

from __future__ import annotations

__version__ = "1.0.0"
