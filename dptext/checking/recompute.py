"""Recomputes a report from the settings it contains."""

from __future__ import annotations

import contextlib
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeGuard

import msgspec

from dptext import lexicons, pipeline, profile, progress, registry
from dptext._version import __version__
from dptext.budgets import uniform
from dptext.checking.policy import Unverified
from dptext.engine import documents
from dptext.errors import DptextError, UnprovenError, UsageError
from dptext.lexicons import topics
from dptext.measures import context_risk
from dptext.measures.public import NoRisk, PublicMeasures, measure_risk
from dptext.report.blocks import at
from dptext.report.document import Document, public
from dptext.report.sections import Run
from dptext.run.interface import noun, option
from dptext.settings import digest_of_path
from dptext.types import Lexicon
from dptext.vectors import Pool, release, statement
from dptext.vectors import run as vector_run

# Builds the public report of a run with prepared settings.
_Stated = Callable[[Run], Document]
# Parts of a report in the order in which they are compared.
_PARTS = ("guarantee", "words", "vectors", "run")
# Sentences of a report, which another version of dptext may word otherwise. Parts with
# separate figures are not among them, and figures within a sentence must agree.
_WORDED = frozenset(
    f"{part}.{name}"
    for part, names in {
        "guarantee.scope": (
            "adjacency",
            "covered",
            "not_covered",
            "conditions",
            "subjects",
        ),
        "guarantee.wording": (
            "sentence",
            "text_level",
            "distance",
            "translation",
            "decoding",
            "source",
        ),
        "words": ("risk_note", "risk.method"),
    }.items()
    for name in names
)
# Figures that are measured, not computed from settings: those of attackers are in
# shipped tables, which differ from version to version.
_MEASURED = (
    "words.attackers",
    "words.written",
    "words.attackers_risk",
    "vectors.measures",
)
# Measured if it is sampled: another version may draw other samples.
_SAMPLED_RISK = "words.risk"
_FIGURE = re.compile(r"\d+")
# Machines round differently, which may decide single draws: of 20,000 draws, 40 may
# differ. Other figures have no tolerance. If an interval is stated, the tolerance is a
# share of it, too small to change its meaning.
_ROUNDING = 1e-6
_OF_INTERVAL = 0.05
SAMPLED = {
    **dict.fromkeys(("success", "success_band_known", "nearest", "best"), 0.002),
    **dict.fromkeys(("low", "high"), 0.002),
}


_OTHER_RISK = "the risk and the epsilon in its settings do not match"


class Gap(NamedTuple):
    """Why a report was not recomputed."""

    #: The kind of gap that a policy may accept; None for one that it may not.
    kind: Unverified | None
    #: In words.
    reason: str


class Outcome(NamedTuple):
    """The result of recomputing a report."""

    #: The first difference from the settings; "" without one.
    difference: str = ""
    #: Why the comparison is incomplete; None if it is complete.
    gap: Gap | None = None
    #: The recomputed risk, if there is one.
    risk: float | None = None
    #: The recomputed report, if there is one.
    wanted: Document | None = None


class _EndedError(Exception):
    """Ends a comparison early; its arguments are those of an Outcome."""


