from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dptext import models, pipeline, profile
from dptext.attackers import ngrams
from dptext.decoders import causal_lm
from dptext.errors import MissingExtra, UsageError
from dptext.randomness import RunKey
from dptext.tokens.policy import Policy
from dptext.types import Record
from tests import language_models
from tests.attackers import models as pairs
from tests.attackers.releases import ENGLISH, SIZE, make_channel, release
from tests.cli.running import here, small

TEXTS = ["cat dog, the runs. of cat", "the 42 cat of!\nzq", "dog zq of the cat runs"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of a small model."""
    return language_models.llama(tmp_path_factory.mktemp("llama"))


def params(folder: str, **given: Any) -> causal_lm.Params:
    """Return settings with a small model."""
    settings: dict[str, Any] = {"model": folder, "candidates": 4, "beam": 3}
    return causal_lm.Params(**(settings | given))


def test_modes_choose_by_the_reading(folder: str) -> None:
    """By hand: the likeliest text, the likeliest word, the largest mean cosine."""
    channel, batch = make_channel(Policy()), release(Policy(), TEXTS)
    each = np.arange(len(batch.drawn))
    beam = params(folder, mode="beam").prepare(channel)
    np.testing.assert_array_equal(beam.decode(batch), beam._attacker.read(batch).best)
    decoder = params(folder, mode="posterior").prepare(channel)
    reading = decoder._attacker.read(batch)
    best = reading.rows[reading.likely.argmax(axis=0), each]
    np.testing.assert_array_equal(decoder.decode(batch), best)
    table = ENGLISH.vectors.astype(np.float64)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    for column, word in enumerate(params(folder).prepare(channel).decode(batch)):
        rows = reading.rows[:, column]
        values = table @ (reading.likely[:, column] @ table[rows])
        assert values[word] > values[rows].max() - 1e-9


def test_settings_and_content_change_what_is_written(
    folder: str, tmp_path: Path
) -> None:
    """Another weight, other n-grams and another model write other words."""
    channel, batch = make_channel(Policy()), release(Policy(), TEXTS * 4)
    ngrams.save(pairs.model(ENGLISH), tmp_path / "pairs")
    other = language_models.llama(tmp_path / "other", seed=5)
    several = [
        params(folder, mode="posterior"),
        params(folder, mode="posterior", weight=0.01),
        params(folder, mode="posterior", ngrams=str(tmp_path / "pairs")),
        params(other, mode="posterior"),
    ]
    decoders = [each.prepare(channel) for each in several]
    written = {tuple(each.decode(batch).tolist()) for each in decoders}
    assert len(written) == len(decoders)
    assert decoders[0].content == decoders[1].content
    assert set(decoders[2].content) == {"model", "ngrams", "word_classes"}
    assert decoders[0].content["model"] != decoders[3].content["model"]
    assert decoders[0].note
    assert decoders[0].attacker.name == "causal-lm"
    assert decoders[0].attacker.guess(batch).max() < SIZE


def test_a_run_is_the_same_whatever_the_batch(folder: str) -> None:
    """One key gives one text, in batches of one and of all."""
    recipe = {
        "mechanism": {"name": "rank", "k": 4, "outputs": 5},
        "budget": {"name": "uniform", "epsilon": 2.0},
        "decoder": {"name": "causal-lm", "model": folder, "candidates": 4},
    }
    ready = pipeline.build(profile.parse(recipe, "test"), ENGLISH)
    records = [Record(n, (text,), None) for n, text in enumerate(TEXTS * 2)]
    runs = [
        [texts for _, texts in ready.run(records, RunKey.from_seed(3), batch_size=size)]
        for size in (1, 4, 100)
    ]
    assert runs[0] == runs[1] == runs[2]
    plain = pipeline.build(
        profile.parse({**recipe, "decoder": "none"}, "test"), ENGLISH
    )
    assert plain.identity != ready.identity


def test_what_cannot_be_read_is_refused(folder: str, tmp_path: Path) -> None:
    """Each refusal is one line that names the setting and what to do."""
    channel = make_channel(Policy())

    def refused(match: str, **given: Any) -> None:
        with pytest.raises(UsageError, match=match) as error:
            params(folder, **given).prepare(channel)
        assert "\n" not in str(error.value)

    refused("needs a model", model="")
    refused("no folder", model=str(tmp_path / "absent"))
    refused("no config.json", model=str(tmp_path))
    if models.has("gguf") and models.has("accelerate"):
        refused("no file", model=str(tmp_path / "absent.gguf"))
    with pytest.raises(UsageError, match="no exact output distribution"):
        params(folder).prepare(make_channel(Policy(), "laplace"))


def test_a_broken_model_is_refused_in_one_line(tmp_path: Path) -> None:
    """Weights that are no weights give one line when the first text comes."""
    path = language_models.llama(tmp_path / "broken")
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"no weights")
    decoder = params(path).prepare(make_channel(Policy()))
    with pytest.raises(
        UsageError, match=r"decoder\.model: .* cannot be loaded"
    ) as error:
        decoder.decode(release(Policy(), ["cat"]))
    assert "\n" not in str(error.value)


def test_a_gguf_file_asks_for_its_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without the packages that read it, the line names the extra."""
    find = importlib.util.find_spec
    # Any package stands for those that this machine lacks.
    present = find("json")
    monkeypatch.setattr(
        "dptext.models.importlib.util.find_spec",
        lambda name: None if name == "gguf" else find(name) or present,
    )
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    with pytest.raises(MissingExtra, match=r"\.\[gguf\]"):
        params(str(tmp_path / "model.gguf")).prepare(make_channel(Policy()))


@pytest.mark.slow
def test_a_real_model_reads_english() -> None:
    """Under balanced it finds more of 43 words than each word tells by itself."""
    from dptext import open_pipeline
    from dptext.attackers.channel import UnigramAttacker

    decoder = {"name": "causal-lm", "model": language_models.real()}
    ready = open_pipeline("balanced", {"decoder": decoder})
    texts = [
        "The president of the United States said on Monday that he would not go.",
        "We have never been to New York, but my brother lives there with his wife.",
        "Shares of the company fell by more than ten percent in the last week.",
    ]
    private = ready.privatize(
        [Record(n, (text,), None) for n, text in enumerate(texts)],
        ready.randomness(RunKey.from_seed(3)),
    )
    words = private.words
    released = ready.released(words, private.drawn, private.eps)
    alone = (UnigramAttacker(ready.channel).guess(released) == words.ids).mean()
    attacker = ready.decoder.attacker
    assert attacker is not None
    read = (attacker.guess(released) == words.ids).mean()
    assert read > alone + 0.05


def test_a_keyed_run_says_what_may_differ_elsewhere(
    folder: str, key: str, tmp_path: Path
) -> None:
    """The end of a keyed run says that another machine may round otherwise."""
    options = (*small(tmp_path), "--decode", "causal-lm")
    options += ("--set", f"decoder.model={folder}", "-o", str(tmp_path / "out.txt"))
    line = b"the film was good\n"
    keyed = here("sanitize", *options, "--key-file", key, given=line)
    assert keyed.code == 0, keyed.err
    assert "other versions of torch" in " ".join(keyed.err.split())
    fresh = here("sanitize", *options, given=line)
    assert fresh.code == 0, fresh.err
    assert "torch" not in fresh.err
