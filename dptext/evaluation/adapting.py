"""Make a lexicon of public text of one kind, and measure by halves what it gives.

Of the texts every second one is read by the pairs of the others. The lexicon itself is
of all of them, so that only its word counts have seen what is read. Figures are kept
beside the lexicon: reports and `--reader-risk` look them up there.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from dptext import pipeline, profile
from dptext.errors import UsageError
from dptext.lexicons import from_text, importing, store
from dptext.lexicons.from_text import Texts, count_words, vectors_from_text
from dptext.measures import context_risk, ladder
from dptext.measures.context_risk import InContext, Reading
from dptext.measures.kept import AllMetrics
from dptext.metrics import Batch
from dptext.pipeline import Pipeline
from dptext.progress import Shares
from dptext.randomness import RunKey
from dptext.readers import ngrams
from dptext.readers.ngrams import Ngrams
from dptext.readers.training import PairCounts, SameKindReader
from dptext.tokens.regex import keys_of
from dptext.types import Lexicon, Record

# The risks at which readers are measured; words that are read at each, about.
_RISKS = (0.1, 0.15, 0.2, 0.3)
_SHOWN, _READ = 0.2, 20_000
_CHARACTERS = 6 * _READ


@dataclass(frozen=True, slots=True)
class Decoded:
    """Share of words that differ from the original, and share of meaning kept."""

    changed: float
    meaning: float


@dataclass(frozen=True, slots=True)
class Adapted:
    """What a lexicon of public text gives, on the half of the text that is held out.

    unknown_before and unknown_after are shares of words that the base and the lexicon
    of the other half lack. drawn, general and own: as drawn, decoded by the pairs that
    ship (null: none for this language), and by the pairs of the other half.
    """

    name: str
    digest: str
    words: int
    new_words: int
    counted: int
    pairs: int
    unknown_before: float | None
    unknown_after: float
    drawn: Decoded
    general: Decoded | None
    own: Decoded
    reading: Reading


def made(
    name: str,
    texts: Texts,
    source: str,
    progress: Shares,
    *,
    base: Lexicon | None,
    language: str,
    least: int,
) -> Adapted:
    """Make lexicon and pairs of public text, measure them and store them by a name.

    base is the lexicon to adapt; without one words and vectors are of the texts alone.
    """
    folder, pairs_folder = store.folder_of(name), ngrams.folder_of(name)
    progress("words and vectors", 0.0)
    lexicon = _lexicon(name, texts, source, base, language, least)
    lexicon = replace(lexicon, digest=store.digest_in_memory(lexicon))
    progress("pairs of words", 0.0)
    general = _general(lexicon)
    meta = {"source": source, "licence": "not stated", "lexicon": name}
    every = _counted(lexicon, texts)
    pairs = every.model(1, {**meta, "counted": every.words}, general)
    result, figures = _measured(lexicon, texts, base, least, general, progress)
    ngrams.save(pairs, pairs_folder)
    store.save(lexicon, folder)
    text = json.dumps(figures, indent=1, sort_keys=True)
    (folder / ladder.FILE).write_text(f"{text}\n", encoding="utf-8")
    return replace(result, counted=every.words, pairs=len(pairs.gains))


def _lexicon(
    name: str,
    texts: Texts,
    source: str,
    base: Lexicon | None,
    language: str,
    least: int,
) -> Lexicon:
    if base is not None:
        return from_text.adapt(base, name, texts, least, source)
    raw = vectors_from_text(texts, least)
    settings = importing.Settings(language=language)
    meta = {"adapted": source, "licence": "that of the texts", from_text.PAIRS: name}
    return importing.from_vectors(raw, name, settings, meta, source)


def _general(lexicon: Lexicon) -> Ngrams | None:
    """Return the pairs that ship, over a lexicon's words; None in other languages."""
    ready = _ready(lexicon, _SHOWN, {"name": "none"})
    return ngrams.shipped(ready.channel)


def _counted(lexicon: Lexicon, texts: Texts) -> PairCounts:
    counts = PairCounts(lexicon)
    for batch in texts():
        counts.add(batch)
    return counts


def halves(texts: Texts) -> tuple[Texts, Texts]:
    """Return every first and every second text."""

    def part(first: int) -> Texts:
        def read() -> Iterator[Sequence[str]]:
            number = 0
            for batch in texts():
                yield batch[(first - number) % 2 :: 2]
                number += len(batch)

        return read

    return part(0), part(1)


def sample(texts: Texts, most: int = _CHARACTERS) -> list[str]:
    """Return the first texts, of so many characters together."""
    chosen: list[str] = []
    for batch in texts():
        for text in batch:
            if most <= 0:
                return chosen
            chosen.append(text)
            most -= len(text)
    return chosen


