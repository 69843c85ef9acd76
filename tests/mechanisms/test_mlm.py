from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dptext import models, pipeline, profile
from dptext.errors import DptextError, MissingExtra, UsageError, install_command
from dptext.guarantees import audit
from dptext.mechanisms import mlm
from dptext.mechanisms.mlm import Mlm
from dptext.randomness import RunKey
from dptext.types import Record
from tests import distributions, language_models, prepared, small
from tests.cli.running import here
from tests.mechanisms import masked

ODD = (
    "The cat runs.",
    "",
    "zq, 42 dogs don't (well) runs!\nnever",
    "... !?",
    "Paris",
    "He said [MASK] <mask> </s> [SEP]: 🙂 http://example.org/x?y=1",
    "unbelievableness " * 90,
    "we never saw the dog of Paris again",
)
CONTEXTS = ("pair", "masked")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the folders of a tiny BERT and a tiny RoBERTa."""
    home = tmp_path_factory.mktemp("models")
    return {
        "bert": language_models.bert(home / "bert"),
        "roberta": language_models.roberta(home / "roberta"),
    }


@pytest.fixture(params=["bert", "roberta"])
def folder(request: pytest.FixtureRequest, folders: dict[str, str]) -> str:
    """Return the folder of each tiny model."""
    return folders[request.param]


def ready(folder: str, **params: Any) -> Mlm:
    """Make the mechanism ready for a small lexicon."""
    mechanism: Mlm = prepared.ready("mlm", masked.LEXICON, model=folder, **params)
    return mechanism


def scores(mechanism: Mlm, *texts: str) -> NDArray[np.float64]:
    """Return the scores of every word of the texts."""
    return mechanism.scores(masked.words(*texts))


def draw(mechanism: Mlm, epsilon: float, *texts: str, seed: int = 0) -> Any:
    """Draw a word for every word of the texts."""
    words = masked.words(*texts)
    eps = np.full(len(words.ids), epsilon)
    bits = distributions.bits(len(words.ids), seed)
    return mechanism.sample(words, eps, bits)


@pytest.mark.parametrize("context", CONTEXTS)
def test_the_scores_are_those_of_the_model_at_the_mask(
    folder: str, context: str
) -> None:
    """Clipped logits, moved to [0, 1], of texts that the tokenizer puts together."""
    mechanism = ready(folder, context=context, c_min=-1.5, c_max=2.5)
    split = mlm.tokenizer(folder)
    network = mlm.load(folder, "cpu").network
    names = [masked.LEXICON.words[row] for row in mechanism.outputs]
    tokens = [
        split(" " + name, add_special_tokens=False)["input_ids"] for name in names
    ]
    assert all(len(each) == 1 for each in tokens)
    parts = ["we", "saw", "the", "dog", "again"]
    rated = scores(mechanism, " ".join(parts))
    for position in range(len(parts)):
        hidden = [*parts[:position], split.mask_token, *parts[position + 1 :]]
        texts = [" " + " ".join(hidden)]
        if context == "pair":
            texts = [" " + " ".join(parts), *texts]
        read = split(*texts, return_tensors="pt")
        where = (read["input_ids"][0] == split.mask_token_id).nonzero()[0, 0]
        logits = network(**read).logits[0, where].detach().numpy()
        expected = (np.clip(logits[[t[0] for t in tokens]], -1.5, 2.5) + 1.5) / 4
        np.testing.assert_allclose(rated[position], expected, atol=2e-5)
    assert (rated == 0).any()
    assert (rated == 1).any()


@pytest.mark.parametrize("epsilon", [0.5, 8.0, 40.0])
def test_draws_follow_the_distribution(epsilon: float) -> None:
    """Inverse transform against exp(eps s / 2), rows mixed in a batch (alarm 1e-6)."""
    rated = np.random.default_rng(3).random((4, 30))
    rated[0, :2] = 0.0, 1.0
    rows = np.arange(200_000) % 4
    uniform = distributions.bits(len(rows)).uniform(0)[:, 0]
    picked = mlm.pick(rated[rows], np.full(len(rows), epsilon), uniform)
    exact = distributions.normalised(epsilon * rated / 2)
    for row in range(4):
        distributions.assert_follows(
            picked[rows == row], exact[row], distributions.ALARM / 12
        )


def test_uniforms_at_the_ends_pick_the_ends() -> None:
    """The least and the largest uniform give the first and the last column."""
    ends = np.array([2.0**-53, 1 - 2.0**-53])
    picked = mlm.pick(np.zeros((2, 5)), np.full(2, 900.0), ends)
    np.testing.assert_array_equal(picked, [0, 4])


def test_words_are_drawn_from_the_scores(folder: str) -> None:
    """Many copies of a text give words as each position's scores say (alarm 1e-6)."""
    mechanism = ready(folder, c_min=-1.5, c_max=2.5)
    times, text = 700, "the cat runs"
    exact = np.zeros((3, len(masked.LEXICON.words)))
    rated = scores(mechanism, text)
    exact[:, mechanism.outputs] = distributions.normalised(6.0 * rated / 2)
    drawn = draw(mechanism, 6.0, *[text] * times).reshape(times, 3)
    assert drawn.dtype == np.int32
    for position in range(3):
        distributions.assert_follows(
            drawn[:, position], exact[position], distributions.ALARM / 6
        )


