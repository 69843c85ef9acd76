"""Whether an export is covered by its public report, and the report by a policy."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from dptext import streams
from dptext.errors import UsageError
from dptext.guarantees.policy import ExportPolicy, unprotected
from dptext.guarantees.wording import above
from dptext.report.document import Document, decode, encode

SIDECAR = ".dptext.json"


def findings(path: Path, policy: ExportPolicy) -> list[str]:
    """Return why a file does not pass, in one line each; empty when it does.

    No line holds anything of the file's content.
    """
    beside = Path(f"{path}{SIDECAR}")
    try:
        streams.check_ends(path, "export")
        digest = _digest(path)
    except UsageError as error:
        return [str(error)]
    except OSError as error:
        return [f"cannot be read: {error.strerror}"]
    try:
        data = beside.read_bytes()
        document = decode(data, beside.name)
    except FileNotFoundError:
        return [f"no public report: {beside.name} is missing; run dptext sanitize -o"]
    except OSError as error:
        return [f"{beside.name} cannot be read: {error.strerror}"]
    except UsageError as error:
        return [str(error)]
    return [
        *_identity(document, digest),
        *_changed(document, data),
        *_terms(document, policy),
    ]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        hashed = hashlib.sha256()
        while block := file.read(2**20):
            hashed.update(block)
    return hashed.hexdigest()


def _identity(document: Document, digest: str) -> Iterator[str]:
    """Yield what shows that the report is not of this file, or was changed by hand."""
    if document.output is None or document.output.sha256 != digest:
        yield "its public report is of another file: the digests differ; sanitize again"
    if document.audience != "public" or document.private is not None:
        yield "its report is the internal one, which must not be released"
    if not document.success:
        yield "its report is of a run that did not succeed"


def _changed(document: Document, data: bytes) -> Iterator[str]:
    """Yield where the report contradicts itself; that it does not is no proof."""
    run, promise = document.run, document.guarantee
    if msgspec.json.decode(data) != msgspec.json.decode(encode(document)):
        yield "its report holds keys that dptext does not write"
    settings = msgspec.json.encode(run.settings, order="deterministic")
    if hashlib.sha256(settings).hexdigest() != run.settings_digest:
        yield "its report was changed: the settings do not match their digest"
    budget = _part(document, "budget")
    plain = budget.get("name", "uniform") in ("uniform", "per-text")
    if plain and budget.get("epsilon") != promise.epsilon:
        yield "its report was changed: the settings have another epsilon"
    if run.key == "seed" and promise.notion != "none":
        yield "its report was changed: a seeded run has no guarantee"


def _terms(document: Document, policy: ExportPolicy) -> Iterator[str]:
    promise, risk = document.guarantee, document.risk
    if promise.notion not in policy.notion:
        wanted = " or ".join(policy.notion)
        yield f"guarantee is {promise.notion}, the policy asks for {wanted}"
    limit = policy.max_epsilon
    bounded = promise.notion == "LDP" and promise.level != "words"
    epsilon = promise.epsilon if bounded else promise.worst_loss
    if limit is not None and (epsilon is None or epsilon > limit):
        found = "not bounded" if epsilon is None else f"{above(epsilon)} nats"
        yield f"epsilon between any two words is {found}, the policy allows {limit:g}"
    if policy.max_loss is not None and (
        promise.worst_loss is None or promise.worst_loss > policy.max_loss
    ):
        worst = (
            "not bounded" if promise.worst_loss is None else above(promise.worst_loss)
        )
        yield f"worst loss is {worst} nats, the policy allows {policy.max_loss:g}"
    if policy.max_risk is not None and (risk is None or risk.success > policy.max_risk):
        found = "not measured" if risk is None else f"{risk.success:.2%}"
        yield f"risk is {found}, the policy allows {policy.max_risk:.2%}"
    if (
        policy.lexicons is not None
        and document.run.lexicon_digest not in policy.lexicons
    ):
        yield "its lexicon is not one that the policy names"
    for name in unprotected(_part(document, "tokens")):
        if name not in policy.allow:
            yield f"tokens of class {name} are not protected; the policy wants it"


def _part(document: Document, name: str) -> dict[str, Any]:
    found = document.run.settings.get(name)
    return found if isinstance(found, dict) else {}