class Recomputer:
    """Recomputes reports, once for all files with the same settings.

    others: lexicons in addition to the installed ones.
    """

    def __init__(self, others: Sequence[Lexicon] = ()) -> None:
        self._lexicons: dict[str, Lexicon | None] = {}
        self._lexicons.update({lexicon.digest: lexicon for lexicon in others})
        self._done: dict[bytes, _Stated | _EndedError] = {}

    def compare(self, document: Document) -> Outcome:
        """Compare a report with the one recomputed from its settings.

        Everything that settings determine is compared, whichever version wrote the
        report.
        """
        try:
            _check_parts(document)
            state = self._stated(document)
            with _catch_failures():
                wanted = public(state(document.run))
        except _EndedError as ended:
            return Outcome(*ended.args)
        outcome = _compared(wanted, document)
        return outcome._replace(risk=known_risk(wanted), wanted=wanted)

    def _stated(self, document: Document) -> _Stated:
        """Recompute the statements of the settings. Raises _EndedError."""
        run, words = document.run, document.words
        measured: bool | None = run.key != "seed"
        if measured and words is not None:
            asked = {NoRisk.SWITCHED_OFF: False, NoRisk.SLOW: None}
            measured = asked.get(words.no_risk, True) if words.no_risk else True
        parts = (
            words is None,
            run.settings,
            run.profile,
            run.lexicon,
            run.lexicon_digest,
            measured,
            run.dptext,
        )
        key = msgspec.json.encode(parts, order="deterministic")
        if key not in self._done:
            try:
                with progress.step("recomputing a report"):
                    if words is None:
                        self._done[key] = self._prepare_vectors(run, bool(measured))
                    else:
                        self._done[key] = self._prepare_words(run, measured)
            except _EndedError as ended:
                self._done[key] = ended
        done = self._done[key]
        if isinstance(done, _EndedError):
            raise done
        return done

    def _prepare_words(self, run: Run, measured: bool | None) -> _Stated:
        with _catch_invalid_settings(run):
            recipe = profile.resolved(run.settings, run.profile, run.lexicon)
        lexicon = self._lexicon(run)
        with _catch_failures():
            ready = pipeline.build(recipe, lexicon)
            figures = PublicMeasures.measure(ready, measured)
            _check_risk(ready, figures, run)
        return lambda run: documents.stated(
            pipeline=ready,
            key=run.key,
            layout=run.layout,
            measures=figures,
            recorded=run.recorded,
        )

    def _prepare_vectors(self, run: Run, measured: bool) -> _Stated:
        with _catch_invalid_settings(run):
            chosen = release.from_plain(run.settings, run.profile, run.lexicon)
        sentence = chosen.options.pool is Pool.SENTENCE
        lexicon = None if sentence else self._lexicon(run)
        with _catch_failures():
            ready = release.prepare(chosen, lexicon=lexicon)
            _check_risk_of_vectors(ready, lexicon)
            figures = statement.measure(ready) if measured else None
        return lambda run: vector_run.stated(
            ready, run.key, run.layout, measures=figures
        )

    def _lexicon(self, run: Run) -> Lexicon:
        """Return the lexicon with this digest. Raises _EndedError if it is missing."""
        digest = run.lexicon_digest
        if digest not in self._lexicons:
            self._lexicons[digest] = lexicons.by_digest(digest)
        lexicon = self._lexicons[digest]
        if lexicon is None:
            reason = (
                f"its lexicon (digest {digest[:12]}...) is not on this machine; import "
                f"it (dptext lexicon import) or name it with {option('lexicon')}"
            )
            if (named := topics.split(run.lexicon)) is not None:
                reason = (
                    f"its topics {named[0]} (digest {digest[:12]}...) are not on this "
                    f"machine: put their file in {topics.folder()}, or name it with "
                    f"{noun('lexicon')} {topics.named('FILE', named[1])}"
                )
            raise _EndedError("", Gap(Unverified.LEXICON, reason))
        if digest == lexicons.builtin_digest():
            return lexicon
        # The digest covers the content; the name depends on the import here.
        return replace(lexicon, name=run.lexicon)


def known_risk(document: Document) -> float | None:
    """Return the best attacker's success rate in a report, or None.

    For vectors, the upper limit of the attack with a list of choices.
    """
    stated = None if document.vectors is None else document.vectors.measures
    return document.risk if stated is None else stated.ruler.high


def _compared(wanted: Document, actual: Document) -> Outcome:
    """Compare the parts of a report with the recomputed ones, in order."""
    expected, stated = _plain(wanted), _plain(actual)
    other_version = actual.run.dptext != __version__
    measured: list[str] = []
    worded: list[str] = []
    for part in _PARTS:
        for path, value in differences(expected[part], stated[part], part):
            if other_version and path == "run.dptext":
                continue
            if other_version and _is_measured(path, expected):
                measured.append(path)
            elif other_version and path in _WORDED:
                alike = _figures(at(expected, path)) == _figures(at(stated, path))
                (worded if alike else measured).append(path)
            else:
                return Outcome(_differs(path, value))
    if measured:
        return Outcome(gap=_not_recomputed(measured[0], actual.run))
    if worded:
        written = _of_version(actual.run, f"different wording in {worded[0]}")
        return Outcome(gap=Gap(Unverified.VERSION, written))
    return Outcome()


def _differs(path: str, value: object) -> str:
    """Describe a difference by the recomputed value, never the report's."""
    line = f"{path} does not follow from the settings"
    named = path in ("guarantee.bound.notion", "guarantee.bound.level")
    if value is None or named or isinstance(value, bool | int | float):
        line += f": they give {'nothing' if value is None else value}"
    return line


def _is_measured(path: str, wanted: dict[str, Any]) -> bool:
    """Return whether a figure may legitimately differ in another version's report."""
    if path == "run.algorithm" or path.startswith(_MEASURED):
        return True
    risk = (wanted["words"] or {}).get("risk") or {}
    return risk.get("low") is not None and path.startswith(_SAMPLED_RISK)


def _figures(stated: object) -> list[str]:
    """Return all numbers in sentences, sorted, with digits in ASCII."""
    sentences = stated if isinstance(stated, list) else [stated]
    plain = unicodedata.normalize("NFKC", " ".join(map(str, sentences)))
    return sorted(_FIGURE.findall(plain))


@contextlib.contextmanager
def _catch_invalid_settings(run: Run) -> Iterator[None]:
    """Turn errors for settings that dptext rejects into _EndedError."""
    try:
        yield
    except ImportError:
        reason = "a component named in its settings cannot be loaded"
        raise _EndedError("", Gap(Unverified.PARTS, reason)) from None
    except (UsageError, TypeError):
        if run.dptext != __version__:
            raise _EndedError("", _not_recomputed("run.settings", run)) from None
        raise _EndedError("its settings are invalid") from None