@pytest.mark.parametrize("context", CONTEXTS)
def test_no_two_texts_lose_more_than_epsilon(folder: str, context: str) -> None:
    """Per word, over all pairs of words of random texts; more than half is used."""
    mechanism = ready(folder, context=context, c_min=-1.0, c_max=1.0)
    rng = np.random.default_rng(8)
    names = np.array([*masked.LEXICON.words[:-1], "zq", "42", "Nobody's"])
    texts = [" ".join(rng.choice(names, 1 + row % 7)) for row in range(30)]
    rated = scores(mechanism, *texts, *ODD)
    for epsilon in (0.5, 10.0):
        rows = distributions.normalised(epsilon * rated / 2)
        worst = distributions.worst_losses(rows).max()
        assert epsilon / 2 < worst <= epsilon * (1 + 1e-12)
        promise = mechanism.guarantee(epsilon)
        assert (promise.notion, promise.metric.name, promise.max_distance) == (
            "LDP",
            "1",
            1.0,
        )
        assert promise.context
        assert rows.min() >= np.exp(-epsilon / 2) / rows.shape[1]
        assert 0 < mechanism.numerical_slack(epsilon) < 1e-9


@given(
    st.lists(st.floats(width=32), min_size=2, max_size=6),
    st.lists(st.floats(width=32), min_size=6, max_size=6),
    st.floats(0.01, 300.0),
)
def test_whatever_a_model_says_keeps_the_range(
    one: list[float], other: list[float], epsilon: float
) -> None:
    """Logits without end, or that are no numbers, lose at most epsilon as well."""
    table = np.array([one, other[: len(one)]], np.float32)
    rated = mlm.Params().scores(table)
    assert ((rated >= 0) & (rated <= 1)).all()
    logs = epsilon * rated / 2
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    assert np.abs(logs[0] - logs[1]).max() <= epsilon * (1 + 1e-9)


def test_a_changed_word_moves_the_scores_of_the_others(folder: str) -> None:
    """The reason why a text loses n epsilon: each draw looks at the whole text."""
    for context in CONTEXTS:
        mechanism = ready(folder, context=context)
        one = scores(mechanism, "the cat runs well")
        other = scores(mechanism, "the dog runs well")
        assert (np.abs(one - other).max(axis=1)[[0, 2, 3]] > 1e-4).all()


def test_a_masked_word_leaves_no_trace_of_itself(folder: str) -> None:
    """Without the original beside it, the scores are the same for any word.

    Up to rounding, because the other words of the text are computed beside it.
    """
    mechanism = ready(folder, context="masked")
    for word in ("cat", "unbelievableness", "zq9", "42", "PARIS"):
        one = scores(mechanism, f"we saw the {word} again")
        other = scores(mechanism, "we saw the dog again")
        np.testing.assert_allclose(one[3], other[3], atol=1e-5)
    beside = ready(folder, context="pair")
    one, other = (
        scores(beside, f"we saw the {word} again")[3]
        for word in ("cat", "unbelievableness")
    )
    assert np.abs(one - other).max() > 1e-4


@pytest.mark.parametrize("context", CONTEXTS)
def test_the_batch_changes_nothing(folder: str, context: str) -> None:
    """Texts alone and together have the same scores to the last bit, and words."""
    mechanism = ready(folder, context=context)
    together = scores(mechanism, *ODD)
    words = masked.words(*ODD)
    for number, text in enumerate(ODD):
        alone = scores(mechanism, text)
        np.testing.assert_array_equal(together[words.texts == number], alone)
    for batch in (1, 4, 64):
        other = ready(folder, context=context, batch=batch)
        np.testing.assert_allclose(scores(other, *ODD), together, atol=1e-5)
        np.testing.assert_array_equal(
            draw(other, 9.0, *ODD), draw(mechanism, 9.0, *ODD)
        )


