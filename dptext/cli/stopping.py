"""The inspection that stops a run before its output leaves (`--fail-on`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from dptext.cli import parser

if TYPE_CHECKING:
    from dptext.checking.contents import StopAtIdentifying


def inspection(
    fail_on: str | None, context: typer.Context, subject: str | None = None
) -> StopAtIdentifying | None:
    """Return the inspection of outputs before they leave, if there is one.

    It goes by the policy of the run; subject is the field that names people, if any.
    """
    if fail_on is None:
        return None
    from dptext.checking import policy
    from dptext.checking.contents import StopAtIdentifying

    configured = parser.find_configuration(context)
    accepted = policy.from_section(configured.policy, configured.label)
    return StopAtIdentifying(accepted.identifying, subject)
