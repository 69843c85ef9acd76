"""What agreement does to released texts: perplexity, tags, classifiers, attack, cost.

    python benchmarks/fluency.py words [--dev]
    python benchmarks/fluency.py tasks [--dev] [--seeds 2]
    python benchmarks/fluency.py false

For each profile the same draws are written by each policy `agreement`, and by
`bigrams`: the forms that a public bigram model likes best (Viterbi over the forms of
each drawn word, 3 nats for a change), which needs data that cannot be shipped.
`words`: perplexity; words rewritten; Penn tags (nltk's tagger, on the whole text) that
are those of the word replaced; words that stand as they were, as drawn and as written;
words that are guessed right by their replacement alone; cost. `tasks`: classifiers
trained and tested on private texts, the attribute attack. `false`: how often agreement
would rewrite texts that nobody made private.

--dev takes rows of the training files only: rules were chosen on these.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import time
from pathlib import Path
from typing import Any

import numpy as np
from bigrams import Model, model, perplexity
from numpy.typing import NDArray
from orders import accuracies, tasks_of
from private_rows import DATA, rows_of

from dptext import pipeline, profile
from dptext.lexicons import store
from dptext.measures import prior
from dptext.mechanisms import rank
from dptext.pipeline import Pipeline
from dptext.randomness import RandomBits, RunKey
from dptext.tokens import inflections
from dptext.tokens.agreement import Inflector, Mask
from dptext.tokens.joining import Joiner
from dptext.types import Ids, Lexicon, Record, Words

PROFILES = ("balanced", "strict", "readable")
PRICE = 3.0  # nats that another form must gain
# Forms of closed classes, for `bigrams`.
CLOSED = """
am is are was were be been being 's 'm 're|has have had having 've
do does did done doing|I me my mine|he him his|she her hers|we us our ours
they them their theirs|a an|n't not|don't doesn't didn't|isn't aren't wasn't weren't
haven't hasn't hadn't|this these|that those
"""
Drawn = tuple[Words, Ids, RandomBits]


def corpora(dev: bool) -> dict[str, list[str]]:
    """Return texts of three corpora."""
    if dev:
        return {
            "AG News": [row["text"] for row in rows_of("agnews_train19k")[-3000:]],
            "SST-2": [row["text"] for row in rows_of("sst2_train20k")[-3000:]],
            "IMDb": [row["text"] for row in rows_of("imdb_5k")[3000:3300]],
        }
    return {
        "AG News": [row["text"] for row in rows_of("agnews_test5600")],
        "SST-2": [row["text"] for row in rows_of("sst2_dev")],
        "IMDb": [row["text"] for row in rows_of("imdb_5k")[2000:3000]],
    }


def drawn(sanitizer: Pipeline, texts: list[str], seed: int) -> Drawn:
    """Draw the words of texts."""
    observed: list[Any] = []
    sanitizer.privatize(
        [Record(i, (text,), None) for i, text in enumerate(texts)],
        sanitizer.randomness(RunKey.from_seed(seed)),
        observe=lambda words, ids, joined, eps: observed.extend((words, np.array(ids))),
    )
    words, ids = observed
    # Numbers are the same under all policies.
    streams = sanitizer.randomness(RunKey.from_seed(seed + 1))
    nonces = [streams.nonce(Record(i, (text,), None)) for i, text in enumerate(texts)]
    return words, ids, streams.of(nonces, words.texts)


class Writer(Joiner):
    """A joiner that tells which words it writes; policy agreement or `bigrams`."""

    def __init__(self, sanitizer: Pipeline, agreement: str) -> None:
        known: Any = "articles" if agreement == "bigrams" else agreement
        policy = dataclasses.replace(sanitizer.profile.tokens, agreement=known)
        super().__init__(sanitizer.lexicon, policy)
        if agreement == "bigrams":
            self._agreement = ByBigrams(sanitizer.lexicon)

    def written(self, words: Words, ids: Ids) -> Ids:
        """Return the words as they are written: (n,)."""
        pieces = np.array([*words.pieces, ""], dtype=object)[:-1]
        return self._agree(words, ids, pieces)


class ByBigrams(Inflector):
    """Choose among the forms of each drawn word by Viterbi over bigrams."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._model: Model = model()
        names = [w.lower().replace("'", "").replace(".", "") for w in lexicon.words]
        self._rows = np.array([*map(self._model.row, names), len(self._model.ids)])
        self._forms = forms_of(lexicon)

    def write(self, ids: Ids, beside: Mask, free: Mask | None) -> None:
        """Rewrite the free words (all for None) in place."""
        fixed = np.zeros(len(ids), bool) if free is None else ~free
        choice = [
            [row] if stays else self._forms.get(row, [row])
            for row, stays in zip(ids.tolist(), fixed.tolist(), strict=True)
        ]
        after = np.concatenate(([False], beside)).tolist()
        scores = self._scores(choice, after)
        begin, at, best = 0, 0, np.zeros(1)
        back: list[NDArray[np.int64]] = []
        for position, here in enumerate(choice):
            wide = len(choice[position - 1]) if after[position] else 1
            part = scores[at : at + len(here) * wide].reshape(len(here), wide)
            at += part.size
            if not after[position]:
                self._choose(ids, choice, back, begin, position, best)
                begin, best = position, np.zeros(1)
            sums = part + best
            back.append(sums.argmax(axis=1))
            best = sums.max(axis=1) - PRICE * (np.arange(len(here)) > 0)
        self._choose(ids, choice, back, begin, len(choice), best)

    def _scores(self, choice: list[list[int]], after: list[bool]) -> Any:
        """Return ln P of every form after every form of the word before, in a row."""
        first, second = [], []
        for position, here in enumerate(choice):
            before = choice[position - 1] if after[position] else [-1]
            first += [one for _ in here for one in before]
            second += [two for two in here for _ in before]
        one, two = np.array(first), np.array(second)
        return self._model.log_conditional(
            np.where(one < 0, -1, self._rows[one]), self._rows[two]
        )

    def _choose(
        self, ids: Ids, choice: Any, back: Any, begin: int, end: int, best: Any
    ) -> None:
        """Write the best forms of one unbroken row of words."""
        state = int(np.argmax(best))
        for position in range(end - 1, begin - 1, -1):
            ids[position] = choice[position][state]
            state = int(back[position][state])


