"""All causes of an output enter the nonces: every setting, every byte it names."""

from __future__ import annotations

import dataclasses
import importlib
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dptext import models, pipeline, profile, registry
from dptext.attackers import ngrams
from dptext.errors import DptextError, LexiconError, MissingExtra, UsageError
from dptext.pipeline import output_identity
from dptext.randomness import RunKey
from dptext.settings import Prepared, convert, digest_of_path
from dptext.tokens.policy import Policy
from dptext.types import Record
from tests.attackers import models as pair_models
from tests.conformance.components import ENGLISH
from tests.outside import install

STAGES = (*profile.STAGES.values(), "budgets.scores")
COMPONENTS = [(stage, name) for stage in STAGES for name in registry.names(stage)]
# Settings of text that name nothing outside the profile.
PLAIN = {
    ("mechanisms", "mlm", "device"),
    ("budgets", "declared", "by"),
    ("budgets", "class-first", "by"),
    ("budgets", "released-past", "by"),
    ("budgets.scores", "word-similarity", "device"),
    ("decoders", "causal-lm", "device"),
    ("decoders", "endpoint", "url"),
    ("decoders", "endpoint", "model"),
    ("budgets.scores", "sentence-similarity", "device"),
    # Names inside NLTK's data, which counts as a whole.
    ("budgets.scores", "ic", "files"),
}
# Settings that change no word.
ALIKE = {
    ("mapping", "device"),
    ("decoder", "concurrency"),
    ("decoder", "timeout"),
}
TABLE = "word,class\nthe,common\ncat,rare\n"
CLASSES = {"common": 8.0, "rare": 6.0, "other": 4.0}


def table(folder: Path) -> Path:
    """Write a table of classes."""
    folder.mkdir(parents=True)
    (folder / "classes.csv").write_text(TABLE)
    return folder / "classes.csv"


def model(*names: str) -> Callable[[Path], Path]:
    """Return what writes a folder with these files, as no library looks at them yet."""

    def write(folder: Path) -> Path:
        for name in names:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{{}} {name}")
        return folder

    return write


MASKED = model("config.json", "tokenizer.json", "vocab.txt", "model.safetensors")
SENTENCES = model("modules.json", "1_Pooling/config.json", "model.safetensors")


def causal(folder: Path) -> Path:
    """Write a folder with a configuration that names a causal model."""
    folder = model("tokenizer.json", "vocab.txt", "model.safetensors")(folder)
    (folder / "config.json").write_text('{"architectures": ["AForCausalLM"]}')
    return folder


def pairs(folder: Path) -> Path:
    """Write an n-gram model over the small lexicon."""
    ngrams.save(pair_models.model(ENGLISH), folder)
    return folder


SPACY = model("meta.json", "config.cfg", "ner/model", "vocab/strings.json")
# Each setting that names files: its files, and a profile with it.
FILES: dict[tuple[str, str, str], tuple[Callable[[Path], Path], dict[str, Any]]] = {
    ("budgets", "declared", "table"): (
        table,
        {"budget": {"name": "declared", "by": "table", "epsilons": CLASSES}},
    ),
    ("budgets", "class-first", "table"): (
        table,
        {
            "budget": {
                "name": "class-first",
                "by": "table",
                "first": 0.5,
                "epsilons": CLASSES,
            }
        },
    ),
    ("budgets", "released-past", "table"): (
        table,
        {
            "budget": {
                "name": "released-past",
                "by": "table",
                "epsilon": 60.0,
                "start": 4.0,
                "epsilons": CLASSES,
            }
        },
    ),
    ("decoders", "ngram", "model"): (pairs, {"decoder": {"name": "ngram"}}),
    ("decoders", "context", "model"): (pairs, {"decoder": {"name": "context"}}),
    ("decoders", "causal-lm", "model"): (causal, {"decoder": {"name": "causal-lm"}}),
    ("decoders", "causal-lm", "ngrams"): (pairs, {"decoder": {"name": "causal-lm"}}),
    ("decoders", "endpoint", "ngrams"): (
        pairs,
        {"decoder": {"name": "endpoint", "url": "http://localhost:1/v1", "model": "m"}},
    ),
    ("mechanisms", "mlm", "model"): (MASKED, {"mechanism": {"name": "mlm"}}),
    ("budgets.scores", "word-similarity", "model"): (SENTENCES, {}),
    ("budgets.scores", "sentence-similarity", "model"): (SENTENCES, {}),
    ("budgets.scores", "ner", "pipeline"): (SPACY, {}),
    ("budgets.scores", "pos", "pipeline"): (SPACY, {}),
}


