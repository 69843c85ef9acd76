"""The unit of a release (word, topic or vector) and everything that depends on it.

`unit_of` decides it once for a report; summaries and pages ask the unit for its noun,
the counts, the unchanged parts, the lines on attackers and on use, and advice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dptext.guarantees import claims, sentences
from dptext.guarantees.templates import series
from dptext.measures.vector_figures import VectorMeasures, worth_of_texts
from dptext.report import trade
from dptext.report.attackers import Attackers, attack_lines, delicate_lines
from dptext.report.document import Document
from dptext.report.figures import CLASSES, count, plain_name
from dptext.report.lines import AnswerLine, line, say
from dptext.report.sections import (
    Private,
    TopicFigures,
    VectorSection,
    WordCounts,
    WordSection,
    treatment,
)
from dptext.run.choices import DEFAULT
from dptext.run.interface import current
from dptext.tokens import kinds
from dptext.tokens.languages import languages, name_of, names_without_special
from dptext.tokens.policy import Form, Policy
from dptext.types import ENGLISH, JsonObject, Level, Notion

# A classifier that gains less over chance has learned next to nothing.
_NOTHING = 0.05
# Fewest records from which the answer names `dptext words build`.
_MANY = 1000
# Lists of words that are copied, which the measured texts lack.
_LISTS = frozenset((claims.Unprotected.KEEP_LIST, claims.Unprotected.CORPUS_WORDS))


@dataclass(frozen=True, slots=True)
class Unit(ABC):
    """The unit of the release in a report."""

    document: Document
    #: What the guarantee is about.
    noun: str
    #: Key of the verdict where whole texts are protected.
    use: ClassVar[str] = "learn"
    #: Key of the sentences on settings, on counts, and on a stronger release.
    key: ClassVar[str] = "words"
    #: Key of the sentences on the files that are made.
    released: ClassVar[str] = "rows"
    #: Keys of the parts of an output that may tell of each text.
    asked: ClassVar[tuple[str, ...]] = ()

    @property
    def row(self) -> str:
        """Return the noun for an input record."""
        layout = self.document.run.layout
        if layout.format == "text":
            return "line"
        if not self.document.is_in_memory:
            return "record"
        return "text" if layout.fields is None else "row"

    @property
    def fields(self) -> str:
        """Describe the private fields."""
        names = self.document.run.layout.fields or ()
        return " and ".join(f'"{plain_name(each)}"' for each in names)

    @property
    def replaced(self) -> str:
        """Describe everything that settings replace, for a report without counts."""
        policy, names = self.document.policy, ["word"]
        if policy is not None:
            others = {
                "name": policy.classes,
                "number": policy.number in ("perturb", "digits"),
                "form_too": policy.forms,
            }
            names += [name for name, holds in others.items() if holds]
        parts = [say(f"piece.{name}", pieces=2) for name in names]
        return ", ".join(parts) if "form_too" in names else series(tuple(parts))

    def output(self, where: str) -> AnswerLine:
        """Return the line that counts private texts and names the outputs."""
        private = self.document.private
        if private is None:
            sentence = say(f"output.{self.key}", self, where=where)
            return AnswerLine("output", sentence, {}, sentence)
        rows = say("counts.rows", self)
        figures = {
            "records": private.records,
            "left_out": private.faults + private.others,
        }
        counts, blanks = self.counts(private)
        long, short = (
            say(f"counts.{self.key}", self, **{**counts, **blanks, **each})
            for each in ({"drawn": ""}, {"digits": 0, "new": ""})
        )
        sentence, brief = (
            say("output.counted", counts=f"{rows}, {each}", where=where)
            for each in (long, short)
        )
        return AnswerLine("output", sentence, {**figures, **counts}, brief)

    @abstractmethod
    def counts(self, private: Private) -> tuple[JsonObject, JsonObject]:
        """Count the units: figures, and other placeholders of the sentence."""

    def unchanged_fields(self, copied: Sequence[str] | None) -> Sequence[str] | None:
        """Return the names of unchanged fields, None if unknown."""
        return copied

    def inside(self) -> list[str]:
        """Name the unchanged token classes inside texts."""
        return []

    def profile(self) -> Iterator[AnswerLine]:
        """Yield the line on the profile."""
        name = self.document.run.profile
        key = "default" if name == DEFAULT else "named"
        yield line("profile", key, {"profile": name}, name=name)

    @abstractmethod
    def lines(self) -> Iterator[AnswerLine]:
        """Yield the lines on attackers and on usefulness."""

    def stronger(self) -> AnswerLine:
        """Return the line on a release of the same texts that protects more."""
        document, promise = self.document, self.document.guarantee
        if document.run.key == "seed":
            return line("stronger", "seed")
        if promise.bound.notion is Notion.NONE:
            return line("stronger", "none")
        key, common = self.key, promise.copies_common
        if common and key == "words":
            key = "common"
        smaller = trade.smaller_risk(document, first=not common)
        return line("stronger", key, None, smaller=smaller)


@dataclass(frozen=True, slots=True)
class Words(Unit):
    """Unit of releases that replace words."""

    section: WordSection

    @property
    def known(self) -> Attackers:
        """Return the report's attacker figures."""
        return attackers_on(self.document, self.section)

    @property
    def counted(self) -> WordCounts | None:
        """Return the counts of the private texts, or None."""
        private = self.document.private
        return None if private is None else private.words

    def counts(self, private: Private) -> tuple[JsonObject, JsonObject]:
        """Count words by treatment, and unchanged texts."""
        assert private.words is not None
        figures, blanks = _counted_words(private.words)
        same = private.words.unchanged_texts
        figures |= {"texts": private.texts, "unchanged_texts": same}
        if same:
            compared = same + private.words.changed_texts
            blanks["unchanged"] = say(
                "counts.only_text" if compared == 1 else "counts.some_texts",
                complete=compared == private.texts,
                compared=compared,
                unchanged_texts=same,
            )
        return figures, blanks

    def inside(self) -> list[str]:
        """Name the unchanged token classes inside texts."""
        policy, counted = self.document.policy, self.counted
        if counted is not None:
            treated = counted.treatment
            seen = {"punctuation", *(name for name, n in counted.tokens.items() if n)}
        elif policy is not None:
            treated = treatment(policy)
            listed = "keep-list" in self.document.guarantee.scope.unprotected
            listed = listed or Form.FIXED in policy.forms
            seen = treated.keys() - ({"kept"} if not listed else set())
            seen -= {"markup"} if Form.MARKUP not in policy.forms else set()
        else:
            return [say("inside.unknown")]
        unchanged = ("unchanged", "layout unchanged")
        names = [name for name, how in treated.items() if how in unchanged]
        seen -= {"space"}
        return [_class_inside(policy, name) for name in names if name in seen]

    def lines(self) -> Iterator[AnswerLine]:
        """Yield the lines on attackers and on meaning preserved."""
        document, known = self.document, self.known
        yield from self._own_words()
        yield from attack_lines(known)
        yield from delicate_lines(known)
        if has_other_languages(document) or (self.counted and self.counted.languages):
            yield self._languages()
        if (policy := document.policy) is not None:
            named = series(tuple(f"{each}s" for each in policy.classes))
            key = "classes" if named else policy.unknown
            equal = policy.repeat != "none"
            shown = {"named": named, "marks": policy.marks, "equal": equal}
            yield line("names", key, None, **shown)
        total = document.guarantee.bound.text_loss.total
        yield AnswerLine("original", sentences.original_row(total))
        if document.private is not None:
            yield self._meaning()

    def _own_words(self) -> Iterator[AnswerLine]:
        """Yield the line on words to add, if a keep list could copy more."""
        document, policy = self.document, self.document.policy
        can_keep = document.guarantee.scope.decoder != "endpoint"
        if policy is not None and not policy.keep and can_keep:
            records = 0 if document.private is None else document.private.records
            adds = bool(policy.common) and policy.words is None
            many = adds and records >= _MANY
            short = say("own words.briefly", many=many)
            yield AnswerLine("own words", say("own words.none", many=many), {}, short)

    def _languages(self) -> AnswerLine:
        """Return the line on languages: applicable lists, and counts of texts."""
        assert self.document.policy is not None
        codes = self.document.policy.languages or (ENGLISH,)
        counts = {} if self.counted is None else {**self.counted.languages}
        lost = counts.pop("", 0)
        named = [name_of(code) for code in codes]
        if counts:
            named = [f"{name_of(code)} {count(n)}" for code, n in counts.items()]
        figures: JsonObject = {"languages": list(codes), "texts": counts, "other": lost}
        key = "texts" if counts else "lists"
        return line(
            "languages",
            how_languages_are_found(self.document.policy),
            figures,
            read=say(f"languages.{key}", named=series(tuple(named))),
            lost=lost,
            without=series(names_without_special(codes)),
            known=series(tuple(f"{each} ({name_of(each)})" for each in languages())),
        )

    def _meaning(self) -> AnswerLine:
        """Return the line on the share of changed words, and the meaning preserved."""
        assert self.counted is not None
        metrics = self.counted.metrics
        promise, of_meaning = self.document.guarantee, metrics.get("CS", {})
        changed = metrics.get("PP", {}).get("share_changed")
        meaning, near = of_meaning.get("share_kept"), of_meaning.get("mean_cosine")
        parts = []
        if isinstance(changed, float):
            parts.append(say("meaning.changed", promise, changed=changed))
        if isinstance(meaning, float):
            # Below 0 they are less near than texts of other rows: by chance.
            kept = max(meaning, 0.0)
            parts.append(say("meaning.kept", promise, kept=kept))
        elif isinstance(near, float):
            parts.append(say("meaning.similarity", similarity=near))
        sentence = ", ".join(parts) or say("meaning.nothing")
        if self.counted.describes == "rewritten texts":
            sentence = say("not_measured.rewritten")
        figures = {"changed": changed, "meaning": meaning, "private": True}
        figures["similarity"] = near
        return line("meaning", "always", figures, sentence=sentence)