def forms_of(lexicon: Lexicon) -> dict[int, list[int]]:
    """Return the forms of each word that has several, itself first."""
    rows = {word.lower(): row for row, word in enumerate(lexicon.words)}
    others = inflections.find(lexicon).others
    forms = {
        row: list(dict.fromkeys((row, *(o for o in others[row].tolist() if o >= 0))))
        for row in np.flatnonzero((others >= 0).any(axis=1)).tolist()
    }
    for line in CLOSED.replace("\n", "|").split("|"):
        group = [rows[word.lower()] for word in line.split()]
        for row in group:
            forms[row] = list(dict.fromkeys((*forms.get(row, [row]), *group)))
    return forms


def tags_of(words: Words, ids: Ids, tagger: Any, names: tuple[str, ...]) -> list[str]:
    """Return the Penn tag of each drawn word in its text, marks and copies included."""
    wanted = np.zeros(len(words.pieces), bool)
    wanted[words.positions] = True
    pieces = [piece.strip() for piece in words.pieces]
    for position, row in zip(words.positions.tolist(), ids.tolist(), strict=True):
        pieces[position] = names[row] if row >= 0 else "Smith"
    tags, begin = [], 0
    for end in words.ends.tolist():
        full = [i for i in range(begin, end) if pieces[i]]
        tagged = tagger.tag([pieces[i] for i in full])
        tags += [tag for i, (_, tag) in zip(full, tagged, strict=True) if wanted[i]]
        begin = end
    return tags


def guesses(sanitizer: Pipeline) -> Ids:
    """Return the best guess of a word by its replacement alone: (V,)."""
    mechanism = sanitizer.mechanism
    assert isinstance(mechanism, rank.Rank)
    shares = prior.replaced(sanitizer.lexicon, sanitizer.profile.tokens)
    epsilon = np.array([sanitizer.budget.description.high])
    weights = mechanism.weights(epsilon)[0][0]
    best = np.full(len(shares), int(shares.argmax()), np.int32)
    most = np.full(len(shares), shares.max())
    for word in np.argsort(-shares, kind="stable").tolist():
        here = mechanism.orders[word].astype(np.int64)
        more = shares[word] * weights > most[here]
        most[here[more]] = shares[word] * weights[more]
        best[here[more]] = word
    return best


