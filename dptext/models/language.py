"""Local language models: Hugging Face folders, and GGUF files of causal models.

Nothing is downloaded. Every error begins with the setting that named the model.
"""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from dptext import models, progress
from dptext.errors import UsageError
from dptext.models import Library

# Groups of files, of each of which one must be there, by the end of the message.
_FILES = {
    "config.json; give a model's folder": ("config.json",),
    "tokenizer; save it beside the model": (
        "tokenizer.json",
        "vocab.txt",
        "vocab.json",
        "tokenizer.model",
        "sentencepiece.bpe.model",
        "spiece.model",
    ),
    "weights; add model.safetensors or pytorch_model.bin": (
        "*.safetensors",
        "pytorch_model*.bin",
    ),
}


class ModelHead(NamedTuple):
    """What a model predicts."""

    #: The kind of model, in messages.
    model: str
    #: Its part for the prediction, in messages.
    named: str
    #: The class of transformers that loads it.
    loader: str


MASKED = ModelHead(
    "a masked language model", "masked-language-model head", "AutoModelForMaskedLM"
)
CAUSAL = ModelHead("a causal language model", "causal head", "AutoModelForCausalLM")


def need(path: str, setting: str, feature: str, head: ModelHead) -> str:
    """Return the absolute path of a model that a feature needs, without loading it.

    Raises UsageError if it is missing, MissingExtra without its packages.
    """
    for name in ("transformers", "torch"):
        models.need(name, feature, "semantic")
    file = Path(os.path.expanduser(path))
    if head is CAUSAL and file.suffix.lower() == ".gguf":
        for name in ("gguf", "accelerate"):
            models.need(name, f"{feature} with a GGUF file", "gguf")
        if not file.is_file():
            raise UsageError(f"{setting}: no file {path} (nothing is downloaded)")
    elif not file.is_dir():
        raise UsageError(
            f"{setting}: no folder {file}; give the folder of a local Hugging Face "
            "model (nothing is downloaded)"
        )
    else:
        for absent, patterns in _FILES.items():
            if not any(any(file.glob(pattern)) for pattern in patterns):
                raise UsageError(f"{setting}: {file} has no {absent}")
    return str(file.resolve())


def describe(folder: str) -> str:
    """Describe a model by its name and the digest of its weights."""
    digest = models.weights_digest(folder)
    return Path(folder).name + (f" (weights sha256 {digest[:12]})" if digest else "")


def load_tokenizer(path: str, setting: str, head: ModelHead) -> Library:
    """Load a model's tokenizer.

    Raises UsageError if a masked model's tokenizer has no mask token.
    """
    loaded = _load(path, setting, loader="AutoTokenizer", head=head, extra={})
    if head is MASKED and loaded.mask_token_id is None:
        raise UsageError(f"{setting}: the tokenizer in {path} has no mask token")
    return loaded


def load_network(path: str, setting: str, device: str, head: ModelHead) -> Library:
    """Load a model with its head, for inference in float32."""
    options: dict[str, object] = {"output_loading_info": True}
    if head is CAUSAL:
        options["dtype"] = "float32"
    if Path(path).is_file():
        # Plain weights of a GGUF file: transformers may leave them packed.
        library = models.package("transformers", CAUSAL.model, "semantic")
        if (config := getattr(library, "GgufConfig", None)) is not None:
            options["quantization_config"] = config(dequantize=True)
        progress.say(f"reading the weights of {Path(path).name}, up to a minute")
    # Progress bars of unpacking files cannot be switched off.
    with contextlib.redirect_stderr(io.StringIO()):
        loaded, info = _load(
            path, setting, loader=head.loader, head=head, extra=options
        )
    missing = [key for key in info["missing_keys"] if not key.endswith("position_ids")]
    if missing:
        raise UsageError(
            f"{setting}: {path} lacks {min(missing)}; use a model that was saved with "
            f"its {head.named}"
        )
    if not getattr(loaded, "is_quantized", False):
        loaded = loaded.float()
    return _quietly(path, setting, lambda: loaded.eval().to(device))


def _load(
    path: str,
    setting: str,
    *,
    loader: str,
    head: ModelHead,
    extra: Mapping[str, object],
) -> Library:
    """Load from a folder or a GGUF file, without network access."""
    library = models.package("transformers", head.model, "semantic")
    library.utils.logging.disable_progress_bar()
    library.utils.logging.set_verbosity_error()
    options = {**extra, "local_files_only": True, "trust_remote_code": False}
    folder = path
    if Path(path).is_file():
        folder, options["gguf_file"] = str(Path(path).parent), Path(path).name
    load = getattr(library, loader).from_pretrained
    return _quietly(path, setting, lambda: load(folder, **options))


def _quietly(path: str, setting: str, load: Callable[[], Library]) -> Library:
    """Call `load` without warnings; an error becomes one line."""
    with warnings.catch_warnings(action="ignore"):
        try:
            return load()
        except Exception as error:  # a broken file may raise any error
            reason = str(error).strip().partition("\n")[0]
            raise UsageError(f"{setting}: {path} cannot be loaded: {reason}") from None
