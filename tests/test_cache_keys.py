"""The key of an entry covers all that decides it: another ingredient, another entry.

Each computation that is kept runs once with its usual ingredients and then, in the same
folder, with one of them changed. The result must be that of an empty folder, and the
entries of the first run must be unchanged: an entry that is shared is either taken for
the other one or written over.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dptext
from dptext import geometry, pipeline, profile, registry, spaces
from dptext.attackers import ngrams
from dptext.attackers.channel import Channel, Observation
from dptext.attackers.context_writer import ContextWriter
from dptext.attackers.ngrams import Ngrams
from dptext.budgets import uniform
from dptext.exponential import losses
from dptext.lexicons import importing
from dptext.measures import bayes_risk, calibrate, context_risk, sampled_risk
from dptext.mechanisms import Aim, custext, diffractor, rank
from dptext.settings import convert
from dptext.spaces import Space
from dptext.tokens.policy import Policy
from dptext.types import PARTS, BudgetDescription, BudgetKind, Inputs, Lexicon
from dptext.writing import agreement
from tests import small
from tests.attackers import models

SIZE = 70
LEXICON, OTHER = (small.cloud(SIZE, 3, listed=9, seed=seed) for seed in (7, 8))
LONGER = small.cloud(SIZE, 3, listed=12)
PRIOR = (small.zipf(SIZE) + 0.05) / (small.zipf(SIZE) + 0.05).sum()


def space(lexicon: Lexicon, of: str, **params: Any) -> Space:
    """Put a lexicon into a space."""
    module: Any = registry.find("spaces", of)
    # Of another object nothing is known in this process.
    return spaces.prepare(dataclasses.replace(lexicon), of, module.Params(**params))


def plain(value: Any) -> Any:
    """Return data that can be compared."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(list(dataclasses.asdict(value).values()))
    return value


def in_space(
    measure: Callable[[Space], Any],
) -> Callable[[Lexicon, tuple[str, dict[str, Any]]], Any]:
    """Return a function that measures a space of a lexicon."""
    return lambda lexicon, of: plain(measure(space(lexicon, of[0], **of[1])))


CLIPPED, NARROWER = ("clip", {"low": -1.0, "high": 1.0}), ("clip", {"low": -0.5})
IN_SPACE = {
    "lexicon": (LEXICON, OTHER),
    "of": (CLIPPED, NARROWER, ("ball", {})),
}


def mechanism(
    name: str, lexicon: Lexicon = LEXICON, of: Any = CLIPPED, **params: Any
) -> Any:
    """Make a mechanism ready."""
    module: Any = registry.find("mechanisms", name)
    settings = convert(params, module.Params, "test")
    return settings.prepare(space(lexicon, of[0], **of[1]), Aim())


def risk(
    name: str, epsilon: float, prior: Any, drawn: bool = False, **keys: Any
) -> Any:
    """Measure a risk."""
    ready = mechanism(name, **keys)

    def draw(ids: Any, eps: Any, bits: Any) -> Any:
        return (bits.integers(0)[:, 0] % np.uint64(SIZE)).astype(np.int32)

    return plain(bayes_risk.measure(ready, epsilon, prior, draw if drawn else None))


def candidates(
    count: int, prior: Any, eps: Any, name: str = "rank", **keys: Any
) -> Any:
    """Look up the likeliest inputs of each output."""
    ready = mechanism(name, **keys)
    said = BudgetDescription(BudgetKind.WORD, 2.0, 2.0)
    channel = Channel(
        ready.space.lexicon, Policy(), ready, budget=said, prior=PRIOR, row_eps=eps
    )
    return plain(tuple(channel.candidates(2.0, count, prior))[:2])


MODEL = models.model(LEXICON)