@contextlib.contextmanager
def _catch_failures() -> Iterator[None]:
    """Turn errors for settings that cannot be prepared here into _EndedError."""
    try:
        yield
    except UnprovenError as error:
        raise _EndedError(f"it claims too much: {error}") from None
    except DptextError as error:
        raise _EndedError("", Gap(Unverified.PARTS, str(error))) from None
    except MemoryError:
        reason = "not enough memory; raise the memory limit"
        raise _EndedError("", Gap(Unverified.PARTS, reason)) from None
    except (ArithmeticError, ValueError, TypeError, AssertionError):
        raise _EndedError("its settings cannot be prepared here") from None


def _check_parts(document: Document) -> None:
    """Raise _EndedError if a component or list is missing or has changed."""
    run, absent = document.run, []
    if run.layout.format not in (None, *registry.names("formats")):
        absent.append("format")
    for stage, folder in profile.STAGES.items():
        part = run.settings.get(stage)
        name = part.get("name") if isinstance(part, dict) else None
        if isinstance(name, str) and name not in registry.names(folder):
            absent.append(stage)
    files = {} if document.words is None else document.words.list_files
    for path, digest in files.items():
        same = False
        with contextlib.suppress(UsageError):  # of a file that cannot be read
            same = digest_of_path(path) == digest
        if not same:
            absent.append(f"file of a list ({path}, digest {digest[:12]}...)")
    if absent:
        reason = f"the {absent[0]} named in it is not on this machine"
        raise _EndedError("", Gap(Unverified.PARTS, reason))


def _not_recomputed(path: str, run: Run) -> Gap:
    """Return the gap for a figure that only the version that wrote it can verify."""
    return Gap(None, _of_version(run, f"another {path}"))


def _of_version(run: Run, written: str) -> str:
    """Advise checking with the version that wrote a report."""
    return (
        f"check with dptext=={run.dptext}, which wrote {written}, or make the file "
        "again"
    )


def _check_risk(ready: pipeline.Pipeline, figures: PublicMeasures, run: Run) -> None:
    """Raise _EndedError if risks and epsilon in the settings do not match.

    The risk is measured if the report has none, as for a seeded run.
    """
    params = ready.profile.budget.params
    if not isinstance(params, uniform.Params):
        return
    if params.attacker_risk is not None:
        risk = None
        with contextlib.suppress(UsageError):
            risk = context_risk.risk_for(ready, params.attacker_risk)
        if risk != params.risk and run.dptext != __version__:
            raise _EndedError("", _not_recomputed("run.settings", run))
        if risk != params.risk:
            raise _EndedError(_OTHER_RISK)
    if params.risk is not None:
        known, room = figures.risk or measure_risk(ready)[0], SAMPLED["success"]
        if known is None or not math.isclose(
            known.success, params.risk, rel_tol=0.01, abs_tol=room
        ):
            raise _EndedError(_OTHER_RISK)


def _check_risk_of_vectors(
    ready: release.VectorRelease, lexicon: Lexicon | None
) -> None:
    """Raise _EndedError unless the epsilon in the settings matches the risk."""
    recipe = ready.settings.recipe
    params = recipe.budget.params
    assert isinstance(params, uniform.Params)
    if params.risk is None:
        return
    asked = replace(recipe.budget, params=replace(params, epsilon=None))
    settings = replace(ready.settings, recipe=replace(recipe, budget=asked))
    epsilon = math.nan
    with contextlib.suppress(UsageError):
        epsilon = release.prepare(settings, lexicon=lexicon).epsilon
    if not math.isclose(epsilon, ready.epsilon, rel_tol=0.01):
        raise _EndedError(_OTHER_RISK)


def _plain(document: object) -> dict[str, Any]:
    """Round-trip a document through JSON; infinite numbers become null."""
    return msgspec.json.decode(msgspec.json.encode(document), type=dict[str, Any])


def differences(
    wanted: object, actual: object, path: str, room: float = 0.0
) -> Iterator[tuple[str, object]]:
    """Yield the path and expected value of each difference; lists count as one value.

    room: tolerance for sampled figures, at most SAMPLED.
    """
    if isinstance(wanted, dict) and isinstance(actual, dict):
        # A sampled risk has limits.
        low, high = wanted.get("low"), wanted.get("high", wanted.get("success"))
        if _is_number(low) and _is_number(high):
            room = _OF_INTERVAL * (high - low)
        for key in dict.fromkeys((*wanted, *actual)):
            each = wanted.get(key), actual.get(key)
            yield from differences(*each, f"{path}.{key}", room)
    elif isinstance(wanted, list) and isinstance(actual, list):
        pairs = zip(wanted, actual, strict=False)
        inside = [next(differences(*pair, path, room), None) for pair in pairs]
        if len(wanted) != len(actual) or any(inside):
            yield path, wanted
    elif not _same(wanted, actual, min(room, SAMPLED.get(_last(path), 0.0))):
        yield path, wanted


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _same(wanted: object, actual: object, room: float) -> bool:
    integers = isinstance(wanted, int) and isinstance(actual, int)
    if _is_number(wanted) and _is_number(actual) and not integers:
        room = max(room, 1e-15)
        return math.isclose(wanted, actual, rel_tol=_ROUNDING, abs_tol=room)
    return type(wanted) is type(actual) and bool(wanted == actual)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
