"""Sections of a report as data: settings, figures, counts, released file.

`dptext.report.document` combines them. Field descriptions go to `schema.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta

from dptext.decoders import ServerAsked, ServerUse
from dptext.guarantees import sentences, statement
from dptext.guarantees.claims import SubjectLimit, picked_after, picked_share
from dptext.measures.bayes_risk import Risk, Share
from dptext.measures.context_risk import AttackerFigures, Count
from dptext.measures.public import (
    Deniability,
    NoRisk,
    PublicMeasures,
    measure_common_share,
)
from dptext.measures.vector_figures import VectorMeasures
from dptext.report.delicate import SpecialRecords
from dptext.report.layout import Layout
from dptext.tokens import kinds, lists
from dptext.tokens.policy import Policy, WordClass
from dptext.types import about

if TYPE_CHECKING:
    from dptext.engine.tally import Tally
    from dptext.pipeline import Pipeline
    from dptext.vectors import Counts
    from dptext.vectors.release import VectorRelease

# In patterns, `$` alone would let a line end follow.
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
# A version of dptext as packages write it: no words, so that a report claims nothing.
Release = Annotated[
    str, Meta(pattern=r"^[0-9]{1,4}(\.[0-9]{1,6}){1,3}((a|b|rc)[0-9]{1,3})?$(?!\n)")
]
_Hex = Annotated[str, Meta(pattern=r"^[0-9a-f]{1,128}$(?!\n)")]
_Key = Literal["system", "key-file", "seed"]
# Texts with a larger share of words unknown to the lexicon are in another language.
_UNKNOWN = 1 / 3
# By the codes of treatments (dptext.tokens.policy).
_TREATED = (
    "replaced",
    "unchanged",
    "masked",
    "left out",
    "random digits",
    "made new",
    "layout unchanged",
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """The ledger that records an output."""

    # No row: `dptext ledger` shows it.
    ledger: Annotated[_Hex, about("Id of the ledger.")]
    # No row: `dptext ledger` shows it.
    entry: Annotated[
        _Hex | None, about("Entry of the output; null for a report of several outputs.")
    ]
    limits: Annotated[
        SubjectLimit, about("Limits of each subject in all recorded outputs.")
    ]


@dataclass(frozen=True, slots=True)
class Run:
    """Versions, settings, lexicon and layout of a run."""

    dptext: Annotated[Release, about("Version of dptext.")]
    algorithm: Annotated[str, about("Algorithm that turns the key into random bits.")]
    profile: Annotated[str, about("Name of the profile, with changes.")]
    settings: Annotated[
        dict[str, Any], about("The resolved profile, epsilon included.")
    ]
    settings_digest: Annotated[Digest, about("SHA-256 of the settings.")]
    lexicon: Annotated[str, about("Name of the lexicon, or of the sentence model.")]
    lexicon_digest: Annotated[
        str, about("Digest of the lexicon's content; empty for a sentence model.")
    ]
    key: Annotated[_Key, about("Source of randomness.")]
    layout: Annotated[Layout, about("How records were read.")]
    recorded: Annotated[
        Recorded | None, about("The ledger that records the run; null without one.")
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TopicFigures:
    """Success of attackers who have originals, if whole texts become topics."""

    topics: Annotated[Count, about("Number of topics.")]
    nearest: Annotated[
        Share, about("Probability that the topic nearest to a text is written, exact.")
    ]
    originals: Annotated[
        Count,
        about(
            "Number of equally likely originals, alike in all unchanged fields, "
            "that the attacker holds."
        ),
    ]
    picked: Annotated[Share, about("Upper limit of picking the right one, on average.")]
    picked_after: Annotated[Share, about("The same after any single output.")]
    picked_of_two: Annotated[Share, about("The same for two originals.")]
    together: Annotated[
        Count, about("Number of topics written for a text, as a set.")
    ] = 1

    @classmethod
    def from_pipeline(cls, pipeline: Pipeline) -> TopicFigures | None:
        """Return the figures of a topics pipeline, None for a words pipeline."""
        terms = statement.topic_terms(pipeline.mechanism, pipeline.budget.description)
        if terms is None:
            return None
        epsilon = pipeline.budget.description.high
        return cls(
            topics=terms.size,
            nearest=terms.nearest,
            originals=sentences.ORIGINALS,
            picked=picked_share(epsilon, sentences.ORIGINALS, terms),
            picked_after=picked_after(epsilon, sentences.ORIGINALS),
            picked_of_two=picked_after(epsilon, 2),
            together=terms.together,
        )


@dataclass(frozen=True, slots=True)
class WordSection:
    """Figures of attackers on released words, and the public data behind them."""

    risk: Annotated[
        Risk | None,
        about(
            "Success of the best guess of a word from one draw; a public report "
            "leaves out its frequency bands."
        ),
    ]
    risk_note: Annotated[str, about("Meaning of the risk, or why there is none.")]
    vocabulary: Annotated[Count, about("Number of words of the lexicon.")]
    dimensions: Annotated[Count, about("Number of dimensions of its vectors.")]
    prior: Annotated[
        str, about("Source of its word frequencies; empty in a public report.")
    ] = ""
    # No row: risk_note says why in words.
    no_risk: Annotated[
        NoRisk | None, about("Why there is no risk; null if there is one.")
    ] = None
    deniability: Annotated[
        Deniability | None, about("Figures of plausible deniability.")
    ] = None
    attackers: Annotated[
        tuple[AttackerFigures, ...],
        about(
            "Findings of attackers of whole texts in draws of public texts in the "
            "language of the lexicon, at the risk attackers_risk (a lower limit) "
            "or, if that is null, under these settings."
        ),
    ] = ()
    written: Annotated[
        tuple[AttackerFigures, ...],
        about(
            "Share of written words of such texts that are the original, under "
            "these settings."
        ),
    ] = ()
    attackers_risk: Annotated[
        Share | None,
        about(
            "The smaller risk at which attackers were measured; null for these "
            "settings."
        ),
    ] = None
    language: Annotated[str, about("Code of the language of the lexicon.")] = ""
    common: Annotated[
        Share | None,
        about(
            "Share of common words, which are unchanged, by the word frequencies "
            "of the lexicon; null if common words are replaced."
        ),
    ] = None
    # No row: settings name the files.
    decoder_files: Annotated[
        dict[str, str], about("Digests of the files of the decoder, by setting.")
    ] = field(default_factory=dict)
    # No row: settings name the files.
    list_files: Annotated[
        dict[str, str], about("Digests of the files of lists, by path.")
    ] = field(default_factory=dict)
    topics: Annotated[
        TopicFigures | None,
        about("Figures if whole texts become topics; null if words are replaced."),
    ] = None

    @classmethod
    def from_pipeline(cls, pipeline: Pipeline, measures: PublicMeasures) -> WordSection:
        """Return what public data alone show about a pipeline."""
        lexicon = pipeline.lexicon
        return cls(
            risk=measures.risk,
            risk_note=measures.risk_note,
            vocabulary=len(lexicon.words),
            dimensions=lexicon.vectors.shape[1],
            prior=str(lexicon.meta.get("prior", "not stated")),
            no_risk=measures.no_risk,
            attackers=AttackerFigures.from_measured(measures.in_context),
            written=AttackerFigures.from_measured(measures.written),
            attackers_risk=measures.attackers_risk,
            language=lexicon.language,
            common=measure_common_share(pipeline),
            decoder_files=dict(pipeline.decoder.content),
            list_files=lists.digests(pipeline.profile.tokens),
            topics=TopicFigures.from_pipeline(pipeline),
        )


@dataclass(frozen=True, slots=True)
class VectorSection:
    """Figures for released vectors, and how they are made."""

    measures: Annotated[
        VectorMeasures | None,
        about("Figures of attackers and distances; null for a seeded run."),
    ]
    dimensions: Annotated[Count, about("Number of dimensions of a vector.")]
    epsilon_each: Annotated[float, about("Epsilon of one vector, in nats.")]
    step: Annotated[
        float,
        about(
            "Step of the public grid of released values; 0 for public points off a "
            "grid."
        ),
    ]
    table_digest: Annotated[
        Digest,
        about(
            "Digest of the vectors before noise: those of the lexicon, weighted if "
            "the settings weight them, or of the sentence model."
        ),
    ]

    @classmethod
    def from_release(
        cls, release: VectorRelease, measures: VectorMeasures | None
    ) -> VectorSection:
        """Return what public data alone show about a release."""
        return cls(
            measures=measures,
            dimensions=release.dimensions,
            epsilon_each=release.epsilon,
            step=release.mechanism.step(release.epsilon),
            table_digest=release.lexicon.digest,
        )


def treatment(policy: Policy) -> dict[str, str]:
    """Describe the treatment of each class of token."""
    names = zip(kinds.NAMES, policy.treatments.tolist(), strict=False)
    treated = {name: _TREATED[code] for name, code in names}
    # Classes that a policy has only on demand.
    asked = {each.kind for each in policy.classes}
    asked |= {kinds.COMMON} if policy.common else set()
    every = {each.kind for each in WordClass} | {kinds.COMMON}
    optional = {kinds.NAMES[kind] for kind in every - asked}
    return {name: how for name, how in treated.items() if name not in optional}


def _languages(pipeline: Pipeline, texts: Mapping[str, int]) -> dict[str, int]:
    """Count texts by language, empty if the lexicon reads them all."""
    are_read = pipeline.profile.tokens.languages or texts.get("")
    return dict(sorted(texts.items())) if are_read else {}


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Counts of texts with replaced words."""

    tokens: Annotated[dict[str, int], about("Number of tokens by class.")]
    treatment: Annotated[dict[str, str], about("Treatment of each class of token.")]
    share_copied: Annotated[
        float,
        about(
            "Share of unchanged tokens, of those that are neither punctuation nor "
            "space."
        ),
    ]
    metrics: Annotated[
        dict[str, dict[str, int | float | str | None]],
        about(
            "Metrics by name, of the written words; none for rewritten texts, in "
            "which no word stands for another."
        ),
    ]
    describes: Annotated[
        Literal["drawn words", "decoded words", "rewritten texts"],
        about("The words that metrics describe."),
    ]
    epsilon_per_text: Annotated[
        dict[str, float],
        about("Epsilon of texts, in nats: least, quantiles, largest and total."),
    ]
    words_per_second: Annotated[float, about("Speed of the whole run.")]
    fields: Annotated[
        dict[str, int],
        about(
            "Number of records with each selected field, null or not; empty for "
            "plain text."
        ),
    ] = field(default_factory=dict)
    forms: Annotated[
        dict[str, int],
        about("Number of pieces of each form, markup and fixed expressions included."),
    ] = field(default_factory=dict)
    languages: Annotated[
        dict[str, int],
        about(
            "Number of texts by the language that they are read in, by its code; "
            '"" for none of the languages of the run. Empty where all are read by '
            "the lexicon."
        ),
    ] = field(default_factory=dict)
    used: Annotated[
        ServerUse | None, about("All requests to a third party; null without one.")
    ] = None
    unchanged_texts: Annotated[
        int,
        about(
            "Number of texts with a letter or digit that are the same before and after."
        ),
    ] = 0
    changed_texts: Annotated[
        int, about("Number of the other texts with a letter or digit.")
    ] = 0
    corpus_words: Annotated[
        int | None,
        about(
            "Number of words left unchanged because they are on the list of words that "
            "many people wrote; null if there is no list."
        ),
    ] = None
    special: Annotated[
        SpecialRecords | None, about("Records with a delicate word; null for topics.")
    ] = None

    @property
    def share_unchanged(self) -> float:
        """Return the share of unchanged texts, 0 if there are no texts."""
        texts = self.unchanged_texts + self.changed_texts
        return self.unchanged_texts / texts if texts else 0.0

    @property
    def other_language(self) -> bool:
        """Return whether over a third of the words are missing from the lexicon."""
        known = sum(self.tokens.get(key, 0) for key in ("word", "stop_word", "common"))
        unknown = self.tokens.get("unknown", 0)
        return unknown > _UNKNOWN * (known + unknown)

    @classmethod
    def from_tally(cls, pipeline: Pipeline, tally: Tally) -> WordCounts:
        """Return the counts of a run."""
        counted, meters = tally.counted, tally.meters
        has_list = pipeline.profile.tokens.words is not None
        tokens = dict(zip(kinds.NAMES, counted.tokens.tolist(), strict=False))
        treated = treatment(pipeline.profile.tokens)
        tokens = {name: number for name, number in tokens.items() if name in treated}
        wordlike = tokens.keys() - kinds.MARK_NAMES
        total = sum(tokens[name] for name in wordlike)
        copied = sum(tokens[name] for name in wordlike if treated[name] == "unchanged")
        describes = "drawn words"
        if pipeline.rewrites:
            describes = "rewritten texts"
        elif pipeline.profile.decoder.params.reads:
            describes = "decoded words"
        return cls(
            tokens=tokens,
            treatment=treated,
            share_copied=copied / total if total else 0.0,
            metrics={} if pipeline.rewrites else meters.results(counted),
            describes=describes,  # type: ignore[arg-type]
            epsilon_per_text=meters.epsilons.result(counted.epsilons),
            words_per_second=counted.words / tally.seconds if tally.seconds else 0.0,
            fields=dict(tally.fields),
            forms=dict(sorted(counted.forms.items())),
            languages=_languages(pipeline, counted.languages),
            used=pipeline.decoder.used,
            unchanged_texts=counted.unchanged_texts,
            corpus_words=counted.listed if has_list else None,
            changed_texts=counted.changed_texts,
            special=SpecialRecords.from_tally(pipeline, tally),
        )


