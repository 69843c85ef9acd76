from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import lexicons, open_pipeline
from dptext.randomness import RunKey
from dptext.readers import kernel, ngrams, triples
from dptext.readers.ngrams import Gains, decoded
from dptext.readers.posterior import Chains, WordCandidates
from dptext.readers.triples import Triples
from dptext.types import Record
from tests import small
from tests.readers import models

LEXICON = small.lexicon(np.random.default_rng(0).normal(size=(20, 5)))
GAINS = Gains(models.model(LEXICON, seed=2))


def some_triples(seed: int) -> Triples:
    """Make triples of random gains over the slots of a small table."""
    rng, width = np.random.default_rng(seed), GAINS.width
    begun = rng.random((width, width)) < 0.5
    seen = (rng.random((width, width, width)) < 0.3) & begun[:, :, None]
    _, seconds = np.nonzero(begun)
    ends = np.append(0, np.cumsum(seen[begun].sum(axis=1)))
    return Triples(
        np.append(0, np.cumsum(begun.sum(axis=1))),
        seconds.astype(np.int32),
        rng.integers(-20, 0, len(seconds)).astype(np.int8),
        ends,
        np.nonzero(seen[begun])[1].astype(np.int32),
        rng.integers(-30, 60, int(ends[-1])).astype(np.int8),
        "",
    )


def gain_of(table: Triples, first: int, second: int, third: int) -> float:
    """Look a gain up as the docstring of `Triples` says."""
    for pair in range(table.begins[first], table.begins[first + 1]):
        if table.seconds[pair] == second:
            for at in range(table.ends[pair], table.ends[pair + 1]):
                if table.thirds[at] == third:
                    return float(decoded(table.gains[at : at + 1])[0])
            return float(decoded(table.backoff[pair : pair + 1])[0])
    return 1.0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_posterior_is_that_of_all_texts(seed: int) -> None:
    """Summed over all texts of a chain, and with the same bytes by the kernel."""
    rng, table = np.random.default_rng(seed), some_triples(seed)
    before, after, lengths, width = [], [], rng.integers(1, 6, 3), 3
    for length in lengths.tolist():
        before += [int(rng.integers(22)), *[-1] * (length - 1)]
        after += [*[-1] * (length - 1), int(rng.integers(22))]
    chains = Chains(np.array(before), np.array(after))
    rows = np.array([rng.permutation(21)[:width] for _ in before]).T
    weights = rng.uniform(0.1, 1.0, rows.shape).astype(np.float32)
    backoff = rng.uniform(0.1, 1.0, rows.shape).astype(np.float32)
    slots = GAINS.slot_of[rows]
    words = WordCandidates(slots, weights, backoff)
    posterior = triples._marginals(chains, words, GAINS, table)
    begin = 0
    for length in lengths.tolist():
        part = range(begin, begin + length)
        edges = GAINS.slot_of[[before[begin], after[begin + length - 1]]].tolist()
        sums = np.zeros((width, length))
        for choice in product(range(width), repeat=length):
            here = [int(slots[k, t]) for k, t in zip(choice, part, strict=True)]
            text = [edges[0], *here, edges[1]]
            worth = 1.0
            for k, t in zip(choice, part, strict=True):
                worth *= weights[k, t] * backoff[k, t]
            for at in range(1, len(text)):
                pair = GAINS.of(*(np.array(text[n : n + 1]) for n in (at - 1, at)))
                worth *= float(decoded(pair)[0])
                if at > 1:
                    worth *= gain_of(table, *text[at - 2 : at + 1])
            sums[list(choice), range(length)] += worth
        expected = sums / sums.sum(axis=0)
        np.testing.assert_allclose(posterior[:, part], expected, rtol=1e-3, atol=1e-6)
        begin += length
    if kernel.library is not None:
        by_kernel = triples.marginals(chains, words, GAINS, table)
        assert by_kernel.tobytes() == posterior.tobytes()


def test_the_triples_that_ship_know_english() -> None:
    """Over the lexicon that ships, and over some of its words in another order."""
    english = lexicons.find("builtin")
    model = ngrams.load(ngrams.packaged_model())
    names = ["united", "as", "well", "the", "of", "number", "states", "one"]
    few = small.english(*names)
    for lexicon in (english, few):
        gains = Gains(model.over(lexicon), 1.0)
        table = Triples.of(gains, lexicon, 1.0)
        slots = [gains.slot_of[lexicon.row_of[word]] for word in ("as", "well", "as")]
        rare = [gains.slot_of[lexicon.row_of[word]] for word in ("as", "well", "one")]
        both = table.codes(*np.array([slots, rare], np.int32).T)
        assert float(decoded(both)[0]) > 3.0 > float(decoded(both)[1])


def test_trigrams_decode_under_their_own_name() -> None:
    """They change what is written, and the report names both files that were read."""
    over = {"decoder": {"name": "ngram", "model": ngrams.TRIGRAMS}}
    pairs, both = open_pipeline("balanced"), open_pipeline("balanced", over)
    assert set(both.decoder.content) == {"model", "triples"}
    texts = ["The United States of America will not be one of the best."] * 40
    written = []
    for ready in (pairs, both):
        records = [Record(number, (text,), None) for number, text in enumerate(texts)]
        randomness = ready.randomness(RunKey.from_seed(0))
        written.append(ready.privatize(records, randomness).texts)
    assert written[0] != written[1]
