"""Releases of a small lexicon, and records for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dptext.guarantees.statement import Statement
from dptext.types import Record
from dptext.vectors import release, statement
from dptext.vectors.release import VectorRelease
from tests.cli.running import lexicon

MECHANISMS = (
    "laplace",
    "mahalanobis",
    "gaussian",
    "privemb",
    "discrete-gaussian",
    "discrete-laplace",
    "privunit",
)
TEXTS = (
    "the film was good and the story old",
    "",
    "bread",
    "zqx very very sad, 47 rivers! " * 3,
    "music " * 700,
    "not good. Not bad.",
)


def ready_release(
    folder: Path,
    mechanism: str = "discrete-gaussian",
    pool: str = "mean",
    epsilon: float = 5.0,
    parameters: dict[str, Any] | None = None,
    **options: Any,
) -> VectorRelease:
    """Make a release ready for a small lexicon of six dimensions."""
    over = {
        "lexicon": lexicon(folder),
        "mechanism": {"name": mechanism, **(parameters or {})},
        "budget": {"name": "uniform", "epsilon": epsilon},
    }
    return release.prepare(release.parse(over, {"pool": pool, **options}))


def said(ready: VectorRelease, key: str = "system", **more: Any) -> Statement:
    """Draw up the statement of a release."""
    given = {"identified": False, "lexicon_is_custom": False, **more}
    return statement.build(ready, key=key, **given)


def records(count: int) -> list[Record]:
    """Make records of one to three texts."""
    return [
        Record(row, tuple(TEXTS[(row + i) % 6] for i in range(1 + row % 3)), None)
        for row in range(count)
    ]