@dataclass(frozen=True, slots=True)
class VectorCounts:
    """Counts of texts that became vectors."""

    words: Annotated[int, about("Number of words.")]
    vectors: Annotated[int, about("Number of vectors.")]
    most_of_one: Annotated[
        int | None,
        about("Largest number of vectors of one subject; null without subjects."),
    ]
    epsilon_of_one: Annotated[
        float | None,
        about(
            "Loss of these together, in nats, at the statement's delta if it has one."
        ),
    ]


@dataclass(frozen=True, slots=True)
class Private:
    """Figures that depend on the private text, for its owner only."""

    inputs: Annotated[tuple[str, ...], about("Paths of the inputs.")]
    records: Annotated[int, about("Number of records.")]
    faults: Annotated[
        int, about("Number of records left out because they cannot be read.")
    ]
    texts: Annotated[int, about("Number of texts.")]
    seconds: Annotated[float, about("Duration of the run.")]
    words: Annotated[WordCounts | None, about("Counts of words; null for vectors.")]
    vectors: Annotated[VectorCounts | None, about("Counts of vectors; null for words.")]
    warnings: Annotated[
        tuple[str, ...],
        about(
            "Warnings of the run. Both a warning and its absence depend on the private "
            "text."
        ),
    ] = ()
    others: Annotated[
        int,
        about(
            "Number of records left out because they are in none of the languages "
            "of the run."
        ),
    ] = 0
    unchanged: Annotated[
        tuple[str, ...],
        about(
            "Names of the unchanged fields that were found in the first records; "
            "empty for vectors, and where none was looked for."
        ),
    ] = ()

    @classmethod
    def from_counts(
        cls,
        inputs: Sequence[str],
        counts: Tally | Counts,
        words: WordCounts | None = None,
        vectors: VectorCounts | None = None,
    ) -> Private:
        """Build from counts; paths are escaped where JSON cannot hold them."""
        shown = tuple(
            path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            for path in inputs
        )
        numbers = counts.records, counts.faults, counts.texts, counts.seconds
        copied = tuple(getattr(counts, "copied", ()))
        others = getattr(counts, "others", 0)
        return cls(shown, *numbers, words, vectors, others=others, unchanged=copied)


@dataclass(frozen=True, slots=True)
class Output:
    """The released file."""

    file: Annotated[str | None, about("Base name; null for standard output.")]
    bytes: Annotated[Count, about("Size.")]
    sha256: Annotated[Digest, about("SHA-256 of the file.")]
    copied: Annotated[
        tuple[str, ...] | None,
        about(
            "Unchanged fields; null if the file does not name all of its "
            "fields in one place, as a header or schema does."
        ),
    ] = None
    sheets: Annotated[
        dict[str, bool] | None,
        about("Sheets of a workbook, and whether each has private texts."),
    ] = None
    columns: Annotated[
        tuple[str, ...] | None, about("Columns of a file of vectors; null for words.")
    ] = None
    # No row: `dptext check` compares it with the file.
    rows: Annotated[
        Count | None, about("Rows of a file of vectors; null for words.")
    ] = None
    used: Annotated[
        ServerAsked | None,
        about("The third party that decoded draws; null without one."),
    ] = None