def other_pairs() -> Ngrams:
    """Return a model of as many pairs after each context, one of which is another."""
    likely = np.argsort(-MODEL.alone[:SIZE], kind="stable")[:30]
    context = int(likely[0])
    begin, end = int(MODEL.ends[context - 1]), int(MODEL.ends[context])
    seen = MODEL.following[begin:end].tolist()
    gone = next(row for row in likely.tolist() if row in seen)
    new = next(row for row in likely.tolist() if row not in seen)
    following = np.array(MODEL.following)
    following[begin:end] = sorted({*seen, new} - {gone})
    return dataclasses.replace(MODEL, following=following)


def other_words() -> Ngrams:
    """Return a model of the same pairs with other likeliest words."""
    return dataclasses.replace(MODEL, alone=MODEL.alone[::-1].copy())


def gains(model: Ngrams, power: float) -> Any:
    """Return the table of gains of the likeliest words."""
    kept = ngrams.Gains(model, power)
    return plain([kept.slot_of, np.asarray(kept.table)])


def beside(model: Ngrams, prior: Any, epsilon: float) -> Any:
    """List the words beside each context, and those that each word is drawn for."""
    said = BudgetDescription(BudgetKind.WORD, 2.0, 2.0)
    # Words of letters alone, which may be written.
    words = [f"zq{chr(97 + row // 26)}{chr(97 + row % 26)}" for row in range(SIZE)]
    lexicon = dataclasses.replace(LEXICON, words=(*words,))
    ready = mechanism("rank", lexicon)
    channel = Channel(lexicon, Policy(), ready, budget=said, prior=prior)
    writer = ContextWriter(channel, model, topic=0.0, variety=1.0)
    drawn = writer._drawn(Observation(epsilon))
    return plain([*writer._next, *writer._last, *drawn])


def inflected(words: tuple[str, ...], part: str, outputs: int) -> Any:
    """Find the forms of words of one part of speech."""
    lexicon = small.english(*words)
    parts = np.full(len(lexicon.words), PARTS.index(part), np.uint8)
    meta = {**lexicon.meta, "language": "en", "outputs": outputs}
    return agreement.find_inflections(
        dataclasses.replace(lexicon, parts=parts, meta=meta)
    )


def fitted(lexicon: Lexicon, of: Any, prior: Any, steps: Any, epsilon: float) -> float:
    """Return the success of a guess by which a table of rank is chosen."""
    cut = rank.Params(weights="steps", steps=steps)
    row = rank.FittedTable(0.2, epsilon, 0.5, steps)
    return rank._success(cut, space(lexicon, of[0], **of[1]), row, prior)


def imported(folder: Path, text: str, **settings: Any) -> Any:
    """Import a file of vectors."""
    path = folder / "vectors.txt"
    path.write_text(text)
    lexicon = importing.open_source(path, importing.Settings(**settings), print)
    return plain([lexicon.words, lexicon.vectors, lexicon.orders, lexicon.language])


VECTORS = "".join(f"{w} {n} {n % 3}\n" for n, w in enumerate(LEXICON.words[:-1]))