@dataclass(frozen=True, slots=True)
class Topics(Words):
    """Unit of releases that replace whole texts by topics."""

    topics: TopicFigures
    use: ClassVar[str] = "count_topics"
    key: ClassVar[str] = "topics"
    asked: ClassVar[tuple[str, ...]] = ("topics",)

    def counts(self, private: Private) -> tuple[JsonObject, JsonObject]:
        """Count the texts that became topics."""
        return {"texts": private.texts}, {}

    def lines(self) -> Iterator[AnswerLine]:
        """Yield the lines on attackers and on the share of nearest topics."""
        run = self.document.run
        seeded, shuffled = run.key == "seed", run.layout.shuffled
        yield from topic_lines(self.topics, seeded=seeded, shuffled=shuffled)
        if (counted := self.counted) is not None:
            changed = counted.metrics.get("PP", {}).get("share_changed")
            yield kept_line(self.topics, changed)


@dataclass(frozen=True, slots=True)
class Vectors(Unit):
    """Unit of releases of word or text vectors."""

    section: VectorSection
    use: ClassVar[str] = "compare"
    key: ClassVar[str] = "vectors"
    released: ClassVar[str] = "vectors"

    def counts(self, private: Private) -> tuple[JsonObject, JsonObject]:
        """Count the vectors."""
        assert private.vectors is not None
        counted = private.vectors
        return {"vectors": counted.vectors, "words": counted.words}, {}

    def profile(self) -> Iterator[AnswerLine]:
        """Yield nothing: vectors have no profile."""
        return iter(())

    def unchanged_fields(self, copied: Sequence[str] | None) -> Sequence[str] | None:
        """Return the id's name: vectors have no other unchanged fields."""
        output, layout = self.document.output, self.document.run.layout
        columns = () if output is None else output.columns or ()
        return [layout.id_field or "id"] if "id" in columns else []

    def lines(self) -> Iterator[AnswerLine]:
        """Yield the lines on finding originals, the error of distances, and use."""
        yield from vector_lines(self.section.measures)
        run, loss = self.document.run, self.document.guarantee.bound.text_loss.total
        worth = worth_of_texts(run.settings, run.lexicon_digest, loss)
        if worth is not None:
            is_less = loss is not None and loss < worth.loss * (1.0 - 1e-6)
            figures = {
                "accuracy": worth.accuracy,
                "chance": worth.chance,
                "original": worth.original,
                "measured_at_loss": worth.loss,
                "noise": worth.noise,
                "spread": worth.spread,
            }
            nothing = worth.accuracy - worth.chance < _NOTHING
            at = worth.loss if is_less else None
            yield line("use", "always", figures, nothing=nothing, at=at)


