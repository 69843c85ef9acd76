"""What a report must say, drawn up anew from the settings that it carries itself."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from dptext import __version__, content, lexicons, pipeline, profile, registry
from dptext.errors import DptextError, UsageError
from dptext.guarantees.policy import Unverified
from dptext.measures.public import NoRisk, PublicMeasures
from dptext.pipeline import Pipeline
from dptext.profile import Profile
from dptext.report import assemble
from dptext.report.differences import SAMPLED, differences
from dptext.report.document import Document, Run
from dptext.types import Lexicon

# Parts of a report in the order in which they are compared.
_PARTS = (
    "guarantee",
    "risk",
    "no_risk",
    "risk_note",
    "deniability",
    "in_context",
    "run",
)
# Sentences and names, which another version may word otherwise; never figures.
_WORDED = (
    *("sentence", "text_level", "conditions", "not_covered", "adjacency", "covered"),
    *("translation", "source", "distance", "name", "unit", "risk_note", "method"),
    *("algorithm", "prior", "dptext", "in_context", "decoding", "subjects"),
)
_PATIENCE = 3.0  # seconds without a line


@dataclass(frozen=True, slots=True)
class Gap:
    """Why a report was not recomputed, and in words."""

    kind: Unverified
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The first difference from what the settings give, if any; else a gap, if any."""

    difference: str = ""
    gap: Gap | None = None


class Recomputer:
    """Draws up reports anew, once for all files with the same settings.

    others are lexicons to look in beside the installed ones; say is called with a
    line before something slow.
    """

    def __init__(
        self, others: Sequence[Lexicon] = (), say: Callable[[str], None] = print
    ) -> None:
        self._say = say
        self.lexicons: dict[str, Lexicon | None] = {}
        self.lexicons.update({lexicon.digest: lexicon for lexicon in others})
        self._done: dict[bytes, tuple[Pipeline, PublicMeasures] | Outcome] = {}

    def compare(self, document: Document) -> Outcome:
        """Compare a report with what its settings, lexicon and layout give."""
        done = self._of(document)
        if isinstance(done, Outcome):
            return done
        run = document.run
        ready, measures = done
        wanted = _plain(
            assemble.stated(ready, run.key, run.layout, measures, run.recorded)
        )
        actual = _plain(document)
        differing = [
            each
            for part in _PARTS
            for each in differences(wanted[part], actual[part], part)
        ]
        same_version = run.dptext == __version__
        decisive = [each for each in differing if same_version or not _worded(each[0])]
        if decisive:
            return Outcome(_follows(*decisive[0]))
        worded = [path for path, _ in differing if path != "run.dptext"]
        return Outcome(gap=_of_version(worded[0])) if worded else _chosen(document)

    def _of(self, document: Document) -> tuple[Pipeline, PublicMeasures] | Outcome:
        run = document.run
        bayes_risk = document.no_risk is not NoRisk.SWITCHED_OFF and run.key != "seed"
        what = (run.settings, run.profile, run.lexicon, run.lexicon_digest, bayes_risk)
        key = msgspec.json.encode(what, order="deterministic")
        if key not in self._done:
            self._done[key] = self._prepared(document, bayes_risk)
        return self._done[key]

    def _prepared(
        self, document: Document, bayes_risk: bool
    ) -> tuple[Pipeline, PublicMeasures] | Outcome:
        run = document.run
        recipe = _recipe(run)
        if isinstance(recipe, Outcome):
            return recipe
        lexicon = self._lexicon(run.lexicon_digest)
        if lexicon is None:
            return Outcome(gap=Gap(Unverified.LEXICON, _absent(run.lexicon_digest)))
        if lexicon.digest != lexicons.builtin_digest():
            # The digest covers the content; the name is whatever it was imported as.
            lexicon = replace(lexicon, name=run.lexicon)
        try:
            ready = pipeline.build(recipe, lexicon)
            with self._patience():
                return ready, PublicMeasures.of(ready, bayes_risk)
        except DptextError as error:
            return Outcome(gap=Gap(Unverified.PARTS, str(error)))
        except (ArithmeticError, ValueError, TypeError, MemoryError):
            return Outcome("its settings cannot be carried out")

    @contextlib.contextmanager
    def _patience(self) -> Iterator[None]:
        """Say so where it takes time, as for sampled risks that are not yet kept."""
        line = "recomputing a report; the first time this may take a minute"
        timer = threading.Timer(_PATIENCE, self._say, [line])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _lexicon(self, digest: str) -> Lexicon | None:
        if digest not in self.lexicons:
            self.lexicons[digest] = lexicons.by_digest(digest)
        return self.lexicons[digest]


def _recipe(run: Run) -> Profile | Outcome:
    """Return the profile that a report's settings are, or why they are none here."""
    unknown = _unknown(run) or _changed_list(run)
    if unknown:
        reason = f"the {unknown} that it names is not on this machine"
        return Outcome(gap=Gap(Unverified.PARTS, reason))
    try:
        return profile.resolved(run.settings, run.profile, run.lexicon)
    except ImportError:
        reason = "a component that its settings name does not load"
        return Outcome(gap=Gap(Unverified.PARTS, reason))
    except (UsageError, TypeError):
        if run.dptext != __version__:
            return Outcome(gap=_of_version("run.settings"))
        return Outcome("its settings are none that dptext takes")


def _unknown(run: Run) -> str:
    """Return the stage of a component that is not installed here, or ""."""
    if run.layout.format not in (None, *registry.names("formats")):
        return "format"
    for stage, folder in profile.STAGES.items():
        part = run.settings.get(stage)
        name = part.get("name") if isinstance(part, dict) else None
        if isinstance(name, str) and name not in registry.names(folder):
            return stage
    return ""


def _changed_list(run: Run) -> str:
    """Return that a file of a list is not here as it was, or ""."""
    for path, digest in run.list_files.items():
        try:
            if content.of_path(path) == digest:
                continue
        except UsageError:
            pass
        return f"file of a list ({path}, digest {digest[:12]}...)"
    return ""


def _absent(digest: str) -> str:
    return (
        f"its lexicon (digest {digest[:12]}...) is not on this machine; import it "
        "(dptext lexicon import) or name it with --lexicon"
    )


def _of_version(path: str) -> Gap:
    reason = (
        f"another version of dptext wrote it, which words {path} otherwise; check with "
        "that version, or sanitize again"
    )
    return Gap(Unverified.VERSION, reason)


def _chosen(document: Document) -> Outcome:
    """Compare the measured risk with the one that epsilon was chosen for."""
    risk, budget = document.risk, document.run.settings.get("budget", {})
    wanted = budget.get("risk") if isinstance(budget, dict) else None
    if risk is None or wanted is None:
        return Outcome()
    if math.isclose(risk.success, wanted, rel_tol=0.01, abs_tol=SAMPLED["risk"]):
        return Outcome()
    return Outcome("its settings ask for another risk than their epsilon gives")


def _follows(path: str, wanted: object) -> str:
    """Say what differs; wanted comes from here, never from the report."""
    short = wanted is None or isinstance(wanted, bool | int | float)
    short = short or path in ("guarantee.notion", "guarantee.level")
    tail = f": they give {'nothing' if wanted is None else wanted}" if short else ""
    return f"{path} does not follow from the settings{tail}"


def _worded(path: str) -> bool:
    return path.rpartition(".")[2] in _WORDED and not path.startswith("run.settings")


def _plain(document: Document) -> dict[str, Any]:
    """Return what is read back after writing; an infinite number becomes null."""
    return msgspec.json.decode(msgspec.json.encode(document), type=dict[str, Any])