#: compute, and for each ingredient its usual value and others.
CASES: Mapping[str, tuple[Callable[..., Any], Mapping[str, tuple[Any, ...]]]] = {
    "neighbours": (
        in_space(lambda moved: moved.neighbours),
        {**IN_SPACE, "lexicon": (LEXICON, OTHER, LONGER)},
    ),
    "wide": (in_space(lambda moved: moved.wide_neighbours), IN_SPACE),
    "lipschitz": (
        in_space(lambda moved: moved.lipschitz.over(Inputs.WORDS)),
        {"lexicon": (LEXICON, OTHER), "of": (("unit", {}), ("jl", {}))},
    ),
    "geometry": (in_space(lambda moved: moved.geometry), IN_SPACE),
    "nearest words": (
        lambda lexicon, of, listed: plain(
            geometry.nearest_words(space(lexicon, of[0], **of[1]), listed)
        ),
        {**IN_SPACE, "listed": (66, 68)},
    ),
    "farthest word": (in_space(geometry.farthest_distances), IN_SPACE),
    "euclidean": (
        lambda lexicon, of, lam: plain(
            mechanism("mahalanobis", lexicon, of, lam=lam).euclidean_factor(
                Inputs.WORDS
            )
        ),
        {**IN_SPACE, "lam": (0.5, 0.7)},
    ),
    "geometry of mahalanobis": (
        lambda lexicon, of, lam: plain(
            mechanism("mahalanobis", lexicon, of, lam=lam).geometry
        ),
        {**IN_SPACE, "lam": (0.5, 0.7)},
    ),
    "privemb": (
        lambda lexicon, of, **params: plain(
            mechanism("privemb", lexicon, of, **params).constant(Inputs.WORDS)
        ),
        {**IN_SPACE, "dimensions": (2, 1), "seed": (0, 1)},
    ),
    "sets": (
        lambda lexicon, of, mapping, k: plain(
            custext.build(space(lexicon, of[0], **of[1]), mapping, k)
        ),
        {**IN_SPACE, "mapping": ("aggressive", "balanced"), "k": (5, 7)},
    ),
    "chain": (
        lambda lexicon, of, seed, number: plain(
            diffractor._chain(space(lexicon, of[0], **of[1]), seed, number)
        ),
        {**IN_SPACE, "seed": (0, 1), "number": (0, 1)},
    ),
    "recalibration": (
        lambda lexicon, of, epsilon, truncation: losses.recalibrated_scale(
            space(lexicon, of[0], **of[1]), epsilon, truncation
        ),
        {**IN_SPACE, "epsilon": (3.0, 3.5), "truncation": (np.inf, 0.8)},
    ),
    "fitted": (
        fitted,
        {
            "lexicon": (LEXICON, OTHER),
            "of": (("identity", {}),),
            "prior": (PRIOR, np.roll(PRIOR, 35)),
            "steps": (((3, 1.0), (6, 0.5)), ((3, 1.0), (7, 0.5))),
            "epsilon": (3.0, 3.5),
        },
    ),
    "gains": (
        gains,
        {
            "model": (
                dataclasses.replace(MODEL, digest="one"),
                dataclasses.replace(
                    MODEL, gains=np.asarray(MODEL.gains)[::-1].copy(), digest="two"
                ),
                dataclasses.replace(other_pairs(), digest="one"),
                dataclasses.replace(other_words(), digest="one"),
            ),
            "power": (0.8, 1.0),
        },
    ),
    "words beside contexts": (
        beside,
        {
            "model": (
                MODEL,
                dataclasses.replace(MODEL, gains=np.asarray(MODEL.gains)[::-1].copy()),
                other_words(),
            ),
            "prior": (PRIOR, np.where(np.arange(len(PRIOR)) < 9, 0.0, PRIOR)),
            "epsilon": (2.0, 2.5),
        },
    ),
    "forms of words": (
        lambda words, part, outputs: plain(inflected(words, part, outputs)),
        {
            "words": (("dog", "dogs"), ("cat", "dog", "cats")),
            "part": ("noun", "verb"),
            "outputs": (4, 1),
        },
    ),
    "candidates": (
        candidates,
        {
            "name": ("rank",),
            "lexicon": (LEXICON, OTHER),
            "count": (4, 6),
            "prior": (np.append(PRIOR, 0.0), np.append(np.roll(PRIOR, 9), 0.0)),
            "eps": (None, np.linspace(1.0, 3.0, SIZE + 1)),
            "weights": ("staircase", "arch"),
            "k": (5, 7),
        },
    ),
    "candidates by rows": (
        candidates,
        {
            "name": ("santext", "diffractor"),
            "lexicon": (LEXICON, OTHER),
            "of": (CLIPPED, NARROWER),
            "count": (4,),
            "prior": (np.append(PRIOR, 0.0),),
            "eps": (None,),
        },
    ),
    "exact risk": (
        risk,
        {
            "name": ("santext", "diffractor"),
            "lexicon": (LEXICON, OTHER),
            "of": (CLIPPED, NARROWER),
            "epsilon": (4.0, 4.5),
            "prior": (PRIOR, np.roll(PRIOR, 9)),
        },
    ),
    "sampled risk": (
        risk,
        {
            "name": ("laplace", "mahalanobis"),
            "lexicon": (LEXICON, OTHER),
            "of": (CLIPPED, NARROWER),
            "epsilon": (4.0, 4.5),
            "prior": (PRIOR, np.roll(PRIOR, 9)),
            "drawn": (False, True),
        },
    ),
    "calibration": (
        lambda name, target, prior, **keys: calibrate.epsilon_for(
            mechanism(name, **keys), target, prior
        ),
        {
            "name": ("santext", "diffractor"),
            "lexicon": (LEXICON, OTHER),
            "of": (CLIPPED, NARROWER),
            "target": (0.5, 0.6),
            "prior": (PRIOR, np.roll(PRIOR, 9)),
        },
    ),
    "wins": (
        lambda name, epsilon, prior, draws, **keys: plain(
            sampled_risk.measured_wins(mechanism(name, **keys), epsilon, prior, draws)
        ),
        {
            "name": ("laplace", "mahalanobis"),
            "lexicon": (LEXICON, OTHER),
            "of": (CLIPPED, NARROWER),
            "epsilon": (4.0, 4.5),
            "prior": (PRIOR, np.roll(PRIOR, 9)),
            "draws": (2000, 2500),
        },
    ),
}
COMBINATIONS = [
    (name, ingredient, number)
    for name, (_, ingredients) in CASES.items()
    for ingredient, values in ingredients.items()
    for number in range(1, len(values))
]


