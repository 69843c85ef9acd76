"""Effects of decoding on released texts: recovery, closeness, perplexity, accuracy.

    python -m benchmarks decoded [--rows 200] [--corpus "AG News"] [--train 0]
        [--decoder none ngram causal-lm:model=DIR,mode=beam ...] [--measure PATH]
    python -m benchmarks decoded --examples 20 --decoder ...

The same draws of profile balanced (a risk of 20%) are written by each decoder. Of the
first test rows of each corpus: words and content words equal to the original (those
that are decoded, before agreement), with exact 95% limits of the former that take words
for independent; their mean cosine to it, all and content words; the perplexity per word
under two models that did not decode: the bigrams of `wordsegment` and a causal language
model (--measure; benchmarks.perplexity). Where the decoder read with that same model
there is no such figure. With --train N also the accuracy of TF-IDF
and of mean vectors on private test rows, trained on N private rows / on N originals; a
third figure is that of originals on originals.

--examples N prints the first N rows side by side, as a table for docs.
--dev takes rows of the training files, for choosing settings. Draws have a fixed seed.
With 200 rows and without --train about a minute for each corpus, causal-lm apart (some
50 words a second).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray

from benchmarks import perplexity
from benchmarks.private_rows import Words as Corpus
from benchmarks.private_rows import learned, read_rows
from dptext import open_pipeline, registry
from dptext.decoders import Decoder
from dptext.guarantees.binomial import limits
from dptext.pipeline import Draws, Pipeline
from dptext.randomness import RunKey
from dptext.settings import convert, digest_of_path
from dptext.tokens.language_data import stop_words
from dptext.types import Ids, Record

# Files with their rows for training and testing, and the label.
CORPORA = {
    "AG News": (("agnews_train19k", 0), ("agnews_test5600", 0), "label"),
    "SST-2": (("sst2_train20k", 0), ("sst2_dev", 0), "label"),
    "IMDb": (("imdb_5k", 0), ("imdb_5k", 2500), "label"),
}
DEV = {
    "AG News": (("agnews_train19k", 0), ("agnews_train19k", 15000), "label"),
    "SST-2": (("sst2_train20k", 0), ("sst2_train20k", 15000), "label"),
    "IMDb": (("imdb_5k", 0), ("imdb_5k", 1500), "label"),
}
_BATCH = 500


class Written(NamedTuple):
    """Written texts, the decoded and the original words, and seconds."""

    texts: list[str]
    ids: Ids
    originals: Ids
    of_text: NDArray[np.int64]
    seconds: float

    @property
    def corpus(self) -> Corpus:
        """Return what classifiers are trained on."""
        return self.texts, self.ids, self.of_text


def draw_texts(ready: Pipeline, texts: Sequence[str], seed: int) -> list[Draws]:
    """Draw the words of texts, each text a record, in batches."""
    randomness = ready.randomness(RunKey.from_seed(seed))
    records = [Record(number, (text,), None) for number, text in enumerate(texts)]
    parts = [
        records[begin : begin + _BATCH] for begin in range(0, len(records), _BATCH)
    ]
    return [ready.draws(part, randomness) for part in parts]


def written(ready: Pipeline, draws: list[Draws], decoder: Decoder | None) -> Written:
    """Write draws by a decoder, None for the draws themselves."""
    texts: list[str] = []
    ids, originals, of_text = [], [], []
    began = time.perf_counter()
    for words, drawn, eps, bits in draws:
        here = drawn
        if decoder is not None and len(drawn):
            here = decoder.decode(ready.released(words, drawn, eps))
        of_text.append(words.texts + len(texts))
        joined = ready.joiner.join(words, here, bits)
        lines = joined.texts
        if decoder is not None and len(drawn):
            released = ready.released(words, drawn, eps)
            lines = decoder.rewrite(lines, [*joined.spelled], released)
        texts += lines
        ids.append(here)
        originals.append(words.ids)
    seconds = time.perf_counter() - began
    return Written(
        texts,
        np.concatenate(ids),
        np.concatenate(originals),
        np.concatenate(of_text),
        seconds,
    )


def untouched(ready: Pipeline, texts: Sequence[str]) -> Corpus:
    """Return originals in the shape that classifiers are trained on."""
    words = ready.tokenizer.words(texts)
    return list(texts), words.ids, words.texts


def open_decoder(ready: Pipeline, spec: str) -> tuple[Decoder | None, str]:
    """Make a decoder ready: NAME or NAME:KEY=VALUE,...; and its causal model's path."""
    name, _, rest = spec.partition(":")
    items = (item.partition("=")[::2] for item in rest.split(",") if item)
    settings = {key: yaml.safe_load(value) for key, value in items}
    params: Any = convert(settings, registry.find("decoders", name).Params, spec)
    if not params.reads:
        return None, ""
    model = str(settings.get("model", "")) if name == "causal-lm" else ""
    return params.prepare(ready.channel), model