def _measured(
    lexicon: Lexicon,
    texts: Texts,
    base: Lexicon | None,
    least: int,
    general: Ngrams | None,
    progress: Shares,
) -> tuple[Adapted, dict[str, object]]:
    """Return what was measured, and the figures to keep."""
    counted, held_out = halves(texts)
    read = sample(held_out)
    if len(read) < 2:
        raise UsageError("the texts are too few to be divided into halves")
    other = _counted(lexicon, counted)
    pairs = other.model(1, {}, general)
    readers: dict[str, object] = {}
    rungs: dict[str, object] = {}
    reading = None
    for number, risk in enumerate(_RISKS):
        progress("what readers find", number / len(_RISKS))
        ready = _ready(lexicon, risk, {"name": "none"})
        reader = SameKindReader.strongest(ready.channel, pairs)
        readings = context_risk.measure(
            ready,
            [*context_risk.available(ready)[:1], reader],
            [read],
            ready.randomness(RunKey.from_seed(0)),
        )
        digest = general.digest if general is not None else ""
        source = str(lexicon.meta["adapted"])
        one = InContext(source, digest, readings, "public text", other.words)
        key = context_risk.key_of(ready)
        readers[key] = [asdict(one)]
        rungs[f"{risk:g}"] = key
        reading = readings[-1] if risk == _SHOWN else reading
    assert reading is not None
    recipe = profile.load("balanced", {"budget": {"risk": _SHOWN}})
    ladders = {ladder.key_of(recipe.settings(), lexicon): rungs}
    progress("what decoding gains", 0.0)
    drawn, shipped, own = _decoded(lexicon, pairs, general, read)
    before, after = _unknown(base, counted, read, least)
    result = Adapted(
        name=lexicon.name,
        digest=lexicon.digest,
        words=len(lexicon.words),
        new_words=int(lexicon.meta.get("new_words", len(lexicon.words))),
        counted=0,
        pairs=0,
        unknown_before=before,
        unknown_after=after,
        drawn=drawn,
        general=shipped,
        own=own,
        reading=reading,
    )
    return result, {"readers": readers, "ladders": ladders}


def _ready(lexicon: Lexicon, risk: float, decoder: dict[str, object]) -> Pipeline:
    over = {"budget": {"risk": risk}, "decoder": decoder}
    return pipeline.build(profile.load("balanced", over), lexicon)


def _decoded(
    lexicon: Lexicon, pairs: Ngrams, general: Ngrams | None, texts: Sequence[str]
) -> tuple[Decoded, Decoded | None, Decoded]:
    """Return what is left of texts as drawn, and decoded by pairs that ship and own."""
    with tempfile.TemporaryDirectory() as folder:
        results: list[Decoded | None] = []
        decoders: list[dict[str, object]] = [{"name": "none"}]
        for each in (general, pairs):
            path = Path(folder) / str(len(decoders))
            if each is not None:
                ngrams.save(each, path)
            decoders.append({"name": "ngram", "model": str(path)})
        for decoder in decoders:
            absent = decoder is decoders[1] and general is None
            results.append(None if absent else _kept(lexicon, decoder, texts))
    drawn, shipped, own = results
    assert drawn is not None
    assert own is not None
    return drawn, shipped, own


def _kept(
    lexicon: Lexicon, decoder: dict[str, object], texts: Sequence[str]
) -> Decoded:
    ready = _ready(lexicon, _SHOWN, decoder)
    meters = AllMetrics(lexicon)
    counted, number = meters.observe(Batch.empty()), 0
    randomness = ready.randomness(RunKey.from_seed(0))
    records = (Record(n, (text,), None) for n, text in enumerate(texts))
    while batch := list(islice(records, 256)):
        private = ready.privatize(batch, randomness)
        counted = meters.merge(counted, meters.observe(private.batch(number)))
        number += len(batch)
    figures = meters.results(counted)
    changed, meaning = figures["PP"]["share_changed"], figures["CS"]["share_kept"]
    return Decoded(float(changed or 0.0), float(meaning or 0.0))


def _unknown(
    base: Lexicon | None, counted: Texts, read: Sequence[str], least: int
) -> tuple[float | None, float]:
    """Return the shares of words that the base, and one of the other half, lack."""
    keys = {} if base is None else dict.fromkeys(keys_of(base.words), 0)
    index = count_words(counted, keys, least, elisions=base is None).index

    def share(known: dict[str, int]) -> float:
        words = count_words(lambda: [read], known, 1, elisions=base is None)
        new, old = sum(words.new.values()), float(words.known.sum())
        return new / max(new + old, 1.0)

    before = None if base is None else share(keys)
    return before, share(dict(index))