def built(folder: str, **over: Any) -> pipeline.Pipeline:
    """Build the shipped profile for the small lexicon."""
    over = {"mechanism": {"model": folder}, **over}
    return pipeline.build(profile.load("dp-mlm", over), masked.LEXICON)


def test_the_profile_rewrites_records(folder: str) -> None:
    """The same bytes for batches of 1, 4 and 16 records; no word is copied."""
    sanitizer = built(folder)
    records = [
        Record(row, (ODD[row % len(ODD)][:90], "dog zq " * (row % 3)), None)
        for row in range(18)
    ]
    runs = [
        list(sanitizer.run(records, RunKey.from_seed(1), batch_size=size))
        for size in (1, 4, 16)
    ]
    assert runs[0] == runs[1] == runs[2]
    for _, texts in runs[0]:
        for text in texts:
            for gone in ("zq", "42", "unbelievableness", "said", "http", "🙂"):
                assert gone not in text
    assert runs[0] != list(sanitizer.run(records, RunKey.from_seed(2)))


def test_nothing_and_marks_alone_are_no_words(folder: str) -> None:
    """Empty batches, empty texts and texts of marks draw nothing."""
    mechanism = ready(folder)
    for texts in ((), ("",), ("", "...", "?!")):
        assert len(draw(mechanism, 2.0, *texts)) == 0
        assert scores(mechanism, *texts).shape[0] == 0


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_long_text_is_read_through_a_window(folder: str, context: str) -> None:
    """Words far from the mask do not matter, near ones do."""
    mechanism = ready(folder, context=context, max_length=40)
    text = " ".join(["the cat saw the dog of Paris"] * 30)
    middle = 105
    base = scores(mechanism, text)
    far = scores(mechanism, text.replace("the cat", "never well", 1))
    near = [*text.split(" ")]
    near[middle - 2] = "film"
    np.testing.assert_array_equal(base[middle], far[middle])
    assert np.abs(scores(mechanism, " ".join(near))[middle] - base[middle]).max() > 1e-4
    assert base.shape[0] == 210


@given(st.integers(1, 60), st.integers(0, 59), st.integers(30, 90), st.booleans())
def test_every_sequence_has_one_mask_and_fits(
    length: int, position: int, longest: int, pair: bool
) -> None:
    """Cut texts fill the room, whole ones are whole; the mask is where it is said."""
    position %= length
    sizes = 1 + np.arange(length) % 3
    starts = np.concatenate(([0], np.cumsum(sizes)))
    batch = mlm.TokenBatch(
        np.arange(100, 100 + starts[-1]), starts, np.array([0]), np.array([length])
    )
    one, two = np.array([[1], [1]]), np.array([[2], [2]])
    frame = mlm.ModelFrame(
        one, between=two if pair else None, after=two, first=5, second=6
    )
    (tokens, types), where = mlm.sequence(
        batch, 0, position, mask=9, frame=frame, longest=longest
    )
    assert tokens[where] == 9
    assert (tokens == 9).sum() == 1
    assert len(tokens) == len(types) <= longest
    masked_length = starts[-1] - sizes[position] + 1
    room = (longest - frame.room) // (1 + pair)
    expected = min(masked_length, room) + pair * min(starts[-1], room) + frame.room
    assert len(tokens) == expected
    gone = np.arange(100 + starts[position], 100 + starts[position + 1])
    second = tokens[-min(masked_length, room) - 1 :]
    assert not np.isin(second, gone).any()
    assert pair == np.isin(tokens, gone).any()
    assert (types[where], (types == 5).any()) == (6 if pair else 5, True) or not pair


def test_outputs_are_whole_words_of_the_model(folder: str) -> None:
    """Fixed and public: one token each, no two alike, never the number element."""
    mechanism = ready(folder)
    split = mlm.tokenizer(folder)
    rows = mechanism.outputs
    assert len(set(rows.tolist())) == len(rows)
    names = [masked.LEXICON.words[row] for row in rows]
    assert {"the", "cat", "Paris"} <= set(names)
    assert not {"zqxv", "unbelievableness", "<number>"} & set(names)
    begins: dict[str, Callable[[str], str]] = {
        "bert": str.lower,
        "roberta": lambda name: f"Ġ{name}",
    }
    for name in names:
        piece = begins[Path(folder).name](name)
        assert split.convert_tokens_to_ids(piece) != split.unk_token_id
    drawn = draw(mechanism, 3.0, *ODD)
    assert set(drawn.tolist()) <= set(rows.tolist())