def closeness(ready: Pipeline, version: Written) -> tuple[float, ...]:
    """Return words and content words that are equal, and their mean cosines."""
    vectors = np.asarray(ready.lexicon.vectors, np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    function_words = stop_words("en")
    stop = np.array([word.lower() in function_words for word in ready.lexicon.words])
    known = version.originals >= 0
    equal = (version.ids == version.originals)[known]
    before, after = version.originals[known], version.ids[known]
    cosines = np.einsum("nd,nd->n", vectors[before], vectors[after])
    content = ~stop[before]
    means = (
        equal.mean(),
        equal[content].mean(),
        cosines.mean(),
        cosines[content].mean(),
    )
    return tuple(map(float, means))


def perplexities(texts: list[str], measure: str, model: str) -> str:
    """Return both perplexities, none of a model that decoded."""
    shown = f"{perplexity.by_pairs(texts):8,.0f}"
    if not measure:
        return f"{shown}       -"
    if model and digest_of_path(model) == digest_of_path(measure):
        return f"{shown}  (read)"
    return f"{shown}{perplexity.by_network(texts, measure):8,.0f}"


def corpus_figures(ready: Pipeline, corpus: str, arguments: argparse.Namespace) -> None:
    """Print a line for each decoder, and one for the originals."""
    train_from, test_from, label = (DEV if arguments.dev else CORPORA)[corpus]
    test = read_rows(test_from[0])[test_from[1] :][: arguments.rows]
    train = read_rows(train_from[0])[train_from[1] :][: arguments.train]
    texts, answers = [row["text"] for row in test], [row[label] for row in test]
    lines, labels = [row["text"] for row in train], [row[label] for row in train]
    draws, train_draws = draw_texts(ready, texts, 1), draw_texts(ready, lines, 2)
    plain = untouched(ready, lines) if lines else None
    print(f"\n{corpus}: {len(texts)} texts, {len(draws_ids(draws)):,} words")
    print(f"{'':34s}{'equal, 95%':16s} equal content  cosine content  ", end="")
    print("bigrams  causal  words/s", end="")
    print("  private->private  originals->private" if lines else "")
    for spec in arguments.decoder:
        decoder, model = open_decoder(ready, spec)
        version = written(ready, draws, decoder)
        shares = closeness(ready, version)
        known = version.originals >= 0
        right = int((version.ids == version.originals)[known].sum())
        low, high = limits(right, int(known.sum()), 0.05)
        shown = f"({low:5.1%} to {high:5.1%})"
        shown += "{:6.1%} {:6.1%}   {:.3f}   {:.3f} ".format(*shares)
        shown += perplexities(version.texts, arguments.measure, model)
        shown += f" {len(version.ids) / version.seconds:8,.0f}"
        if plain is not None:
            private = written(ready, train_draws, decoder).corpus
            for source in (private, plain):
                both = learned(ready, source, labels, version.corpus, answers)
                shown += "     {:.3f} / {:.3f}".format(*both)
        print(f"{spec[:33]:34s}{shown}", flush=True)
        if decoder is not None and decoder.used is not None:
            used, share = decoder.used, version.seconds / len(texts)
            print(
                f"    {used.unanswered} of {used.texts} texts unanswered, in part "
                f"or in all; {used.requests} requests, "
                f"{used.tokens_sent} tokens sent, {used.tokens_received} received; "
                f"{share:.1f} s a text"
            )
    shown = perplexities(texts, arguments.measure, "")
    if plain is not None:
        both = learned(ready, plain, labels, untouched(ready, texts), answers)
        shown += "{:28.3f} / {:.3f}".format(*both)
    print(f"{'originals':82s}{shown}", flush=True)


def draws_ids(draws: list[Draws]) -> Ids:
    """Return all drawn words."""
    return np.concatenate([each.drawn for each in draws])


def examples(ready: Pipeline, corpus: str, arguments: argparse.Namespace) -> None:
    """Print the first rows side by side: a table of Markdown."""
    _, test_from, _ = (DEV if arguments.dev else CORPORA)[corpus]
    rows = read_rows(test_from[0])[test_from[1] :][: arguments.examples]
    texts = [row["text"] for row in rows]
    draws = draw_texts(ready, texts, 1)
    columns = [texts]
    for spec in arguments.decoder:
        columns.append(written(ready, draws, open_decoder(ready, spec)[0]).texts)
    names = ["original"]
    for spec in arguments.decoder:
        name, _, settings = spec.partition(":")
        name += " rewrite" if "mode=rewrite" in settings else ""
        names.append("drawn" if name == "none" else name)
    print(f"\n### {corpus}\n\n| {' | '.join(names)} |\n|{' --- |' * len(names)}")
    for row in zip(*columns, strict=True):
        cells = (" ".join(cell.split()).replace("|", "\\|") for cell in row)
        print(f"| {' | '.join(cells)} |")


def main() -> None:
    """Print the requested measurements, corpus by corpus."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", nargs="+", choices=CORPORA, default=["AG News"])
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--train", type=int, default=0)
    parser.add_argument("--decoder", nargs="+", default=["none", "ngram"])
    parser.add_argument("--profile", default="balanced")
    parser.add_argument("--lexicon", default="builtin")
    parser.add_argument("--measure", default=perplexity.packaged_network())
    parser.add_argument("--examples", type=int, default=0)
    parser.add_argument("--dev", action="store_true")
    arguments = parser.parse_args()
    over = {"lexicon": arguments.lexicon, "decoder": {"name": "none"}}
    ready = open_pipeline(arguments.profile, over)
    for corpus in arguments.corpus:
        (examples if arguments.examples else corpus_figures)(ready, corpus, arguments)


if __name__ == "__main__":
    main()