def read_texts(kind: Any) -> Iterator[str]:
    """Yield the fields of a dataclass that hold texts; keys of mappings are names."""
    hints = typing.get_type_hints(kind)
    for name in (field.name for field in dataclasses.fields(kind)):
        hint = hints[name]
        if typing.get_origin(hint) is not dict:
            if str in (hint, *typing.get_args(hint)):
                yield name


def says_content(stage: str, module: Any) -> bool:
    """Tell whether a component says digests of what its settings name."""
    kind = typing.get_type_hints(module.Params.prepare)["return"]
    return kind.content is not Prepared.content


@pytest.mark.parametrize(("stage", "name"), COMPONENTS)
def test_a_setting_of_text_names_content_or_nothing(stage: str, name: str) -> None:
    """Every setting of text is listed: it names content, or it does not."""
    module: Any = registry.find(stage, name)
    if registry.code(stage, name):
        pytest.skip("another package's component counts with its code")
    folder: Any = importlib.import_module(f"dptext.{stage}")
    for field in set(read_texts(module.Params)) - set(read_texts(folder.Params)):
        key = (stage, name, field)
        assert (key in PLAIN) != (key in FILES), f"list {key} in PLAIN or FILES"
    if any((stage, name) == key[:2] for key in FILES):
        assert says_content(stage, module)