def test_probabilities_in_public_texts_can_be_audited(folder: str) -> None:
    """Rows sum to one; the audit finds no loss above the claim."""
    mechanism = ready(folder)
    shares = np.exp(mechanism.example_log_probs(5.0))
    assert shares.shape == (len(mlm.EXAMPLES), len(masked.LEXICON.words))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    ids = [text.split(" ")[2] for text in mlm.EXAMPLES]
    rated = scores(mechanism, *mlm.EXAMPLES)
    words = masked.words(*mlm.EXAMPLES)
    third = np.searchsorted(words.texts, np.arange(len(ids))) + 2
    rows = mechanism.outputs
    np.testing.assert_allclose(
        shares[:, rows], distributions.normalised(2.5 * rated[third]), rtol=1e-4
    )
    result = audit.audit(mechanism, 5.0, None)
    assert 0 < result.worst <= 5.0
    assert not result.refuted


def test_weights_of_both_kinds_are_read(
    folders: dict[str, str], tmp_path: Path
) -> None:
    """pytorch_model.bin and model.safetensors of one network say the same."""
    other = ready(language_models.bert(tmp_path / "bin", safe=False))
    text = "the cat saw him"
    np.testing.assert_array_equal(
        scores(other, text), scores(ready(folders["bert"]), text)
    )
    assert "(weights sha256 " in other.guarantee(1.0).source


def refusal(**params: Any) -> DptextError:
    """Return the error of settings that do not do, one line and exit code 2."""
    with pytest.raises(DptextError) as caught:
        scores(prepared.ready("mlm", masked.LEXICON, **params), "the cat")
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_missing_model_is_one_line(tmp_path: Path, folders: dict[str, str]) -> None:
    """Each way in which a model can be missing says what to do."""
    assert "--set mechanism.model=DIR" in str(refusal())
    assert "nothing is downloaded" in str(refusal(model="roberta-base"))
    assert "no config.json" in str(refusal(model=str(tmp_path)))
    partial = tmp_path / "partial"
    partial.mkdir()
    shutil.copy(Path(folders["bert"], "config.json"), partial)
    assert "no tokenizer" in str(refusal(model=str(partial)))
    shutil.copy(Path(folders["bert"], "tokenizer.json"), partial)
    shutil.copy(Path(folders["bert"], "tokenizer_config.json"), partial)
    assert "no weights" in str(refusal(model=str(partial)))
    (partial / "model.safetensors").write_bytes(b"nonsense")
    assert "cannot be loaded" in str(refusal(model=str(partial)))


def test_a_model_without_its_head_is_refused(tmp_path: Path) -> None:
    """An encoder alone would get random scores: it is named, not used."""
    encoder = language_models.bert(tmp_path / "encoder", head=False)
    assert "masked-language-model head" in str(refusal(model=encoder))


def test_a_tokenizer_without_a_mask_is_refused(tmp_path: Path) -> None:
    """So is one that shares no word with the lexicon."""
    bare = Path(language_models.roberta(tmp_path / "bare"))
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        (bare / name).unlink(missing_ok=True)
    (bare / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "PreTrainedTokenizerFast"}'
    )
    assert "no mask token" in str(refusal(model=str(bare)))


def test_a_lexicon_of_other_words_is_refused(folder: str) -> None:
    """No output at all is an error, not an endless text."""
    foreign = small.english("zqxv", "unbelievableness")
    mechanism = prepared.ready("mlm", foreign, model=folder)
    with pytest.raises(UsageError, match="no word of the lexicon"):
        scores(mechanism, "the cat")


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without transformers the command that installs it is part of the message."""
    monkeypatch.setattr(models, "has", lambda name: False)
    error = refusal(model=str(tmp_path))
    assert isinstance(error, MissingExtra)
    assert install_command("semantic") in str(error)


def test_settings_without_sense_are_refused(folders: dict[str, str]) -> None:
    """An empty range, and an epsilon beyond any meaning."""
    with pytest.raises(UsageError, match="c_max"):
        mlm.Params(c_min=1.0, c_max=1.0)
    with pytest.raises(UsageError, match="up to 1000"):
        built(folders["bert"], budget={"epsilon": 2000})
    with pytest.raises(UsageError, match="strategy token"):
        built(folders["bert"], strategy="record")
    assert "cannot be loaded" in str(refusal(model=folders["bert"], device="abacus"))


def test_the_profile_without_a_model_is_one_line() -> None:
    """`dptext sanitize --profile dp-mlm` says what to give, and writes nothing."""
    ran = here(
        "sanitize", "-f", "text", "--profile", "dp-mlm", given=b'{"text": "a cat"}\n'
    )
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.count("\n") == 1
    assert "--set mechanism.model=DIR" in ran.err
