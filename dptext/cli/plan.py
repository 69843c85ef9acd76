"""`dptext plan`: what a profile promises and costs, before any text is read."""

from __future__ import annotations

from typing import Annotated

import typer

from dptext.cli import groups, options, screen, sizes
from dptext.errors import UsageError


def command(
    files: Annotated[
        list[str] | None, typer.Argument(help="Inputs; only their sizes are looked at.")
    ] = None,
    profile: options.Profile = "balanced",
    *,
    changes: groups.Changes,
    size: Annotated[
        str | None, typer.Option(help="Size of the input instead, as in 2GB.")
    ] = None,
    jobs: options.Jobs = 1,
    bayes_risk: options.BayesRisk = True,
    as_json: options.Json = False,
    html: options.Html = None,
) -> None:
    """Say what a run will promise, how much it will change and how long it will take.

    No text is read and nothing is spent: the examples are public sentences. With --html
    the plan is a page instead.

    Example: dptext plan tickets.jsonl --risk 10%
    """
    from dptext import api, progress
    from dptext.report import html as pages
    from dptext.report import plan

    if files and size is not None:
        raise UsageError("give files or --size, not both")
    total = sizes.of_files(files) if files else None
    if size is not None:
        total = plan.Size(sizes.parse(size))
    pipeline = api.open_pipeline(profile, changes.overrides())
    with progress.step("planning"):
        result = plan.plan(pipeline, total, jobs=jobs, bayes_risk=bayes_risk)
    if html is not None:
        screen.write_file(html, pages.render(plan.view(result)))
    elif as_json:
        screen.print_json(result)
    else:
        screen.show(plan.view(result))