def unit_of(document: Document) -> Unit:
    """Return the unit of a report's release."""
    words, level = document.words, document.guarantee.bound.level
    if words is None:
        assert document.vectors is not None
        noun = "text" if level is Level.TEXT else "word"
        return Vectors(document, noun, document.vectors)
    if words.topics is not None:
        return Topics(document, "text", words, words.topics)
    return Words(document, "word", words)


def has_other_languages(document: Document) -> bool:
    """Return whether the run may read texts in languages other than English."""
    tokens = document.run.settings.get("tokens")
    return isinstance(tokens, dict) and bool(tokens.get("languages"))


def how_languages_are_found(policy: Policy) -> str:
    """Return the key of sentences on languages: English, another, or several."""
    if not policy.languages:
        return "english"
    return "several" if len(policy.languages) > 1 else "one"


def attackers_on(document: Document, words: WordSection) -> Attackers:
    """Return a report's attacker figures on its words."""
    counts = None if document.private is None else document.private.words
    promise, measured_by = document.guarantee, ""
    if current().is_python and document.is_in_memory:
        measured_by = say("measured_by.memory")
    return Attackers(
        risk=words.risk,
        risk_note=words.risk_note,
        written=words.written,
        attackers=words.attackers,
        attackers_risk=words.attackers_risk,
        language=words.language,
        seeded=document.run.key == "seed",
        other_language=has_other_languages(document)
        or (counts is not None and counts.other_language),
        rewritten=counts is not None and counts.describes == "rewritten texts",
        common=promise.copies_common,
        leaves_words=promise.leaves_words,
        classes=claims.Unprotected.CLASSES in promise.scope.unprotected,
        listed=not _LISTS.isdisjoint(promise.scope.unprotected),
        decoded=promise.scope.decoder != "none",
        measured_by=measured_by,
        profile=document.run.profile,
    )


