"""The masked-word attack on a tiny model of random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dptext.adversaries import masked_word
from dptext.errors import UsageError
from tests.lexicons.files import real


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Build a tiny BERT that prefers one word whatever it sees."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    source = real("tokenizers/bert-base-uncased")
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(source))
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
    )
    made = transformers.BertForMaskedLM(config)
    with torch.no_grad():
        made.cls.predictions.bias[tokenizer.convert_tokens_to_ids("house")] = 50.0
    folder = tmp_path_factory.mktemp("model")
    made.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def test_guesses_are_counted(model: str) -> None:
    """A model that always says "house" is right where "house" was."""
    pairs = [(["the", "House"], ["a", "cat"]), (["x"], ["y", "z"]), ([], [])]
    found = masked_word.attack(model, pairs)
    assert (found.words, found.first) == (2, 0.5)
    assert found.first_five >= found.first
    assert masked_word.attack(model, pairs, most=1).words == 1


def test_long_texts_are_cut_around_the_mask(model: str) -> None:
    """Every word of a long text is asked for, its mask in sight."""
    pairs = [(["house"] * 300, ["a"] * 300)]
    assert masked_word.attack(model, pairs).first == 1.0


def test_no_model(tmp_path: Path) -> None:
    """One line."""
    pytest.importorskip("transformers")
    with pytest.raises(UsageError, match="no model there"):
        masked_word.attack(str(tmp_path), [])
