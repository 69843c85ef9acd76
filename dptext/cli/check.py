"""`dptext check`: whether these exports may leave the building."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dptext.cli.faults import reported


def command(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Exports; sidecars are passed over.")
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(help="Policy file; default .dptext.yaml where there is one."),
    ] = None,
    notion: Annotated[
        list[str] | None,
        typer.Option(help="Accepted guarantee, LDP or metric-DP; repeatable."),
    ] = None,
    max_epsilon: Annotated[
        float | None, typer.Option(min=0, help="Largest accepted epsilon.")
    ] = None,
    max_loss: Annotated[
        float | None,
        typer.Option(min=0, help="Largest accepted loss between two words, in nats."),
    ] = None,
    max_risk: Annotated[
        str | None,
        typer.Option(help="Largest accepted success of a guess, as in 15%."),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="Class of token that need not be protected: punctuation, stop_word, "
            "number, unknown, case; repeatable."
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Only the exit code.")
    ] = False,
) -> None:
    """Pass when every export has a valid public report that meets the policy.

    A report is valid when it follows the schema and names the digest of the file. Ends
    with exit code 1 and one line for each finding otherwise; never prints content.
    """
    with reported():
        from dptext.cli.options import share
        from dptext.report import verify

        given: dict[str, Any] = {
            "notion": tuple(notion) if notion else None,
            "max_epsilon": max_epsilon,
            "max_loss": max_loss,
            "max_risk": None if max_risk is None else share(max_risk, "--max-risk"),
            "allow": tuple(allow) if allow else None,
        }
        terms = _terms(policy, {k: v for k, v in given.items() if v is not None})
        failed = 0
        for path in files or []:
            if path.name.endswith(verify.SIDECAR):
                continue
            found = verify.findings(path, terms)
            failed += bool(found)
            if not quiet:
                for line in found:
                    typer.echo(f"{path}: {line}")
        if failed:
            raise typer.Exit(1)


def _terms(path: Path | None, given: dict[str, Any]) -> Any:
    from dataclasses import replace

    from dptext.guarantees import policy

    if path is None and Path(policy.NAME).exists():
        path = Path(policy.NAME)
    base = policy.ExportPolicy() if path is None else policy.load(path)
    return policy.check(replace(base, **given), "options")