def topic_lines(
    topics: TopicFigures, *, seeded: bool, shuffled: bool = False
) -> Iterator[AnswerLine]:
    """Yield the lines on nearest topics and on finding an original."""
    shown = {"topics": topics.topics, "nearest": topics.nearest}
    key = "one" if topics.together == 1 else "several"
    yield line("topic", key, shown, together=topics.together)
    names = ("picked", "picked_after", "picked_of_two")
    if seeded:
        sentence = say("not_measured.seed")
        yield AnswerLine("original", sentence, {name: None for name in names})
    else:
        figures = {name: getattr(topics, name) for name in ("originals", *names)}
        yield line("original", "topics", figures, shuffled=shuffled)


def kept_line(
    topics: TopicFigures, changed: object, *, warns: bool = True
) -> AnswerLine:
    """Return the line on texts with their nearest topic; changed: the other share.

    warns: whether to warn against publishing it.
    """
    if topics.together > 1:
        return line("meaning", "sets", {"nearest": None})
    nearest = 1.0 - changed if isinstance(changed, float) else None
    key, figures = "topics", {"nearest": nearest, "private": True}
    if nearest is None:
        key = "no_text"
    return line("meaning", key, figures, warns=warns)


def vector_lines(measures: VectorMeasures | None) -> Iterator[AnswerLine]:
    """Yield the lines on finding originals and on the error of distances."""
    if measures is None:
        yield AnswerLine("attacker", say("not_measured.seed"), {"found": None})
        return
    ruler, errors = measures.ruler, measures.distortion
    figures = {
        "found": max(ruler.nearest, ruler.best or 0.0),
        "nearest": ruler.nearest,
        "without_output": ruler.baseline,
        "choices": ruler.choices,
    }
    yield line("attacker", "vectors", figures, of=ruler.of)
    names = ("distance", "distance_error", "corrected_error")
    yield line("distances", "always", {name: getattr(errors, name) for name in names})


