"""Finding models and data of other packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from dptext import models
from dptext.errors import MissingExtra, UsageError


def test_an_absent_package_names_its_extra() -> None:
    """One line with the command."""
    with pytest.raises(MissingExtra, match=r'the score x needs .* "\.\[nlp\]"'):
        models.package("no_such_package.part", "the score x", "nlp")
    assert not models.has("no_such_package")
    assert not models.has("os.path")  # no parent is imported on the way
    assert models.has("json")


def test_a_sentence_model_is_a_folder_with_modules(tmp_path: Path) -> None:
    """A folder by its content; a package by its folder `model`, never imported."""
    assert models.sentence_path(str(tmp_path)) is None
    (tmp_path / "modules.json").write_text("[]")
    assert models.sentence_path(str(tmp_path)) == str(tmp_path)


def test_a_package_with_a_model_is_found_without_running_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hyphens as underscores; code of a named package is not run by looking."""
    inside = tmp_path / "my_own_model" / "model"
    inside.mkdir(parents=True)
    (inside.parent / "__init__.py").write_text("raise RuntimeError('was run')")
    (inside / "modules.json").write_text("[]")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert models.sentence_path("my-own-model") == str(inside)


def test_a_broken_model_is_one_line(tmp_path: Path) -> None:
    """A folder that only looks like a model."""
    if not models.has("sentence_transformers"):
        pytest.skip("sentence-transformers is not installed")
    (tmp_path / "modules.json").write_text(
        '[{"idx": 0, "name": "0", "path": "",'
        ' "type": "sentence_transformers.models.Transformer"}]'
    )
    with pytest.raises(UsageError, match="cannot be loaded") as error:
        models.embed(str(tmp_path), "cpu", [["x"]])
    assert "\n" not in str(error.value)


def test_weights_have_a_digest(tmp_path: Path) -> None:
    """The sha256 of the file that holds them, where there is one."""
    import hashlib

    assert models.weights_digest(str(tmp_path)) == ""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "model.safetensors").write_bytes(b"weights")
    digest = models.weights_digest(str(tmp_path / "a"))
    assert digest == hashlib.sha256(b"weights").hexdigest()


def test_a_pipeline_without_the_component_is_refused(tmp_path: Path) -> None:
    """Named with what it lacks."""
    if not models.has("spacy"):
        pytest.skip("spacy is not installed")
    folder = tmp_path / "blank"
    models.package("spacy", "the test", "nlp").blank("en").to_disk(folder)
    models.need_spacy(str(folder), "the test")
    with pytest.raises(UsageError, match="has no component 'ner'"):
        models.pipeline(str(folder), "ner")