def entries(folder: Path) -> dict[str, bytes]:
    """Return the entries of a folder: names and bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches take fewer draws, and small models have a table that is kept."""
    monkeypatch.setattr(sampled_risk, "_TRAINED", 500)
    monkeypatch.setattr(sampled_risk, "_VALIDATED", 200)
    monkeypatch.setattr(sampled_risk, "DRAWS", 2000)
    monkeypatch.setattr(calibrate, "_SEARCH_DRAWS", 1000)
    monkeypatch.setattr(ngrams, "SLOTS", 40)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("name", "ingredient", "number"), COMBINATIONS)
def test_another_ingredient_is_another_entry(
    name: str,
    ingredient: str,
    number: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing that was kept for one computation is taken for another."""
    compute, ingredients = CASES[name]
    usual = {key: values[0] for key, values in ingredients.items()}
    changed = {**usual, ingredient: ingredients[ingredient][number]}

    def run(folder: str, given: Mapping[str, Any]) -> Any:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / folder))
        return compute(**given)

    sampled_risk._tested.clear()
    first = run("shared", usual)
    kept = entries(tmp_path)
    shared = run("shared", changed)
    after = entries(tmp_path)
    sampled_risk._tested.clear()
    fresh = run("empty", changed)
    assert fresh != first, "the ingredient changes nothing: choose another value"
    assert shared == fresh
    assert {path: after[path] for path in kept} == kept
    if name != "wins":
        assert len(after) > len(kept)


def test_an_imported_lexicon_is_kept_by_its_source_and_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another content of the same name, or another setting, is imported anew."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    seen = [imported(tmp_path, VECTORS, listed=5, outputs=20)]
    for text, settings in (
        (VECTORS.replace(" 3 0\n", " 3 1\n"), {"listed": 5, "outputs": 20}),
        (VECTORS, {"listed": 6, "outputs": 20}),
        (VECTORS, {"listed": 5, "outputs": 21}),
        (VECTORS, {"listed": 5, "outputs": 20, "language": "de"}),
    ):
        result = imported(tmp_path, text, **settings)
        assert result not in seen
        seen.append(result)


@pytest.mark.parametrize(
    "over",
    [
        {"mechanism": {"name": "rank", "weights": "arch", "k": 4}},
        {"mechanism": {"name": "rank", "weights": "staircase", "k": 5}},
        {"budget": {"name": "uniform", "epsilon": 3.5}},
        {"budget": {"name": "per-text", "epsilon": 3.0}},
        {"tokens": {"stop_word": "keep"}},
        {"tokens": {"number": "mask"}},
        {"tokens": {"keep": {"patterns": ["cat"]}}},
        {"strategy": "record"},
        {"space": {"name": "unit"}},
        {"lexicon": OTHER},
    ],
)
def test_figures_of_attackers_are_looked_up_by_all_that_decides_them(over: Any) -> None:
    """Mechanism, lexicon, epsilon and replaced tokens; a ladder by all but budgets.

    Not by the words of a keep list: figures are of public texts without them.
    """
    recipe = {
        "mechanism": {"name": "rank", "weights": "staircase", "k": 4},
        "budget": {"name": "uniform", "epsilon": 3.0},
    }
    lexicon = over.get("lexicon", LEXICON)
    settings = {key: value for key, value in over.items() if key != "lexicon"}
    usual = pipeline.build(profile.parse(recipe, "test"), LEXICON)
    other = pipeline.build(profile.parse({**recipe, **settings}, "test"), lexicon)
    assert context_risk.key_of(usual) != context_risk.key_of(other)
    keys = [
        calibrate.ladder_key(each.profile.settings(), each.lexicon)
        for each in (usual, other)
    ]
    assert (keys[0] == keys[1]) == ("budget" in over)
    words = {**recipe, "tokens": {"keep": {"words": ["cat"]}}}
    listed = pipeline.build(profile.parse(words, "test"), LEXICON)
    assert context_risk.key_of(listed) == context_risk.key_of(usual)
    assert isinstance(usual.profile.budget.params, uniform.Params)


# Where each key is made, and the cases that test it.
MADE_IN = {
    "spaces/__init__.py": ("neighbours", "wide", "lipschitz", "geometry"),
    "geometry.py": ("nearest words", "farthest word"),
    "mechanisms/mahalanobis.py": ("euclidean",),
    "mechanisms/privemb.py": ("privemb",),
    "mechanisms/custext.py": ("sets",),
    "mechanisms/diffractor.py": ("chain",),
    "mechanisms/rank.py": ("fitted",),
    "exponential/losses.py": ("recalibration",),
    "attackers/ngrams.py": ("gains",),
    "attackers/context_writer.py": ("words beside contexts", "words beside contexts"),
    "attackers/channel.py": ("candidates",),
    "writing/agreement.py": ("forms of words",),
    "measures/bayes_risk.py": ("exact risk",),
    "measures/calibrate.py": ("calibration", "figures of attackers"),
    "measures/sampled_risk.py": ("wins",),
    # That of written words adds the decoder: tests/measures/test_in_context.py.
    "measures/context_risk.py": ("figures of attackers", "written words"),
    # tests/measures/test_text_vectors.py: settings that no benchmark measured have
    # no figures.
    "measures/vector_figures.py": ("text vectors",),
    "lexicons/importing.py": ("imported lexicon",),
    # tests/vectors: the digest of the model, and that of the texts.
    "vectors/release.py": ("sentences",),
}


def test_every_key_has_a_case() -> None:
    """A computation that is kept and has no case here is an oversight."""
    root = Path(dptext.__file__).parent
    made: dict[str, int] = {}
    for path in root.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "key_of" not in text:
            continue
        calls = [
            node
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "key_of"
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "cache"
        ]
        if calls:
            made[path.relative_to(root).as_posix()] = len(calls)
    assert made == {path: len(cases) for path, cases in MADE_IN.items()}
