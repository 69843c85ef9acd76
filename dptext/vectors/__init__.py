"""Texts become noisy vectors: `dptext embed`.

settings -> VectorRelease (`release.of`): all public work, the mechanism made ready
records  -> `VectorRelease.rows`: encode (encoders) -> position -> noise, on a grid
rows     -> `columns`: .npy, .npz or .parquet (`job` for files)
beside the path: `statement` (figures and sentences of the promise) and `measures` (on
public words or texts); both go into the report of dptext.report.
"""

from __future__ import annotations
