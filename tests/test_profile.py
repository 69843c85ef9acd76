from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from dptext import profile, settings
from dptext.budgets import uniform
from dptext.errors import UsageError
from dptext.mappings import two_nearest
from dptext.mechanisms import rank
from dptext.overrides import make_overrides
from dptext.profile import Profile
from dptext.run.choices import Choices
from dptext.tokens.policy import Policy

pytestmark = pytest.mark.quick

SOUND = """\
name: mine
mechanism: {name: rank, k: 20}
budget: {name: uniform, epsilon: 4}
"""


def write(folder: Path, text: str) -> str:
    """Write a profile file and return its path."""
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def parsed(**keys: Any) -> Profile:
    """Parse a sound profile with some keys changed."""
    base: dict[str, Any] = {"mechanism": "rank", "budget": {"name": "uniform"}}
    base["budget"]["epsilon"] = 4
    return profile.parse({**base, **keys}, "mine.yaml")


@pytest.mark.parametrize("name", profile.shipped())
def test_every_shipped_profile_loads(name: str) -> None:
    """Each recipe is sound, bears the name of its file and says where it comes from."""
    recipe = profile.load(name)
    assert recipe.name == name
    assert recipe.about
    assert recipe.source
    assert (recipe.mapping is not None) == (recipe.mechanism.params.family == "noise")


def test_a_run_without_a_profile_is_readable() -> None:
    """It is for people; readable is what 2.0.0 takes without a word."""
    assert profile.DEFAULT == "readable"
    for chosen in ({}, {"epsilon": 2.0}, {"decode": "none"}, {"marks": True}):
        assert Choices(**chosen).name == profile.DEFAULT
    assert Choices(overrides={"mechanism": {"k": 8}}).name == profile.DEFAULT
    assert profile.chosen(Choices()) == profile.load("readable")


@pytest.mark.parametrize(
    "chosen",
    [
        {"risk": "10%"},
        {"mechanism": "santext", "epsilon": 4.0},
        {"overrides": {"mechanism": "santext"}},
        {"overrides": {"budget": {"risk": 0.1, "epsilon": None}}},
    ],
)
def test_a_risk_or_mechanism_starts_from_balanced(chosen: dict[str, Any]) -> None:
    """They are about all words: readable at 10% would protect less than readable."""
    assert Choices(**chosen).name == "balanced"
    assert Choices(profile="readable", **chosen).name == "readable"
    assert Choices(profile="strict", topics="mine").name == "strict"
    assert Choices(topics="mine").name == "topics"


def test_defaults_are_filled_in(tmp_path: Path) -> None:
    """A setting that a profile leaves out has its documented default."""
    recipe = profile.load(write(tmp_path, SOUND))
    assert (recipe.lexicon, recipe.space.name, recipe.mapping) == (
        "builtin",
        "identity",
        None,
    )
    assert recipe.tokens == Policy()
    params = recipe.mechanism.params
    assert isinstance(params, rank.Params)
    assert params.k == 20
    assert params.weights == "fitted"


