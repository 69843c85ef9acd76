"""What context gives away: an attacker who knows the mechanism and how English runs.

    python benchmarks/context.py [--only rank] [--texts 120]

The attacker of the Bayes risk guesses each word from its own output alone. This one
reads the released text as a hidden Markov chain: words follow each other as in a public
bigram model (benchmarks/bigrams.py), each is released with its exact probability, and
the guess is the word of the largest posterior probability given the whole release, by
the forward-backward algorithm. For each output the words tried are the 150 likeliest by
frequency and mechanism. Only mechanisms with a closed form; AG News test rows at the
epsilons of docs/frontier-epsilons.json; rows go to docs/frontier-context.jsonl.

A lower limit of what a reader can do: a bigram knows only the next word.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any

import bigrams
import frontier
import frontier_setup
import numpy as np
from numpy.typing import NDArray
from private_rows import ROOT

from dptext.measures import prior
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.tokens import kinds
from dptext.tokens.stop_words import STOP_WORDS
from dptext.types import Record

LEVELS = ("risk 10%", "risk 20%", "risk 35%", "loss 6", "loss 8", "loss 10")
CORPUS = "AG News"
TRIED = 150
_BLOCK = 128
ROWS = ROOT / "docs" / "frontier-context.jsonl"


def tried(
    sanitizer: Pipeline, epsilon: float, outputs: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return for each output the likeliest inputs and ln P(output|input): (m, TRIED).

    By descending prior(x) P(y|x); its first is the guess without context.
    """
    mechanism, size = sanitizer.mechanism, len(sanitizer.lexicon.words)
    with np.errstate(divide="ignore"):
        often = np.log(prior.replaced(sanitizer.lexicon, sanitizer.profile.tokens))
    words = np.zeros((len(outputs), TRIED), np.int64)
    logs = np.full((len(outputs), TRIED), -np.inf)
    for begin in range(0, size, _BLOCK):
        ids = np.arange(begin, min(begin + _BLOCK, size), dtype=np.int32)
        log_probs = mechanism.log_probs(ids, np.full(len(ids), epsilon))
        top = log_probs.max(axis=1, keepdims=True)
        log_probs = (
            log_probs - top - np.log(np.exp(log_probs - top).sum(axis=1, keepdims=True))
        )
        log_probs = log_probs[:, outputs].T
        inputs = np.broadcast_to(ids, log_probs.shape)
        words, logs = np.hstack((words, inputs)), np.hstack((logs, log_probs))
        best = np.argpartition(-(often[words] + logs), TRIED - 1, axis=1)[:, :TRIED]
        words = np.take_along_axis(words, best, axis=1)
        logs = np.take_along_axis(logs, best, axis=1)
    order = np.argsort(-(often[words] + logs), axis=1, kind="stable")
    return np.take_along_axis(words, order, 1), np.take_along_axis(logs, order, 1)


def guesses(
    words: NDArray[np.int64],
    logs: NDArray[np.float64],
    rows: NDArray[np.int64],
    starts: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Return the word of the largest posterior at each place: (n,).

    words, logs (n, TRIED) the candidates of each place; rows (V,) each word's row in
    the bigram model; starts (n,) where nothing is before a word.
    """
    model, count = bigrams.model(), len(words)
    forward = np.empty((count, TRIED))
    steps: list[NDArray[np.float64]] = []
    for position in range(count):
        here = rows[words[position]]
        if starts[position]:
            forward[position] = model.alone[here] + logs[position]
            steps.append(np.empty(0))
            continue
        step = model.log_conditional(rows[words[position - 1]][:, None], here[None, :])
        steps.append(step)
        forward[position] = (
            _sum(forward[position - 1][:, None] + step, 0) + logs[position]
        )
    guessed = np.empty(count, np.int64)
    backward = np.zeros(TRIED)
    for position in range(count - 1, -1, -1):
        guessed[position] = words[position][np.argmax(forward[position] + backward)]
        if starts[position]:
            backward = np.zeros(TRIED)
        else:
            backward = _sum(steps[position] + (logs[position] + backward)[None, :], 1)
    return guessed


def _sum(logs: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    top = logs.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(logs - top).sum(axis=axis))
    return np.asarray(sums + np.squeeze(top, axis))


def attack(name: str, level: str, at: dict[str, Any], most: int) -> dict[str, Any]:
    """Attack one mechanism at one level."""
    sanitizer = frontier_setup.build(
        "all words", at["mechanism"], {"epsilon": at["epsilon"]}
    )
    texts = frontier_setup.part_of(CORPUS, 1)[0][:most]
    truth, drawn, starts = [], [], []

    def observe(batch: Any, chosen: Any, joined: Any, eps: Any) -> None:
        kind = batch.flags & kinds.KIND
        wordlike = (kind != kinds.PUNCTUATION) & (kind != kinds.SPACE)
        positions = batch.positions
        before = np.where(positions > 0, positions - 1, 0)
        first = np.append(True, batch.texts[1:] != batch.texts[:-1])
        truth.append(np.array(batch.ids))
        drawn.append(np.array(chosen))
        starts.append(first | ~wordlike[before])

    records = (Record(number, (text,), None) for number, text in enumerate(texts))
    for _ in sanitizer.run(records, RunKey.from_seed(5), observe=observe):
        pass
    originals, released = np.concatenate(truth), np.concatenate(drawn)
    outputs, which = np.unique(released, return_inverse=True)
    words, logs = tried(sanitizer, at["epsilon"], outputs)
    model = bigrams.model()
    rows = np.array(
        [model.row(w.lower().replace("'", "")) for w in sanitizer.lexicon.words]
    )
    alone = words[which, 0]
    begins = np.concatenate(starts)
    read = guesses(words[which], logs[which], rows, begins)
    stop = np.array([word.lower() in STOP_WORDS for word in sanitizer.lexicon.words])
    content = (originals < 0) | ~stop[np.maximum(originals, 0)]
    return {
        "mechanism": name,
        "level": level,
        "corpus": CORPUS,
        "words": len(originals),
        "alone": round(float((alone == originals).mean()), 4),
        "context": round(float((read == originals).mean()), 4),
        "content_alone": round(float((alone == originals)[content].mean()), 4),
        "content_context": round(float((read == originals)[content].mean()), 4),
    }


def main() -> None:
    """Attack what is not attacked yet."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--texts", type=int, default=120)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    epsilons = frontier.all_epsilons()
    have = {(row["mechanism"], row["level"]) for row in frontier.rows_read(ROWS)}
    context = get_context("spawn")
    with ProcessPoolExecutor(arguments.jobs, mp_context=context) as pool:
        waiting = []
        for level in LEVELS:
            for name in frontier_setup.MECHANISMS:
                key = frontier.key_of("all words", name, level)
                at = epsilons.get(key, {"reason": ""})
                wanted = not arguments.only or name in arguments.only
                if at.get("exact") and wanted and (name, level) not in have:
                    waiting.append(
                        pool.submit(attack, name, level, at, arguments.texts)
                    )
        for future in as_completed(waiting):
            row = future.result()
            with ROWS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)


if __name__ == "__main__":
    main()
