"""Masked language models in folders of this machine, in Hugging Face's layout.

Nothing is downloaded. Every error begins with the setting that named the folder.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

from dptext import models
from dptext.errors import MissingExtra, UsageError
from dptext.models import Library

_TOKENIZERS = (
    *("tokenizer.json", "vocab.txt", "vocab.json"),
    *("sentencepiece.bpe.model", "spiece.model", "tokenizer.model"),
)
# Files of which one must be there, and what is said where none is.
_FILES = (
    (("config.json",), "config.json; give a model's folder"),
    (_TOKENIZERS, "tokenizer; save it beside the model"),
    (
        ("*.safetensors", "pytorch_model*.bin"),
        "weights; model.safetensors or pytorch_model.bin should lie there",
    ),
)


def need(folder: str, setting: str, what: str) -> str:
    """Return the folder of a model, without loading it; what needs it.

    Raises UsageError where it is none, MissingExtra without transformers and torch.
    """
    for name in ("transformers", "torch"):
        if not models.has(name):
            raise MissingExtra.of(what, "semantic")
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise UsageError(
            f"{setting}: no folder {folder}; give that of a Hugging Face model on this "
            "machine (nothing is downloaded)"
        )
    for patterns, absent in _FILES:
        if not any(any(path.glob(pattern)) for pattern in patterns):
            raise UsageError(f"{setting}: {folder} has no {absent}")
    return str(path.resolve())


def describe(folder: str) -> str:
    """Name a model and the digest of its weights."""
    digest = models.weights_digest(folder)
    return Path(folder).name + (f" (weights sha256 {digest[:12]})" if digest else "")


def load_tokenizer(folder: str, setting: str) -> Library:
    """Load the tokenizer of a model; UsageError where it has no mask token."""
    loaded = quietly(
        folder,
        setting,
        lambda: library("a masked language model").AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        ),
    )
    if loaded.mask_token_id is None:
        raise UsageError(f"{setting}: the tokenizer in {folder} has no mask token")
    return loaded


def load_network(folder: str, setting: str, device: str) -> Library:
    """Load a model with its masked-language-model head, for inference in float32."""
    loaded, info = quietly(
        folder,
        setting,
        lambda: library("a masked language model").AutoModelForMaskedLM.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        ),
    )
    missing = [key for key in info["missing_keys"] if not key.endswith("position_ids")]
    if missing:
        raise UsageError(
            f"{setting}: the weights in {folder} lack {min(missing)}; take a model "
            "that was saved with its masked-language-model head"
        )
    return quietly(folder, setting, lambda: loaded.float().eval().to(device))


def library(what: str) -> Library:
    """Import transformers and keep it silent; what needs it."""
    package = models.package("transformers", what, "semantic")
    package.utils.logging.disable_progress_bar()
    package.utils.logging.set_verbosity_error()
    return package


def quietly(folder: str, setting: str, load: Callable[[], Library]) -> Library:
    """Call load without warnings; what goes wrong is one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return load()
        except Exception as error:  # a broken file may raise anything
            reason = str(error).strip().partition("\n")[0]
            raise UsageError(
                f"{setting}: {folder} cannot be loaded: {reason}"
            ) from None