def test_a_noise_mechanism_gets_the_nearest_word() -> None:
    """Without a mapping, noise is followed by the nearest word."""
    mapping = parsed(mechanism="laplace").mapping
    assert mapping is not None
    assert mapping.name == "nearest"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mechansim: rank", r"mine.yaml: unknown key 'mechansim'; did you mean 'mech"),
        ("1: x", "mine.yaml: unknown key 1"),
        ("tokens.number: mask", r"nest it, as in {'tokens': {'number': ...}}"),
        (SOUND.replace("k: 20", "kk: 2"), r"mine.yaml: mechanism.kk: unknown key; did"),
        (
            SOUND.replace("rank", "rnak"),
            "no mechanism named 'rnak'; did you mean 'rank'",
        ),
        (
            SOUND.replace("uniform", "zzz"),
            "no budget named 'zzz'; known: class-first, declared, ",
        ),
        (SOUND + "space: cube", "no space named 'cube'"),
        (SOUND + "tokens: {case: upper}", "mine.yaml: tokens.case: "),
        (
            SOUND + "tokens: {csae: lower}",
            "tokens.csae: unknown key; did you mean 'case'",
        ),
        (SOUND + "tokens: [case]", "mine.yaml: tokens: give keys and values"),
        (SOUND + "name: again", r"mine.yaml:\d+: duplicate key 'name'"),
        (SOUND.replace("k: 20", "k: 2, k: 3"), "duplicate key 'k'"),
        (SOUND.replace("k: 20", "k: many"), "mine.yaml: mechanism.k: "),
        (SOUND.replace("k: 20", "k: 0"), "mine.yaml: mechanism.k: "),
        (SOUND.replace("k: 20", "k: 2.5"), "mine.yaml: mechanism.k: "),
        (SOUND.replace("k: 20", "k: true"), "mine.yaml: mechanism.k: "),
        (SOUND.replace("k: 20", "c: -1"), "mine.yaml: mechanism.c: "),
        (SOUND.replace("{name: rank, k: 20}", "[rank]"), "mechanism: give a name"),
        (SOUND.replace("{name: rank, k: 20}", "{k: 3}"), "mechanism: give a name"),
        (SOUND.replace("{name: rank, k: 20}", ""), "mine.yaml: mechanism is missing"),
        ("mechanism: rank", "mine.yaml: budget is missing"),
        (SOUND + "mapping: nearest", "rank draws words without a mapping; remove it"),
        ("- a\n- b", "mine.yaml: the profile has no keys; write KEY: VALUE"),
        ("just words", "mine.yaml: the profile has no keys; write KEY: VALUE"),
        ("", "mine.yaml: the profile is empty; write KEY: VALUE"),
        ("a: [", r"mine.yaml:\d+: "),
        ("a: &x {b: *x}", r"mine.yaml:\d+: "),
        ("about: 2001-99-99\n" + SOUND, "mine.yaml"),
        ("? [a]\n: b", r"mine.yaml:\d+: "),
        ("name: !!python/object:os.system x", r"mine.yaml:\d+: "),
    ],
)
def test_a_wrong_profile_is_refused_with_its_place(
    tmp_path: Path, text: str, reason: str
) -> None:
    """File, key and next action are named; no other error gets out."""
    with pytest.raises(UsageError, match=reason):
        profile.load(write(tmp_path, text))


@pytest.mark.parametrize(
    "value",
    [
        "0",
        "-1",
        ".nan",
        ".inf",
        "-.inf",
        "1e300",
        "1.0e+300",
        "1" + "0" * 400,
        "'8'",
        "true",
        "[1]",
        "0%",
        "-5%",
        "eight",
    ],
)
@pytest.mark.parametrize("budget", ["uniform", "per-text"])
def test_an_epsilon_without_meaning_is_refused(
    tmp_path: Path, budget: str, value: str
) -> None:
    """Zero, negative, endless and absurd values are errors at budget.epsilon."""
    text = SOUND.replace("epsilon: 4", f"epsilon: {value}").replace("uniform", budget)
    with pytest.raises(UsageError, match=r"mine\.yaml: budget\.epsilon: "):
        profile.load(write(tmp_path, text))


@pytest.mark.parametrize("value", ["0", "1", "0%", "100%", "150%", ".nan", "x%", "-1"])
def test_a_risk_without_meaning_is_refused(tmp_path: Path, value: str) -> None:
    """A risk is a share strictly between 0 and 1."""
    text = SOUND.replace("epsilon: 4", f"risk: {value}")
    with pytest.raises(UsageError, match=r"mine\.yaml: budget\.risk: "):
        profile.load(write(tmp_path, text))


def test_a_risk_may_be_written_in_percent(tmp_path: Path) -> None:
    """10% is 0.1."""
    recipe = profile.load(write(tmp_path, SOUND.replace("epsilon: 4", "risk: 10%")))
    params = recipe.budget.params
    assert isinstance(params, uniform.Params)
    assert params.risk == pytest.approx(0.1, rel=1e-15)
    assert params.epsilon is None
    params = recipe.with_epsilon(3.0).budget.params
    assert isinstance(params, uniform.Params)
    assert params.epsilon == 3.0


@pytest.mark.parametrize(
    "given", ["{name: uniform}", "{name: uniform, epsilon: 1, risk: 5%}"]
)
def test_epsilon_and_risk_exclude_each_other(tmp_path: Path, given: str) -> None:
    """A uniform budget has one of the two."""
    text = SOUND.replace("{name: uniform, epsilon: 4}", given)
    with pytest.raises(UsageError, match="give one of epsilon, risk and attacker_risk"):
        profile.load(write(tmp_path, text))


