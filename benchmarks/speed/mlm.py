"""Words per second of the mechanism mlm, by a model of BERT-base's shape.

The weights are random, which changes nothing about the time; reviews of 35 to 55 words,
as one batch. The model is loaded before, and written to a temporary folder unless one
is given.

    python -m benchmarks speed.mlm [--reviews 2] [--device cpu] [--model DIR]
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time

import numpy as np

from benchmarks.private_rows import DATA
from dptext import lexicons, models, registry, spaces
from dptext.mechanisms import Aim, mlm
from dptext.randomness import Randomness, RunKey
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer


def save_model(folder: str) -> str:
    """Save a random model of BERT-base's shape with its tokenizer."""
    library = models.package("transformers", "the benchmark", "semantic")
    split = library.AutoTokenizer.from_pretrained(
        str(DATA / "tokenizers/bert-base-uncased"), local_files_only=True
    )
    split.save_pretrained(folder)
    library.BertForMaskedLM(library.BertConfig()).save_pretrained(folder)
    return folder


def reviews(count: int) -> list[str]:
    """Return reviews of middle length."""
    with gzip.open(DATA / "text/trustpilot_en_train.jsonl.gz") as file:
        texts = [json.loads(row)["text"] for row in file]
    return [text for text in texts if 35 <= len(text.split()) <= 55][:count]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--reviews", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--model", default="")
    arguments = parser.parse_args()
    lexicon = lexicons.find("builtin")
    identity = registry.find("spaces", "identity")
    space = spaces.prepare(lexicon, "identity", identity.Params())
    words = Tokenizer(lexicon, Policy()).words(reviews(arguments.reviews))
    size = len(words.ids)
    randomness = Randomness(RunKey.from_seed(0), "benchmark")
    bits = randomness.bits([bytes(16)], np.zeros(size, np.int64))
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model or save_model(folder)
        for context in ("pair", "masked"):
            params = mlm.Params(model=model, context=context, device=arguments.device)
            mechanism = params.prepare(space, Aim())
            outputs = len(mechanism.outputs)
            mechanism.example_log_probs(1.0)
            began, used = time.perf_counter(), time.process_time()
            mechanism.sample(words, np.full(size, 25.0), bits)
            took, used = time.perf_counter() - began, time.process_time() - used
            print(
                f"context {context:<7} {size:>6} words {outputs:>7,} outputs "
                f"{size / took:>8.1f} words/s {size / used:>8.1f} words per CPU second"
            )


if __name__ == "__main__":
    main()
