"""Causal language models on this machine: Hugging Face folders, GGUF files.

Nothing is downloaded. Every error begins with the setting that named the model.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Mapping
from pathlib import Path

from dptext import models, progress
from dptext.errors import MissingExtra, UsageError
from dptext.models import Library, masked

# What the names of architectures with a causal head end in.
_HEADS = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")


def need(path: str, setting: str, what: str) -> str:
    """Return the absolute path of a model, without loading it; what needs it.

    Raises UsageError where there is none, MissingExtra without the packages for it.
    """
    file = Path(path).expanduser()
    if file.suffix.lower() != ".gguf":
        folder = masked.need(path, setting, what)
        _check_head(Path(folder), setting)
        return folder
    for name in ("transformers", "torch"):
        if not models.has(name):
            raise MissingExtra.of(what, "semantic")
    for name in ("gguf", "accelerate"):
        if not models.has(name):
            raise MissingExtra.of(f"{what} with a GGUF file", "gguf")
    if not file.is_file():
        msg = f"{setting}: no file {path} (nothing is downloaded)"
        raise UsageError(msg)
    return str(file.resolve())


def _check_head(folder: Path, setting: str) -> None:
    """Raise UsageError where a folder says that its model predicts no next token."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError):
        config = None
    if not isinstance(config, dict):
        msg = f"{setting}: config.json in {folder} cannot be read"
        raise UsageError(msg)
    names = [str(name) for name in config.get("architectures") or ()]
    if names and not any(name.endswith(_HEADS) for name in names):
        msg = (
            f"{setting}: the model in {folder} is a {names[0]}, which has no causal "
            "head; take one that predicts the next token (...ForCausalLM)"
        )
        raise UsageError(msg)


def load_tokenizer(path: str, setting: str) -> Library:
    """Load the tokenizer of a model."""
    return masked.quietly(
        path,
        setting,
        lambda: masked.library("a causal language model").AutoTokenizer.from_pretrained(
            **_source(path)
        ),
    )


def load_network(path: str, setting: str, device: str) -> Library:
    """Load a model with its causal head, for inference in float32."""
    kind = masked.library("a causal language model").AutoModelForCausalLM
    if Path(path).is_file():
        progress.say(f"reading the weights of {Path(path).name}, up to a minute")
    # Bars of files that are unpacked cannot be switched off.
    with contextlib.redirect_stderr(io.StringIO()):
        loaded, info = masked.quietly(
            path,
            setting,
            lambda: kind.from_pretrained(
                **_source(path), dtype="float32", output_loading_info=True
            ),
        )
    missing = sorted(info["missing_keys"])
    if missing:
        msg = (
            f"{setting}: the weights in {path} lack {missing[0]}; take a model that "
            "was saved with its causal head"
        )
        raise UsageError(msg)
    return masked.quietly(path, setting, lambda: loaded.eval().to(device))


def _source(path: str) -> Mapping[str, object]:
    """Return where transformers finds a model, and that it is not to look elsewhere."""
    file = Path(path)
    where: dict[str, object] = {"pretrained_model_name_or_path": path}
    if file.is_file():
        where = {
            "pretrained_model_name_or_path": str(file.parent),
            "gguf_file": file.name,
        }
    return {**where, "local_files_only": True, "trust_remote_code": False}