def words(lexicon: Lexicon, dev: bool) -> None:
    """Print what can be told word by word."""
    import nltk
    from nltk.tag.perceptron import PerceptronTagger

    nltk.data.path.insert(0, str(DATA / "nltk_data"))
    tagger = PerceptronTagger()
    for corpus, texts in corpora(dev).items():
        print(f"{corpus}: the texts themselves {perplexity(texts):,.0f}", flush=True)
        for name in PROFILES:
            sanitizer = pipeline.build(profile.load(name), lexicon)
            batch, guess = drawn(sanitizer, texts, 1), guesses(sanitizer)
            originals = batch[0].ids
            few = drawn(sanitizer, texts[: 40 if corpus == "IMDb" else 400], 1)
            tags = tags_of(few[0], few[0].ids, tagger, lexicon.words)
            changed = few[0].ids != few[1]
            for agreement in ("none", "articles", "inflect", "bigrams"):
                joiner = Writer(sanitizer, agreement)
                seconds = []
                for _ in range(1 if agreement == "bigrams" else 5):
                    began = time.perf_counter()
                    out = joiner.join(*batch).texts
                    seconds.append(time.perf_counter() - began)
                put = joiner.written(batch[0], batch[1])
                new = tags_of(few[0], joiner.written(*few[:2]), tagger, lexicon.words)
                same = [a == b for a, b in zip(tags, new, strict=True)]
                part = [a[:2] == b[:2] for a, b in zip(tags, new, strict=True)]
                print(
                    f"  {name:9} {agreement:9} perplexity {perplexity(out):7,.0f} "
                    f"rewritten {np.mean(put != batch[1]):.2%} part of speech "
                    f"{np.mean(np.array(part)[changed]):.2%} tag "
                    f"{np.mean(np.array(same)[changed]):.2%} as it was, drawn "
                    f"{np.mean(batch[1] == originals):.2%} written "
                    f"{np.mean(put == originals):.2%} guessed "
                    f"{np.mean(guess[put] == originals):.2%} joining "
                    f"{min(seconds) / len(put) * 1e9:.0f} ns/word",
                    flush=True,
                )


def tasks(lexicon: Lexicon, dev: bool, seeds: int) -> None:
    """Print the accuracy of classifiers and of the attack on gender."""
    work = tasks_of(dev)
    print("columns:", [f"{t} {m}" for t in work for m in ("TF-IDF", "mean vectors")])
    for name in PROFILES:
        sanitizer = pipeline.build(profile.load(name), lexicon)
        memory = functools.cache(functools.partial(_drawn, sanitizer))
        for agreement in ("none", "articles", "inflect", "bigrams"):
            change = functools.partial(_written, Writer(sanitizer, agreement), memory)
            cells = []
            for task in work.values():
                runs = [
                    accuracies(sanitizer, task, s, change) for s in range(1, seeds + 1)
                ]
                cells += [f"{mean:.3f}" for mean in np.mean(runs, axis=0)]
            print(f"{name:9} {agreement:9} {' '.join(cells)}", flush=True)


def _drawn(sanitizer: Pipeline, texts: tuple[str, ...], seed: int) -> Drawn:
    return drawn(sanitizer, list(texts), seed)


def _written(joiner: Writer, memory: Any, _: Pipeline, texts: Any, seed: int) -> Any:
    batch = memory(tuple(texts), seed)
    joined = joiner.join(*batch)
    return joined.texts, joined.written, batch[0].texts


def false(lexicon: Lexicon) -> None:
    """Print how many words of original texts agreement would rewrite, and some."""
    sanitizer = pipeline.build(profile.load("balanced"), lexicon)
    joiner, rng = Writer(sanitizer, "inflect"), np.random.default_rng(0)
    names = (*lexicon.words, "?")
    for corpus, texts in corpora(dev=False).items():
        originals = sanitizer.tokenizer.words(texts)
        # Words of no vocabulary are names, which ask for nothing else.
        ids = np.where(originals.ids < 0, lexicon.words.index("John"), originals.ids)
        put = joiner.written(originals, ids.astype(np.int32))
        here = np.flatnonzero((put != ids) & (originals.ids >= 0))
        print(f"{corpus}: {len(here) / len(ids):.2%} of {len(ids)} words")
        for position in rng.choice(here, 12, replace=False).tolist():
            around = originals.ids[max(0, position - 3) : position + 3].tolist()
            print("   ", " ".join(names[i] for i in around), "->", names[put[position]])


def main() -> None:
    """Do what the first argument says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("words", "tasks", "false"))
    parser.add_argument("--lexicon", type=Path, default=Path("dptext/data/english"))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--dev", action="store_true")
    arguments = parser.parse_args()
    lexicon = store.load(arguments.lexicon)
    if arguments.what == "words":
        words(lexicon, arguments.dev)
    elif arguments.what == "tasks":
        tasks(lexicon, arguments.dev, arguments.seeds)
    else:
        false(lexicon)


if __name__ == "__main__":
    main()