def edits(old: bytes) -> list[bytes]:
    """Return the bytes changed in three ways; a table stays one."""
    if old == TABLE.encode():
        pairs = ((b"the", b"dog"), (b"cat", b"Cat"), (b"cat", b"dog"))
        return [old.replace(one, other) for one, other in pairs]
    return [
        old[:at] + bytes([old[at] ^ 1]) + old[at + 1 :]
        for at in (0, len(old) // 2, len(old) - 1)
    ]


def nonce(
    stage: str,
    name: str,
    field: str,
    path: Path,
    recipe: dict[str, Any],
    *,
    edited: bool = False,
) -> bytes:
    """Return the nonce of one record of a run with the path as its setting.

    edited: the file may be refused, which is as good as another nonce.
    """
    data: dict[str, Any] = {
        "mechanism": "rank",
        "budget": {"name": "uniform", "epsilon": 6.0},
        **recipe,
    }
    if stage == "budgets.scores":
        chosen = {name: {field: str(path)}}
        if name == "pos":
            chosen[name]["tagger"] = "spacy"
        data["budget"] = {"name": "linguistic", "epsilon": 30.0, "scores": chosen}
    else:
        key = {"budgets": "budget", "decoders": "decoder"}.get(stage, "mechanism")
        data[key] = {**data[key], field: str(path)}
        if field == "ngrams" and name == "causal-lm":
            data[key]["model"] = str(causal(path.parent / "causal"))
    try:
        sanitizer = pipeline.build(profile.parse(data, "test"), ENGLISH)
    except MissingExtra as error:
        pytest.skip(str(error))
    except (LexiconError, UsageError):
        if not edited:
            raise
        return digest_of_path(path).encode()
    return sanitizer.randomness(RunKey.from_seed(1)).nonce(Record(0, ("a text",), None))


@pytest.mark.parametrize("setting", FILES, ids="/".join)
def test_every_byte_that_a_setting_names_enters_the_nonces(
    setting: tuple[str, str, str], tmp_path: Path
) -> None:
    """An edited file gives other nonces; the same content elsewhere gives the same."""
    write, recipe = FILES[setting]
    named = write(tmp_path / "one")
    before = nonce(*setting, named, recipe)
    assert nonce(*setting, write(tmp_path / "moved" / "away"), recipe) == before
    files = [named] if named.is_file() else sorted(named.rglob("*.*"))
    files = [file for file in files if file.is_file()]
    known = {before}
    for file in files:
        old = file.read_bytes()
        for new in edits(old):
            file.write_bytes(new)
            known.add(nonce(*setting, named, recipe, edited=True))
        file.write_bytes(old)
    assert len(known) == 1 + 3 * len(files)
    assert nonce(*setting, named, recipe) == before


def test_a_file_more_or_of_another_name_is_other_content(tmp_path: Path) -> None:
    """Names of files count; hidden files and compiled Python do not."""
    setting = ("mechanisms", "mlm", "model")
    write, recipe = FILES[setting]
    named = write(tmp_path / "one")
    before = nonce(*setting, named, recipe)
    (named / ".cache").mkdir()
    (named / ".cache" / "lock").write_text("x")
    (named / "__pycache__").mkdir()
    (named / "__pycache__" / "a.pyc").write_text("x")
    assert nonce(*setting, named, recipe) == before
    (named / "added_tokens.json").write_text("{}")
    after = nonce(*setting, named, recipe)
    (named / "added_tokens.json").rename(named / "special_tokens.json")
    assert len({before, after, nonce(*setting, named, recipe)}) == 3


@pytest.mark.parametrize(
    ("score", "data"), [("pos", "taggers"), ("ic", "corpora")], ids=["pos", "ic"]
)
def test_data_of_nltk_enters_the_nonces(
    score: str, data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another tagger or other counts in NLTK's folder give other nonces."""
    if not models.has("nltk"):
        pytest.skip("nltk is not installed")
    nltk = models.package("nltk", "the test", "nlp")
    settings = {"source": "nltk"} if score == "ic" else {"tagger": "nltk"}
    scores = {score: settings}
    recipe = {"budget": {"name": "linguistic", "epsilon": 30.0, "scores": scores}}
    nonces = []
    for position in ("one", "two"):
        for name, path in models.NLTK_DATA.items():
            folder = tmp_path / position / path
            folder.mkdir(parents=True)
            (folder / "data").write_text(name)
        monkeypatch.setattr(nltk.data, "path", [str(tmp_path / position)])
        nonces.append(built_nonce({"mechanism": "rank", **recipe}))
    assert nonces[0] == nonces[1]
    for name, path in models.NLTK_DATA.items():
        if path.startswith(data):
            (tmp_path / "two" / path / "data").write_text(f"{name}!")
            nonces.append(built_nonce({"mechanism": "rank", **recipe}))
    assert len(set(nonces)) == len(nonces) - 1


def built_nonce(data: dict[str, Any], lexicon: Any = ENGLISH) -> bytes:
    """Return the nonce of one record of a run."""
    sanitizer = pipeline.build(profile.parse(data, "test"), lexicon)
    return sanitizer.randomness(RunKey.from_seed(1)).nonce(Record(0, ("a text",), None))


def others(hint: Any, now: Any) -> Iterator[Any]:
    """Yield values that a setting of this type may have instead."""
    if typing.get_origin(hint) is typing.Annotated:
        yield from others(typing.get_args(hint)[0], now)
        return
    if typing.get_origin(hint) is typing.Literal:
        yield from typing.get_args(hint)
        return
    yield from (True, False, 2, 3, 0.25, 0.75, 7.5, "other", "masked", "mask", "keep")
    yield from ([], [2.0, 3.0], {"NN": 3.0}, {"other": 3.0}, [[2, 1.0]], ["a"])


def changed(kind: Any, base: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield settings with one field changed, and the unchanged ones."""
    hints = typing.get_type_hints(kind, include_extras=True)
    now = convert(base, kind, "test")
    for field in dataclasses.fields(kind):
        for value in others(hints[field.name], getattr(now, field.name)):
            try:
                other = convert({**base, field.name: value}, kind, "test")
            except (DptextError, ValueError, msgspec.ValidationError):
                continue
            if other != now:
                yield field.name, now, other
                break


@pytest.mark.parametrize(
    ("key", "name"),
    [(key, name) for key, at in profile.STAGES.items() for name in registry.names(at)],
)
def test_every_setting_of_every_component_enters_the_identity(
    key: str, name: str
) -> None:
    """Change one setting, or the component, and no noise is shared.

    Except settings that change no word, exactly: where a mapping is computed, and how
    many requests a server gets at once.
    """
    module: Any = registry.find(profile.STAGES[key], name)
    base = dict(getattr(module.Params, "EXAMPLE", {}))

    def with_part(params: Any) -> profile.Profile:
        part: Any = profile.Part(name, params)
        changed = {key: part}
        return dataclasses.replace(usual, **changed)

    usual = profile.parse(
        {"mechanism": "laplace", "budget": {"name": "uniform", "epsilon": 3.0}}, "test"
    )
    seen = {output_identity(usual, "lexicon", {}, ())}
    count = 1
    now = convert(base, module.Params, "test")
    settings = [("", now)]
    settings += [(field, other) for field, _, other in changed(module.Params, base)]
    for field, params in settings:
        recipe = with_part(params)
        if recipe == usual:
            continue
        if (key, field) in ALIKE:
            plain = with_part(now)
            same = (
                output_identity(each, "lexicon", {}, ()) for each in (plain, recipe)
            )
            assert len(set(same)) == 1
            continue
        seen.add(output_identity(recipe, "lexicon", {}, ()))
        count += 1
    assert len(seen) == count


def test_policy_strategy_and_lexicon_enter_the_nonces() -> None:
    """The treatment of each kind of token, the strategy and the vocabulary."""
    base: dict[str, Any] = {
        "mechanism": "rank",
        "budget": {"name": "uniform", "epsilon": 3.0},
    }
    seen = [built_nonce(base)]
    for field, _, other in changed(Policy, {}):
        value = getattr(other, field)
        # Words of opinion are common words, too, as those of languages are.
        common = {"common": 200} if field in ("opinion", "languages") else {}
        value = ["de"] if field == "languages" else value
        seen.append(built_nonce({**base, "tokens": {**common, field: value}}))
    # Grammar is shown beside common words alone.
    for shown in ({}, {"grammar": "show"}):
        tokens = {"common": 300, **shown}
        seen.append(built_nonce({**base, "tokens": tokens}))
    seen.append(built_nonce({**base, "tokens": {"keep": ["doctor"]}}))
    for strategy in ("record", "data-set"):
        seen.append(built_nonce({**base, "strategy": strategy}))
    seen.append(built_nonce(base, dataclasses.replace(ENGLISH, digest="other")))
    assert len(set(seen)) == len(seen) > len(dataclasses.fields(Policy))
    # Names of the profile and of the lexicon decide nothing.
    named = dataclasses.replace(ENGLISH, name="elsewhere")
    assert built_nonce({**base, "name": "x", "about": "y"}, named) == seen[0]


def forget() -> None:
    """Have the registry look again at which packages are installed."""
    registry.look_again()


def test_components_of_other_packages_count_with_their_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A changed file of an outside mechanism draws anew, at equal settings."""
    site = tmp_path / "site"
    source = Path(registry.find("mechanisms", "santext").__file__ or "").read_text()
    entry = "outsider = outsider_words"
    install(site, "outsider", "dptext.mechanisms", entry, outsider_words=source)
    monkeypatch.syspath_prepend(str(site))
    forget()
    try:
        recipe = {
            "mechanism": "outsider",
            "budget": {"name": "uniform", "epsilon": 3.0},
        }
        before = built_nonce(recipe)
        assert built_nonce(recipe) == before
        with (site / "outsider_words.py").open("a") as file:
            file.write("# another way\n")
        assert built_nonce(recipe) != before
    finally:
        monkeypatch.undo()
        forget()
