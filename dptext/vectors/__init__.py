"""Texts become noisy vectors: `dptext embed`.

settings -> Release (`release.of`): all public work, the mechanism made ready
records  -> `Release.rows`: encode (encoders) -> position -> noise, on a grid
rows     -> `columns`: .npy, .npz, .parquet or .arrow
beside the path: `claims` (figures), `statement` (sentences), `measures` (on public
words or texts), `document`, `panel` and `page` (the report), `verify` (for check).
"""

from __future__ import annotations