def _class_inside(policy: Policy | None, name: str) -> str:
    """Name an unchanged token class."""
    if name == "kept" and policy is not None and Form.FIXED in policy.forms:
        return say("inside.fixed", kept=CLASSES[name] if policy.keep else "")
    return CLASSES.get(name, name)


def _counted_words(words: WordCounts) -> tuple[JsonObject, JsonObject]:
    """Count tokens by treatment: figures, and other placeholders of the sentence."""
    treated: Counter[str] = Counter()
    for name, tokens in words.tokens.items():
        if name not in kinds.MARK_NAMES:
            treated[words.treatment.get(name, "not stated")] += tokens
    every = treated.total()
    replaced = treated.pop("replaced", 0)
    figures: JsonObject = {"words_replaced": replaced, "other_words": {**treated}}
    by_class = {
        name: tokens for name in kinds.OPTIONAL if (tokens := words.tokens.get(name, 0))
    }
    if by_class:
        figures["by_class"] = {**by_class}
    figures["replaced_by_the_same"] = _replaced_by_the_same(words)
    if common := by_class.pop("common", 0):
        figures["share_of_common_words"] = common / every
    digits, new = treated["random digits"], treated["made new"]
    classes = ", ".join(f"{CLASSES[name]} {count(n)}" for name, n in by_class.items())
    listed = f" ({classes})" if classes else ""
    return figures, {
        "digits": digits,
        "drawn": drawn_pieces(by_class, new, digits) if new or digits else "",
        "new": f"{drawn_pieces(by_class, new, 0)}{listed}" if new else "",
        "common": common,
        "corpus_words": words.corpus_words or 0,
        "share_of_common_words": common / (every or 1),
        "masked": treated["masked"],
        "left_out": treated["left out"],
        "same": treated["unchanged"] - common,
        "others": bool(common),
        "unchanged": "",
    }


def _replaced_by_the_same(words: WordCounts) -> int | None:
    """Return how many words were drawn as themselves, None if unknown."""
    changes = words.metrics.get("PP", {})
    changed, total = changes.get("share_changed"), changes.get("words")
    if not isinstance(changed, float) or not isinstance(total, int):
        return None
    return round((1.0 - changed) * total)


def drawn_pieces(by_class: Mapping[str, int], new: int, digits: int) -> str:
    """Describe the pieces drawn by class or form, with their number."""
    pieces, forms = new + digits, new - sum(by_class.values())
    drawn = {"name": len(by_class), "number": digits, "form": forms}
    names = [name for name, number in drawn.items() if number]
    if forms and len(names) > 1 and pieces > 1:
        names[-1] = "form_too"
    shown = [say(f"piece.{name}", pieces=pieces) for name in names]
    if pieces == 1:
        shown = shown[:1]
    joined = ", ".join(shown) if "form_too" in names else series(tuple(shown))
    return f"{count(pieces)} {joined}"
