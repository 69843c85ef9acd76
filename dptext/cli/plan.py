"""`dptext sanitize --plan`: promise and cost of a run, before any text is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dptext import progress
from dptext.cli import screen
from dptext.engine import plan
from dptext.evaluation.attackers import PublicText, read_by_halves

if TYPE_CHECKING:
    from dptext.cli.options import Shown
    from dptext.engine.request import Request
    from dptext.run.work import Keys


def show(
    request: Request,
    keys: Keys,
    public_text: str | None,
    shown: Shown,
    warn: Callable[[str], None],
) -> None:
    """Print a plan, with the statement of its run.

    With a public text, an attacker counts one half of it and reads the other half.
    """
    ready = request.pipeline(warn)
    public = PublicText.named(public_text, request.job.selection.fields)
    with progress.step("planning"):
        reading = None if public is None else read_by_halves(ready, public)
        read, written = (
            (None, None) if reading is None else (reading.attackers, reading.written)
        )
        result = plan.planned(
            request,
            ready,
            "system" if keys.key_file is None else "key-file",
            read=() if read is None else (read,),
            written=() if not written else (written,),
        )
    screen.deliver(result, shown.json, plan.view(result), html=request.reports.html)
