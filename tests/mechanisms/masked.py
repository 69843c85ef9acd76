"""Tiny masked language models with random weights, saved where tests want them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dptext import models
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Words
from tests import small
from tests.lexicons.files import real

LEXICON = small.english(
    *("the", "cat", "dog", "of", "runs", "Paris", "well", "film", "good", "n't"),
    *("was", "we", "saw", "never", "him", "again", "zqxv", "unbelievableness", "is"),
)
TOKENIZER = Tokenizer(LEXICON, Policy())
# Weights so large that the logits of these models reach beyond any range.
_SPREAD = 0.4


def words(*texts: str) -> Words:
    """Divide texts."""
    return TOKENIZER.words(list(texts))


def bert(folder: Path, *, head: bool = True, safe: bool = True, seed: int = 0) -> str:
    """Save a BERT of two layers with the tokenizer of bert-base-uncased."""
    given = real("tokenizers/bert-base-uncased")
    made = _library()
    config = made.BertConfig(
        vocab_size=30522,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        initializer_range=_SPREAD,
    )
    split = made.AutoTokenizer.from_pretrained(str(given), local_files_only=True)
    return _save(made.BertForMaskedLM if head else made.BertModel, config, split,
                 folder, safe, seed)  # fmt: skip


def roberta(folder: Path, seed: int = 0) -> str:
    """Save a RoBERTa whose tokens, of bytes, are learnt from a few lines."""
    made = _library()
    from tokenizers import AddedToken, ByteLevelBPETokenizer

    learnt = ByteLevelBPETokenizer()
    lines = ["the cat was good and the dog of Paris runs well is it good?"] * 30
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learnt.train_from_iterator(
        lines, vocab_size=330, special_tokens=special, show_progress=False
    )
    folder.mkdir(parents=True, exist_ok=True)
    learnt.save_model(str(folder))
    split = made.RobertaTokenizerFast.from_pretrained(
        str(folder), model_max_length=64, mask_token=AddedToken("<mask>", lstrip=True)
    )
    config = made.RobertaConfig(
        vocab_size=len(split),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=66,
        type_vocab_size=1,
        initializer_range=_SPREAD,
    )
    return _save(made.RobertaForMaskedLM, config, split, folder, True, seed)


def _library() -> Any:
    for name in ("transformers", "torch"):
        if not models.has(name):
            pytest.skip(f"{name} is not installed")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    library = models.package("transformers", "the test", "semantic")
    library.utils.logging.set_verbosity_error()
    library.utils.logging.disable_progress_bar()
    return library


def _save(
    kind: Any, config: Any, split: Any, folder: Path, safe: bool, seed: int
) -> str:
    torch = models.package("torch", "the test", "semantic")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = kind(config).eval()
    split.save_pretrained(str(folder))
    model.save_pretrained(str(folder))
    if not safe:
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
    return str(folder)