def test_a_missing_file_and_an_unknown_name_are_named(tmp_path: Path) -> None:
    """A near name is suggested; a path is repeated with the reason."""
    with pytest.raises(UsageError, match="did you mean 'balanced'"):
        profile.load("balancd")
    with pytest.raises(UsageError, match="No such file"):
        profile.load(str(tmp_path / "none.yaml"))
    (tmp_path / "latin.yml").write_bytes(b"name: caf\xe9")
    with pytest.raises(UsageError, match="not UTF-8 text"):
        profile.load(str(tmp_path / "latin.yml"))


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        (
            {"mechanism": {"c": 3.0}},
            {"name": "rank", "weights": "fitted", "k": 20, "c": 3.0},
        ),
        (
            {"mechanism": {"name": "rank", "c": 3.0}},
            {"name": "rank", "k": 20, "c": 3.0},
        ),
        ({"mechanism": {"name": "tem"}}, {"name": "tem", "gamma": None, "beta": 0.001}),
        ({"mechanism": "santext"}, {"name": "santext"}),
        ({}, {"name": "rank", "k": 20, "c": None}),
    ],
)
def test_overrides_are_laid_over_key_by_key(
    tmp_path: Path, over: dict[str, Any], expected: dict[str, Any]
) -> None:
    """Same component: other keys stay; another component: it starts from defaults."""
    mechanism = profile.load(write(tmp_path, SOUND), over).settings()["mechanism"]
    assert isinstance(mechanism, dict)
    assert mechanism == {**mechanism, **expected}


def test_overrides_reach_parts_that_the_file_leaves_out(tmp_path: Path) -> None:
    """Tokens can be set where the file has none; a part can be removed."""
    recipe = profile.load(write(tmp_path, SOUND), {"tokens": {"number": "mask"}})
    assert recipe.tokens == Policy(number="mask")
    path = write(tmp_path, SOUND.replace("rank, k: 20", "laplace") + "mapping: nearest")
    recipe = profile.load(path, {"mechanism": {"name": "rank"}, "mapping": None})
    assert recipe.mapping is None


def test_a_setting_of_a_part_keeps_the_part_of_the_profile(tmp_path: Path) -> None:
    """Another mechanism begins with the nearest word again, and writes its draws."""
    two = "mechanism: laplace\nmapping: {name: two-nearest, t: 0.3}\n"
    path = write(tmp_path, two + "budget: {name: uniform, epsilon: 4}\n")
    over = make_overrides({"mapping": {"device": "meta"}})
    mapping = profile.load(path, over).mapping
    assert mapping is not None
    assert (mapping.name, mapping.params) == (
        "two-nearest",
        two_nearest.Params(0.3, device="meta"),
    )
    over = make_overrides({"mapping": {"device": "meta"}}, mechanism="gaussian")
    mapping = profile.load(path, over).mapping
    assert mapping is not None
    assert mapping.name == "nearest"
    over = make_overrides({"decoder": {"candidates": 8}})
    assert profile.load("balanced", over).decoder.name == "ngram"


def test_settings_are_refused_in_plain_words(tmp_path: Path) -> None:
    """Without types of Python, and not as if the file were wrong."""
    over = {"mechanism": {"k": 0}}
    with pytest.raises(UsageError) as caught:
        profile.load(write(tmp_path, SOUND), over)
    message = "mine, changed: mechanism.k: give a whole number of at least 1"
    assert str(caught.value) == message


def test_overrides_of_a_broken_part_are_no_crash(tmp_path: Path) -> None:
    """A part that is no part is refused, also when it is overridden."""
    for broken in ("[1]", "3", "true"):
        path = write(tmp_path, SOUND.replace("{name: rank, k: 20}", broken))
        with pytest.raises(UsageError):
            profile.load(path, {"mechanism": {"k": 3}})


