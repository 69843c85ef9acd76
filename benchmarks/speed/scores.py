"""Words per second of each score of the linguistic budget, on real reviews.

Reviews of 35 to 55 words, as one batch, each score alone; models are loaded before. The
last columns are seconds that a thousand of these reviews take, by the clock and of
processors (which tell more where a machine does other work too). Words that a sentence
model has read are remembered, so that many reviews take less than their share of few.
Scores without their model or data are named and left out; NLTK_DATA names the folder of
NLTK's.

    python -m benchmarks speed.scores [--reviews 1000] [--encoded 50] [--device cpu]
        [--pipeline ../shared/data/spacy/en_dptext_sm]
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from typing import Any

from benchmarks.private_rows import DATA
from dptext import lexicons, models, registry
from dptext.budgets.scores import sentence_similarity
from dptext.errors import DptextError
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer


def reviews(count: int) -> list[str]:
    """Return reviews of middle length."""
    with gzip.open(DATA / "text/trustpilot_en_train.jsonl.gz") as file:
        texts = [json.loads(row)["text"] for row in file]
    return [text for text in texts if 35 <= len(text.split()) <= 55][:count]


def cases(pipeline: str, device: str) -> list[tuple[str, str, dict[str, Any], bool]]:
    """Return label, score, settings, and whether a sentence model is used."""
    model = {"model": models.PACKAGE, "device": device}
    lexicon = {"model": "lexicon"}
    return [
        ("frequency", "frequency", {}, False),
        ("ic, lexicon", "ic", {}, False),
        ("ic, NLTK", "ic", {"source": "nltk"}, False),
        ("pos, NLTK", "pos", {}, False),
        ("pos, spaCy", "pos", {"tagger": "spacy", "pipeline": pipeline}, False),
        ("ner, spaCy", "ner", {"pipeline": pipeline}, False),
        ("word-similarity, lexicon", "word-similarity", lexicon, False),
        ("sentence-similarity, lexicon", "sentence-similarity", lexicon, False),
        ("word-similarity, model", "word-similarity", model, True),
        ("sentence-similarity, model", "sentence-similarity", model, True),
    ]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--reviews", type=int, default=1000)
    parser.add_argument("--encoded", type=int, default=50, help="for sentence models")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--pipeline", default=str(DATA / "spacy/en_dptext_sm"))
    arguments = parser.parse_args()
    lexicon = lexicons.find("builtin")
    tokenizer = Tokenizer(lexicon, Policy())
    texts = reviews(arguments.reviews)
    warm = tokenizer.words(texts[-1:])
    for label, name, settings, encoded in cases(arguments.pipeline, arguments.device):
        module: Any = registry.find("budgets.scores", name)
        chosen = texts[: arguments.encoded] if encoded else texts
        words = tokenizer.words(chosen)
        try:
            score = module.Params(**settings).prepare(lexicon)
            score.values(warm)
        except DptextError as error:
            print(f"{label:<30} left out: {error}")
            continue
        sentence_similarity._MEMORIES.clear()
        began, used = time.perf_counter(), time.process_time()
        score.values(words)
        took, used = time.perf_counter() - began, time.process_time() - used
        rate, scale = len(words.ids) / took, 1000 / len(chosen)
        print(
            f"{label:<30} {rate:>14,.0f} words/s "
            f"{took * scale:>9,.2f} s {used * scale:>9,.2f} CPU s"
        )


if __name__ == "__main__":
    main()
