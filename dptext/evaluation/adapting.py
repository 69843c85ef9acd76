"""Builds a lexicon from public text of one kind, and measures its benefit on halves.

An attacker with the pairs of one half reads the other half; repeated records are in the
same half (dptext.measures.independence). The lexicon itself is built from all records,
so only its word counts know the attacked texts. Figures are stored with the lexicon:
reports and `budget.attacker_risk` look them up there.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from dptext import calibration, pipeline, profile, progress
from dptext.attackers import Attacker, ngrams
from dptext.attackers.ngrams import Ngrams
from dptext.attackers.reader import SameKindAttacker
from dptext.attackers.training import PairCounts
from dptext.engine.tally import Tally
from dptext.errors import UsageError
from dptext.evaluation.attackers import (
    Halves,
    PublicText,
    count_kind,
    count_pairs,
    sample,
)
from dptext.lexicons import from_text, importing, store
from dptext.lexicons.from_text import Texts, count_words, vectors_from_text
from dptext.measures import calibrate, context_risk
from dptext.measures.context_risk import (
    PUBLIC_TEXT,
    ContextAttack,
    InContext,
    Reading,
)
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.tokens.regex import to_keys
from dptext.types import JsonObject, Lexicon, Record

# The risks at which attackers are measured; words that are read at each, about.
_RISKS = (0.1, 0.15, 0.2, 0.3)
_SHOWN, _READ = 0.2, 20_000
_ANY_EPSILON = 10.0  # where the mechanism does not matter


@dataclass(frozen=True, slots=True)
class DecodingFigures:
    """Share of words that differ from the original, and share of meaning preserved."""

    changed: float
    meaning: float


@dataclass(frozen=True, slots=True)
class AdaptationFigures:
    """The benefit of a lexicon from public text, measured on its held-out half.

    Distortions and readings are measured at `risk`.
    """

    name: str
    digest: str
    words: int
    new_words: int
    #: Number of words with counted pairs.
    counted: int
    pairs: int
    #: Share of words that the base lexicon lacks.
    unknown_before: float | None
    #: Share of words that the lexicon of the other half lacks.
    unknown_after: float
    #: 20%, or the smallest larger risk that is measured and in reach.
    risk: float
    #: Distortion of the drawn words, before decoding.
    drawn: DecodingFigures
    #: Distortion after decoding by the pairs that ship; null: none for this language.
    shipped: DecodingFigures | None
    #: Distortion after decoding by the pairs of the other half.
    adapted: DecodingFigures
    #: Successes of an attacker with the pairs of the other half.
    reading: Reading


def make(
    name: str,
    files: Sequence[PublicText],
    *,
    base: Lexicon | None,
    language: str,
    least: int,
) -> AdaptationFigures:
    """Build a lexicon and pair model from public text, measure and store them.

    base: the lexicon to adapt; without one, words and vectors come only from the texts.
    """

    def texts() -> Iterator[Sequence[str]]:
        return chain.from_iterable(file.texts() for file in files)

    def records() -> Iterator[Sequence[tuple[str, ...]]]:
        return chain.from_iterable(file.records() for file in files)

    folder, pairs_folder = store.lexicon_folder(name), ngrams.model_folder(name)
    progress.share("words and vectors", 0.0)
    halves = Halves(records)
    first = partial(halves.texts, 0)
    read = sample(partial(halves.records, 1), _READ)
    if min(halves.units) < 2:
        raise UsageError(
            "too few distinct texts (half of them are held out, and near duplicates "
            "count as one); give more"
        )
    corpus = ", ".join(file.name for file in files)
    source = {"adapted": corpus, "adapted_sha256": [file.digest for file in files]}
    if base is not None:
        lexicon = from_text.adapt(base, name, texts=texts, least=least, source=source)
    else:
        lexicon = _from_texts(name, texts, language, least=least, source=source)
    lexicon = replace(lexicon, digest=store.digest_in_memory(lexicon))
    progress.share("pairs of words", 0.0)
    plain = {"risk": None, "epsilon": _ANY_EPSILON}
    overrides = {"budget": plain, "decoder": {"name": "none"}}
    ready = calibration.build(profile.load("balanced", overrides), lexicon)
    general = ngrams.shipped_model(ready.channel)
    about_pairs = {"source": corpus, "licence": "not stated", "lexicon": name}
    every = count_pairs(PairCounts(lexicon), texts, math.inf)
    pairs = every.model(1, {**about_pairs, "counted": every.words}, general)
    # The lexicon names its pairs by digest: neither is replaced without the other.
    meta = {**lexicon.meta, ngrams.PAIRS_DIGEST: ngrams.compute_digest(pairs)}
    lexicon = replace(lexicon, meta=meta)
    lexicon = replace(lexicon, digest=store.digest_in_memory(lexicon))
    measured = _Findings.measure(
        lexicon, corpus, other=first, read=read, general=general
    )
    progress.share("what decoding gains", 0.0)
    before, after = _unknown(base, first, read, least)
    shown, decoded = measured.shown, partial(_measure_decoded, lexicon, measured.shown)
    result = AdaptationFigures(
        name=lexicon.name,
        digest=lexicon.digest,
        words=len(lexicon.words),
        new_words=int(lexicon.meta.get("new_words", len(lexicon.words))),
        counted=every.words,
        pairs=len(pairs.gains),
        unknown_before=before,
        unknown_after=after,
        risk=shown,
        drawn=_kept(measured.pipelines[shown], read),
        shipped=None if general is None else decoded(general, read),
        adapted=decoded(measured.pairs, read),
        reading=measured.in_context[shown].readings[-1],
    )
    ngrams.save(pairs, pairs_folder)
    store.save(lexicon, folder)
    text = json.dumps(measured.figures(lexicon), indent=1, sort_keys=True)
    (folder / calibrate.ATTACKERS_FILE).write_text(f"{text}\n", encoding="utf-8")
    return result


def _from_texts(
    name: str, texts: Texts, language: str, *, least: int, source: Mapping[str, object]
) -> Lexicon:
    """Make a lexicon with words and vectors of texts alone; source: its meta data."""
    raw = vectors_from_text(texts, least)
    settings = importing.Settings(language=language)
    about = {**source, "licence": "that of the texts", from_text.PAIRS: name}
    return importing.from_vectors(
        raw, name, settings=settings, source=about, location=str(source["adapted"])
    )


@dataclass(frozen=True, slots=True)
class _Findings:
    """The results of attackers at each risk."""

    pipelines: dict[float, Pipeline]
    #: The risk of the figures that are shown.
    shown: float
    #: Pairs of words of the half that is not read.
    pairs: Ngrams
    in_context: dict[float, InContext]
    #: Figures of written words by decoder.
    written: dict[float, dict[str, InContext]]

    @classmethod
    def measure(
        cls,
        lexicon: Lexicon,
        corpus: str,
        other: Texts,
        read: Sequence[tuple[str, ...]],
        general: Ngrams | None,
    ) -> _Findings:
        """Measure attackers that use the other half's pairs to attack records.

        corpus: the name of the texts; general: the shipped pair model.
        """
        pipelines = _pipelines(lexicon)
        shown = _SHOWN if _SHOWN in pipelines else min(pipelines)
        counts = count_pairs(PairCounts(lexicon), other)
        pairs = counts.model(1, {}, general)
        kind = count_kind(pipelines[shown], other).kind(general)
        digest = general.digest if general is not None else ""
        one = InContext(corpus, digest, (), PUBLIC_TEXT)
        in_context, written = {}, {}
        for number, (risk, ready) in enumerate(pipelines.items()):
            progress.share("what attackers find", number / len(pipelines))
            same_kind = SameKindAttacker(ready.channel, kind)
            attackers = [*context_risk.available(ready)[:1], same_kind]
            readings = _attack(ready, attackers, read).result()
            in_context[risk] = replace(one, readings=readings, counted=counts.words)
            written[risk] = {
                decoder: replace(one, readings=(reading,))
                for decoder, reading in _written(lexicon, risk, pairs, read).items()
            }
        if not in_context[shown].readings:
            raise UsageError(
                "the texts contain no words of the lexicon, so nothing "
                "can be measured; give other texts"
            )
        return cls(pipelines, shown, pairs, in_context=in_context, written=written)

    def figures(self, lexicon: Lexicon) -> JsonObject:
        """Return the figures to store with a lexicon."""
        settings = profile.load("balanced", {"budget": {"risk": self.shown}}).settings()
        attackers: dict[str, object] = {}
        written: dict[str, object] = {}
        rungs = {}
        for risk, ready in self.pipelines.items():
            key = context_risk.key_of(ready)
            attackers[key] = [asdict(self.in_context[risk])]
            # The decoder of a run has all pairs: its key is known once they are stored.
            for decoder, one in self.written[risk].items():
                name = context_risk.written_key(_ready(lexicon, risk, name=decoder))
                written[name] = [asdict(one)]
            epsilon = ready.budget.description.high
            rungs[f"{risk:g}"] = asdict(calibrate.Rung(epsilon, key, name))
        ladder = {calibrate.ladder_key(settings, lexicon): rungs}
        return {"attackers": attackers, "written": written, "ladders": ladder}


def _pipelines(lexicon: Lexicon) -> dict[float, Pipeline]:
    """Return a pipeline for each risk above that of a blind guess.

    Raises UsageError if there is none.
    """
    pipelines = {}
    for risk in _RISKS:
        try:
            pipelines[risk] = _ready(lexicon, risk, name="none")
        except UsageError:
            if risk == max(_RISKS):
                raise UsageError(
                    f"one word is too large a part of these texts for risk {risk:.0%}; "
                    "give texts with more varied words"
                ) from None
    return pipelines


def _ready(lexicon: Lexicon, risk: float, **decoder: object) -> Pipeline:
    overrides = {"budget": {"risk": risk}, "decoder": decoder}
    return calibration.build(profile.load("balanced", overrides), lexicon)


def _measure_decoded(
    lexicon: Lexicon, risk: float, pairs: Ngrams, read: Sequence[tuple[str, ...]]
) -> DecodingFigures:
    """Return the distortion of texts decoded with the pair model."""
    with tempfile.TemporaryDirectory() as folder:
        ngrams.save(pairs, Path(folder))
        return _kept(_ready(lexicon, risk, name="ngram", model=folder), read)


def _written(
    lexicon: Lexicon, risk: float, pairs: Ngrams, read: Sequence[tuple[str, ...]]
) -> dict[str, Reading]:
    """Return per decoder how many written words are the original."""
    readings = {}
    with tempfile.TemporaryDirectory() as folder:
        ngrams.save(pairs, Path(folder))
        # Last the decoder of the profile.
        for decoder in ({"name": "none"}, {"name": "ngram", "model": folder}):
            reading = _attack(_ready(lexicon, risk, **decoder), (), read).written()
            if reading is not None:
                readings[decoder["name"]] = reading
    return readings


def _attack(
    ready: Pipeline, attackers: Sequence[Attacker], read: Sequence[tuple[str, ...]]
) -> ContextAttack:
    randomness = ready.randomness(RunKey.from_seed(0))
    return context_risk.attack_records(ready, attackers, [read], randomness)


def _kept(ready: Pipeline, read: Sequence[tuple[str, ...]]) -> DecodingFigures:
    tally = Tally.begin(ready.lexicon)
    randomness = ready.randomness(RunKey.from_seed(0))
    records = (Record(n, texts, None) for n, texts in enumerate(read))
    for batch in pipeline.batches(records):
        tally.count(ready.privatize(batch, randomness))
    figures = tally.meters.results(tally.counted)
    changed, meaning = figures["PP"]["share_changed"], figures["CS"]["share_kept"]
    return DecodingFigures(float(changed or 0.0), float(meaning or 0.0))


def _unknown(
    base: Lexicon | None, other: Texts, read: Sequence[tuple[str, ...]], least: int
) -> tuple[float | None, float]:
    """Return shares of unknown words, for the base and for the other half."""
    keys = {} if base is None else dict.fromkeys(to_keys(base.words), 0)
    index = count_words(other, keys, least, elisions=base is None).index

    def share(known: dict[str, int]) -> float:
        texts = [text for record in read for text in record]
        words = count_words(lambda: [texts], known, 1, elisions=base is None)
        new, old = sum(words.new.values()), float(words.known.sum())
        return new / max(new + old, 1.0)

    before = None if base is None else share(keys)
    return before, share(dict(index))