def changed(base: Profile) -> list[Profile]:
    """Return profiles that differ from base in one setting each."""
    policies: dict[str, Any] = {
        "unknown": "mask",
        "number": "digits",
        "stop_word": "keep",
        "punctuation": "drop",
        "case": "lower",
    }
    variants = [
        dataclasses.replace(
            base, tokens=dataclasses.replace(base.tokens, **{key: value})
        )
        for key, value in policies.items()
    ]
    variants.append(parsed(mechanism={"name": "rank", "k": 95}))
    variants.append(parsed(mechanism={"name": "rank", "c": 10.5}))
    variants.append(parsed(mechanism={"name": "rank", "weights": "staircase"}))
    variants.append(parsed(mechanism="santext"))
    variants.append(parsed(mechanism="laplace"))
    variants.append(parsed(mechanism="laplace", mapping="two-nearest"))
    variants.append(
        parsed(mechanism="laplace", mapping={"name": "two-nearest", "t": 0.4})
    )
    variants.append(parsed(space="unit"))
    variants.append(parsed(budget={"name": "uniform", "epsilon": 4.000001}))
    variants.append(parsed(budget={"name": "per-text", "epsilon": 4}))
    return variants


def test_the_digest_names_every_setting_and_no_words_about_them() -> None:
    """Any setting changes the digest; name, about and source do not."""
    base = parsed()
    digests = [base.digest(), *(other.digest() for other in changed(base))]
    assert len(set(digests)) == len(digests)
    same = parsed(name="other", about="words", source="somewhere")
    assert same.digest() == base.digest()


def test_numbers_that_are_equal_have_equal_digests(tmp_path: Path) -> None:
    """4 and 4.0 are one epsilon."""
    one = profile.load(write(tmp_path, SOUND))
    other = profile.load(write(tmp_path, SOUND.replace("epsilon: 4", "epsilon: 4.0")))
    assert one.digest() == other.digest()
    assert one.digest() == one.with_epsilon(4).digest()


@pytest.mark.parametrize("number", ["1e-3", "1.0e-3", "0.001", ".1E-2", "+1e-03"])
def test_numbers_with_an_exponent(tmp_path: Path, number: str) -> None:
    """1e-3 is a number, in a file and in a setting of the command line."""
    recipe = profile.load(write(tmp_path, SOUND.replace("k: 20", f"c: {number}")))
    assert recipe.mechanism.params.c == 0.001  # type: ignore[attr-defined]
    assert settings.read_value(number) == 0.001


@pytest.mark.parametrize("text", ["2001-99-99", "[", "1e", "e5", "a: b: c", "[" * 3000])
def test_what_is_no_yaml_is_text(text: str) -> None:
    """A value that cannot be read otherwise is taken unchanged."""
    assert settings.read_value(text) == text


@pytest.mark.parametrize(
    ("over", "name"),
    [
        ({}, "balanced"),
        ({"budget": {"name": "uniform", "epsilon": None, "risk": 0.2}}, "balanced"),
        (
            {
                "mechanism": {"name": "laplace"},
                "mapping": None,
                "budget": {"name": "uniform", "epsilon": 4.0, "risk": None},
            },
            "balanced with mechanism=laplace, epsilon=4",
        ),
        (
            {"lexicon": "folder/glove.txt", "budget": {"risk": 0.1}},
            "balanced with lexicon=glove.txt, risk=10%",
        ),
        ({"tokens": {"number": "mask"}}, "balanced with tokens.number=mask"),
        (
            {
                "mechanism": {"k": 8},
                "strategy": "record",
                "tokens": {"number": "mask", "unknown": "mask", "stop_word": "keep"},
            },
            "custom, from balanced",
        ),
    ],
)
def test_a_changed_profile_says_what_was_changed(
    over: dict[str, Any], name: str
) -> None:
    """Only an unchanged profile bears the plain name."""
    assert profile.load("balanced", over).name == name


def test_a_file_does_not_take_the_name_of_another_profile(tmp_path: Path) -> None:
    """A changed copy of a profile that ships is not that profile."""
    copy = (profile.folder() / "balanced.yaml").read_text()
    assert profile.load(write(tmp_path, copy)).name == "balanced"
    other = copy.replace("risk: 20%", "risk: 35%")
    assert profile.load(write(tmp_path, other)).name == "custom, from balanced"
    assert profile.load(write(tmp_path, SOUND)).name == "mine"
