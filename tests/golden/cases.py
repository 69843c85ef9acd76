"""The cases of the golden net, by name: each runs in an empty folder beside inputs/."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from tests.golden.commands import (
    BALANCED,
    GOLD,
    IN,
    KEY,
    LEXICON,
    SEED,
    TEXT,
    VECTORS,
    drawn,
    ended,
    reported,
    settings,
    vectors,
    words,
)
from tests.golden.refusals import edited, refused
from tests.golden.running import Entry, checked, digest, figures, run

CLIPPED = "{{name: clip, low: {}, high: {}}}"

Case = Callable[[], Entry]


def _formats() -> Iterator[tuple[str, Case]]:
    for name in (
        "in.jsonl",
        "crlf.jsonl",
        "cut.jsonl",
        "spelled.jsonl",
        "in.jsonl.gz",
        "in.csv",
        "crlf.csv",
        "in.tsv",
        "in.csv.zst",
        "in.json",
    ):
        yield f"format {name}", partial(words, name, *TEXT, *GOLD, *KEY)
    for name in ("in.jsonl", "in.csv", "text.txt"):
        field = () if name == "text.txt" else TEXT
        yield f"format {name} seed", partial(words, name, *field, *GOLD, *SEED)
    plain: dict[str, tuple[str, ...]] = {
        "text.txt": (),
        "bom.txt": (),
        "empty.txt": (),
        "nested.jsonl": ("--field", "a.b", "--field", "a.c"),
        "absent.jsonl": (*TEXT, "--missing", "pass"),
        "one.json": ("--field", "rows.text"),
        "semi.csv": (*TEXT, "--delimiter", ";"),
        "latin.csv": (*TEXT, "--encoding", "cp1252"),
        "bare.tsv": ("--field", "y", "--no-quoting"),
        "nohead.csv": ("--field", "2", "--no-header"),
        "ragged.csv": (*TEXT, "--on-error", "skip"),
        "broken.jsonl": (*TEXT, "--on-error", "skip"),
        "noutf.jsonl": (*TEXT, "--on-error", "skip"),
        "two.jsonl": (*TEXT, "--id", "id"),
    }
    for name, options in plain.items():
        yield f"format {name}", partial(words, name, *options, *GOLD, *KEY)
    nulls = ("in.parquet", "--missing", "pass", *GOLD)
    for how, secret in (("key", KEY), ("seed", SEED)):
        yield f"format in.parquet {how}", partial(words, *nulls, *TEXT, *secret)
    several = ("--field", "text", "--field", "many")
    yield "format lists in.parquet", partial(words, *nulls, *several, *KEY)
    batched = ("--batch-size", "3", "--jobs", "2")
    yield "run batches", partial(words, "in.jsonl", *TEXT, *GOLD, *KEY, *batched)
    signed = ("--sign-key", f"{IN}sign.pem")
    yield "run signed", partial(words, "in.jsonl", *TEXT, *GOLD, *KEY, *signed)
    yield (
        "run one batch unmeasured",
        partial(words, "in.jsonl", *TEXT, *GOLD, *KEY, "--no-bayes-risk"),
    )
    yield "run several", several_files
    yield "run pipe", pipe
    yield "run in place", in_place
    yield "run quarantine", quarantine


def several_files() -> Entry:
    """Sanitize two files into a folder."""
    sources = (f"{IN}in.jsonl", f"{IN}two.jsonl")
    ran = run("sanitize", *sources, *TEXT, *GOLD, *KEY, "--out-dir", "o", "-q")
    files = sorted(path for path in Path("o").iterdir() if path.suffix == ".jsonl")
    entry: Entry = {path.name: digest(path.read_bytes()) for path in files}
    return {"exit": ran.code, **entry, "check": checked("o/two.jsonl")}


def pipe() -> Entry:
    """Sanitize standard input to standard output."""
    given = Path(f"{IN}in.jsonl").read_bytes()
    ran = run("sanitize", "--format", "jsonl", *TEXT, *GOLD, *KEY, "-q", given=given)
    return {"exit": ran.code, "output": digest(ran.out)}


def in_place() -> Entry:
    """Sanitize a file in its place, twice: the second run leaves it."""
    Path("a.jsonl").write_bytes(Path(f"{IN}in.jsonl").read_bytes())
    command = ("sanitize", "a.jsonl", *TEXT, *GOLD, *KEY, "--in-place", "-q")
    codes = [run(*command).code for _ in range(2)]
    return {"exits": codes, "output": digest(Path("a.jsonl").read_bytes())}


def quarantine() -> Entry:
    """Set unreadable records aside."""
    aside = ("--on-error", "quarantine", "--quarantine", "aside", "-q")
    out = ("-o", "o.jsonl", *aside)
    ran = run("sanitize", f"{IN}broken.jsonl", *TEXT, *GOLD, *KEY, *out)
    names = ("o.jsonl", "aside")
    return {"exit": ran.code} | {n: digest(Path(n).read_bytes()) for n in names}


PROFILES = (
    "balanced",
    "cmp",
    "comparative-cmp",
    "comparative-gumbel",
    "comparative-mahalanobis",
    "comparative-santext",
    "comparative-tem",
    "comparative-vickrey",
    "custext",
    "diffractor",
    "gaussian",
    "mahalanobis",
    "readable",
    "santext",
    "strict",
    "tem",
    "thesis-ball-laplace",
    "thesis-clip-laplace",
    "thesis-gumbel",
    "thesis-interval-laplace",
    "thesis-jl-laplace",
    "thesis-laplace",
    "thesis-observed-range-laplace",
    "thesis-unit-laplace",
)
# Those with exact output distributions: they are quick with the lexicon that ships.
EXACT = (
    "balanced",
    "comparative-gumbel",
    "comparative-santext",
    "comparative-syntf",
    "comparative-tem",
    "custext",
    "readable",
    "santext",
    "strict",
    "tem",
    "thesis-gumbel",
)


def _profiles() -> Iterator[tuple[str, Case]]:
    gold = ("--lexicon", "gold")
    for name in PROFILES:
        given: tuple[str, ...] = ("two.jsonl", *TEXT, "-p", name, *gold)
        # Figures of noise are sampled, which is slow: the cases of mechanisms do.
        risk = () if name in EXACT else ("--no-bayes-risk",)
        yield f"profile {name} key", partial(words, *given, *risk, *KEY)
        yield f"profile {name} seed", partial(words, *given, *risk, *SEED)
    for name in EXACT:
        given = ("in.jsonl", *TEXT, "-p", name)
        yield f"shipped {name} key", partial(words, *given, *KEY)
    for name in ("balanced", "strict"):
        given = ("in.jsonl", *TEXT, "-p", name)
        yield f"shipped {name} seed", partial(words, *given, *SEED)
    mine = ("-p", f"{IN}mine.yaml")
    yield "profile file", partial(words, "in.jsonl", *TEXT, *mine, *KEY)
    chosen = ("--risk", "20%", "--lexicon", "gold", "--decode", "none")
    yield "profile risk", partial(words, "in.jsonl", *TEXT, *chosen, *KEY)
    total = (*settings("budget={name: per-text, epsilon: 40}"), *LEXICON)
    yield "profile total", partial(words, "in.jsonl", *TEXT, *total, *KEY)


NOISES = ("laplace", "mahalanobis", "gaussian", "vickrey")
POWER = "mechanism={name: rank, weights: power, k: 12, p: 1.5}"
MECHANISMS: dict[str, tuple[str, ...]] = {
    "rank steps": (
        "mechanism={name: rank, steps: [[2, 1], [8, 0.5]], weights: steps}",
    ),
    "rank power": (POWER,),
    "rank staircase": ("mechanism={name: rank, weights: staircase, k: 12, c: 0.3}",),
    "rank arch": ("mechanism={name: rank, weights: arch, k: 12}",),
    "rank outputs": ("mechanism={name: rank, outputs: 100}",),
    "santext": ("mechanism=santext",),
    "santext recalibrated": ("mechanism={name: santext, recalibrate: true}",),
    "tem": ("mechanism=tem",),
    "tem gamma": ("mechanism={name: tem, gamma: 3.0}",),
    "custext": ("mechanism=custext",),
    "custext aggressive": ("mechanism={name: custext, mapping: aggressive, k: 16}",),
    "custext balanced": ("mechanism={name: custext, mapping: balanced, k: 16}",),
    "custext cosine": ("mechanism={name: custext, distance: cosine, k: 16}",),
    "diffractor": ("mechanism={name: diffractor, chains: 2}",),
    "diffractor tem": ("mechanism={name: diffractor, noise: tem, chains: 2}",),
    "gumbel": ("mechanism=gumbel",),
    "gumbel low": ("mechanism={name: gumbel, low_epsilon: true}",),
    "vickrey": ("mechanism={name: vickrey, t: 0.5}",),
    "laplace": ("mechanism=laplace",),
    "laplace lexicon metric": (
        "mechanism={name: laplace, metric: lexicon}",
        f"space={CLIPPED.format(-1, 1)}",
    ),
    "mahalanobis": ("mechanism=mahalanobis",),
    "gaussian": ("mechanism={name: gaussian, delta: 0.0001}",),
    "discrete-gaussian": ("mechanism=discrete-gaussian",),
    "discrete-laplace": ("mechanism=discrete-laplace",),
    "privemb": ("mechanism={name: privemb, dimensions: 4}",),
}
MAPPED = ("laplace", "mahalanobis", "gaussian", "discrete", "privemb")
# Sampled risks are slow; those of others stand for these.
UNMEASURED = (
    "laplace lexicon metric",
    "privemb",
    "mahalanobis",
    "gaussian",
    "vickrey",
    "discrete-gaussian",
)
SPACES = {
    "ball": "ball",
    "clip": CLIPPED.format(-1, 1),
    "interval": "interval",
    "jl": "{name: jl, dimensions: 4}",
    "observed-range": "observed-range",
    "unit": "unit",
}


# Of mechanisms that take no 6.
EPSILONS = {"gumbel": "40", "gumbel low": "1"}


def _mechanisms() -> Iterator[tuple[str, Case]]:
    for name, given in MECHANISMS.items():
        mapped = ("mapping=nearest",) if name.startswith(MAPPED) else ()
        risk = ("--no-bayes-risk",) if name in UNMEASURED else ()
        gold = (*LEXICON, "--epsilon", EPSILONS.get(name, "6"))
        options = (*TEXT, *gold, *settings(*given, *mapped), *risk)
        for how, secret in (("key", KEY), ("seed", SEED)):
            yield (
                f"mechanism {name} {how}",
                partial(words, "in.jsonl", *options, *secret),
            )
    two = "mapping={name: two-nearest, t: 0.25}"
    for name in ("laplace", "gaussian"):
        given = settings(f"mechanism={name}", two)
        yield (
            f"mapping two-nearest {name}",
            partial(words, "in.jsonl", *TEXT, *GOLD, *given, "--no-bayes-risk", *KEY),
        )
    for name, space in SPACES.items():
        for other in ("mechanism=laplace", "mechanism=mahalanobis"):
            given = settings(f"space={space}", other, "mapping=nearest")
            yield (
                f"space {name} {other[10:]}",
                partial(
                    words, "two.jsonl", *TEXT, *GOLD, *given, "--no-bayes-risk", *KEY
                ),
            )
    yield (
        "mechanism syntf",
        partial(
            words,
            "two.jsonl",
            *TEXT,
            *settings("mechanism=syntf"),
            "--epsilon",
            "6",
            *KEY,
        ),
    )
    yield "no model", partial(words, "two.jsonl", *TEXT, "-p", "dp-mlm", *KEY)


BUDGETS = {
    "per-text": "{name: per-text, epsilon: 40}",
    "position": "{name: position, epsilons: [2, 4], rest: 6}",
    "declared": "{name: declared, epsilons: {top-100: 7, other: 4}}",
    "class-first": "{name: class-first, first: 0.5, epsilons: {top-100: 7, other: 4}}",
    "released-past": "{name: released-past, epsilon: 40, start: 4, "
    "epsilons: {top-100: 6, other: 3}}",
    "linguistic": "{name: linguistic, epsilon: 40, scores: {frequency: 1}}",
    "linguistic bounds": "{name: linguistic, epsilon: 40, min: 2, max: 8, "
    "scores: {frequency: 0.5}}",
    "linguistic rate": "{name: linguistic, epsilon_per_word: 4, "
    "scores: {frequency: 1}, form: proportional}",
    "linguistic published": "{name: linguistic, epsilon: 40, "
    "scores: {frequency: 1}, variant: published}",
}
DECODERS = {
    "mbr": "{name: ngram, model: pairs}",
    "viterbi": "{name: ngram, model: pairs, mode: viterbi}",
    "posterior": "{name: ngram, model: pairs, mode: posterior, topic: 0}",
    "candidates": "{name: ngram, model: pairs, candidates: 8, weight: 0.5}",
}
TOKENS = {
    "unknown": ("mask", "drop", "keep"),
    "number": ("digits", "mask", "keep"),
    "stop_word": ("keep", "drop"),
    "punctuation": ("drop",),
    "case": ("lower", "copy"),
    "agreement": ("articles", "none"),
}
LISTS: dict[str, tuple[str, ...]] = {
    "keep": settings(f"tokens.keep.files=[{IN}keep.txt]"),
    "mask": settings(f"tokens.mask.files=[{IN}mask.txt]"),
    "forms": settings("tokens.forms=[card, iban, email, date, phone]"),
}
LISTS["all"] = (*LISTS["keep"], *LISTS["mask"], *LISTS["forms"])


def _choices() -> Iterator[tuple[str, Case]]:
    gold = ("in.jsonl", *TEXT, *GOLD)
    lexicon = ("in.jsonl", *TEXT, *LEXICON)
    decoding = ("in.jsonl", *TEXT, *BALANCED, "--lexicon", "gold")
    for name, budget in BUDGETS.items():
        given = settings(f"budget={budget}")
        yield f"budget {name}", partial(words, *lexicon, *given, *KEY)
        decoded = settings("decoder={name: ngram, model: pairs}")
        yield (
            f"budget {name} decoded",
            partial(words, *decoding, *given, *decoded, *SEED),
        )
    for strategy in ("token", "record", "data-set"):
        given = settings(f"strategy={strategy}")
        yield f"strategy {strategy}", partial(words, *gold, *given, *KEY)
        yield (
            f"strategy {strategy} santext",
            partial(words, *gold, *given, *settings("mechanism=santext"), *SEED),
        )
    for name, decoder in DECODERS.items():
        given = ("--epsilon", "6", *settings(f"decoder={decoder}"))
        yield f"decoder {name}", partial(words, *decoding, *given, *KEY)
        yield (
            f"decoder {name} tem",
            partial(words, *decoding, *given, *settings("mechanism=tem"), *KEY),
        )
    yield (
        "decoder none",
        partial(words, "in.jsonl", *TEXT, "--decode", "none", "--risk", "20%", *KEY),
    )
    for name, values in TOKENS.items():
        for value in values:
            given = settings(f"tokens.{name}={value}")
            yield f"tokens {name} {value}", partial(words, *gold, *given, *KEY)
    for name, options in LISTS.items():
        yield f"lists {name}", partial(words, *gold, *options, *KEY)


EMBEDDED = ("gaussian", "laplace", "discrete-laplace", "mahalanobis", "privemb")


def _vectors() -> Iterator[tuple[str, Case]]:
    gold = VECTORS
    for pool in ("word", "mean", "sif"):
        given = (*TEXT, *gold, "--pool", pool)
        for suffix in ("npy", "parquet"):
            yield (
                f"embed {pool} {suffix} key",
                partial(vectors, "in.jsonl", suffix, *given, *KEY),
            )
        yield (
            f"embed {pool} npz seed",
            partial(vectors, "in.jsonl", "npz", *given, *SEED),
        )
        for name in EMBEDDED:
            size = settings("mechanism.dimensions=4") if name == "privemb" else ()
            yield (
                f"embed {pool} {name}",
                partial(
                    vectors, "in.jsonl", "npy", *given, *size, "--mechanism", name, *KEY
                ),
            )
    limited = ("--subject", "who", "--most", "4")
    yield (
        "embed subjects",
        partial(vectors, "in.csv", "parquet", *TEXT, *gold, *limited, *KEY),
    )
    plain = (*TEXT, "--lexicon", "gold")
    yield (
        "embed mu",
        partial(vectors, "in.csv", "npy", *plain, "--mu", "1", "--clip", "2", *KEY),
    )
    yield "embed shipped", partial(vectors, "two.jsonl", "npy", *TEXT, *SEED)


def imported(source: str, *options: str) -> Entry:
    """Import vectors, and use them by their name."""
    name = "taken-" + source.replace(".", "-")
    entry = reported(
        "lexicon",
        "import",
        IN + source,
        "--name",
        name,
        "--json",
        *options,
        clear=("words", "dimensions", "listed", "geometry.median"),
        # Packed files have other bytes with another version of the packer.
        named="" if source.endswith((".gz", ".npz")) else "digest",
    )
    own = ("--lexicon", name, "--epsilon", "6", "--decode", "none")
    use = words("two.jsonl", *TEXT, *BALANCED, *own, *KEY)
    return {"import": entry, "use": use}


def _lexicons() -> Iterator[tuple[str, Case]]:
    for name in ("gold.vec", "glove.txt", "glove.txt.gz", "word2vec.bin", "words.npz"):
        yield f"lexicon {name}", partial(imported, name)
    few = ("--max-words", "150", "--listed", "40", "--outputs", "90")
    yield "lexicon few", partial(imported, "glove.txt", *few)
    for name in ("gold", "builtin"):
        yield (
            f"lexicon info {name}",
            partial(reported, "lexicon", "info", name, "--json", named="digest"),
        )


PLANNED = ("epsilon", "guarantee.bound.worst_loss", "risk.success", "changed")
COMPARED = tuple(
    f"rows.{row}.{name}"
    for row in (0, 1)
    for name in ("epsilon", "risk", "worst_loss", "result.deniability.n_w")
)
SPREAD = ("The doctor said that 12 dogs run in Paris.",)
AUDITED = ("claims", "refuted", "worst", "ratio", "program.refuted")


def _figures() -> Iterator[tuple[str, Case]]:
    for name in ("balanced", "strict"):
        yield (
            f"plan shipped {name}",
            partial(
                reported,
                "sanitize",
                "--plan",
                "--json",
                "-p",
                name,
                clear=PLANNED,
            ),
        )
    for name in ("santext", "custext", "gaussian"):
        yield (
            f"plan {name}",
            partial(
                reported,
                "sanitize",
                "--plan",
                "--json",
                "-p",
                name,
                "--lexicon",
                "gold",
                clear=PLANNED,
            ),
        )
    for name in ("custext", "diffractor", "rank", "santext", "tem", "discrete-laplace"):
        yield (
            f"calibrate {name}",
            partial(calibrated, "balanced", "--risk", "20%", "--mechanism", name),
        )
    yield (
        "calibrate weights",
        partial(calibrated, "balanced", "--risk", "20%", *settings(POWER)),
    )
    quick = ("--draws", "2000", "--inputs", "6", "--runs", "200", "--json", "-q")
    for name in ("rank", "santext", "tem", "custext", "vickrey", "laplace"):
        yield (
            f"audit {name}",
            partial(reported, "audit", name, *VECTORS, *quick, clear=AUDITED),
        )
    for name, budget in BUDGETS.items():
        given = settings(f"budget={budget}")
        yield (
            f"explain {name}",
            _explained(name, *BALANCED, "--lexicon", "gold", *given),
        )
    files = (f"{IN}in.jsonl", f"{IN}private.jsonl")
    common = ("evaluate", *files, *TEXT, *GOLD, "-p", "balanced", "--json")
    yield "evaluate", partial(reported, *common, "--no-attackers", "--id", "id")
    decoded = settings("decoder={name: ngram, model: pairs}")
    clear = ("deniability.n_w", "word_attacks.0.words", "settings.decoder.topic")
    read = tuple(each for each in common if each not in ("--decode", "none"))
    yield "evaluate attackers", partial(drawn, *read, *decoded, clear=clear)
    tried = ("--mechanism", "rank", "--mechanism", "santext", "--epsilon", "6")
    yield (
        "compare",
        partial(
            drawn,
            "compare",
            f"{IN}in.jsonl",
            *TEXT,
            "--lexicon",
            "gold",
            *tried,
            "--json",
            "-j",
            "1",
            "-q",
            clear=COMPARED,
        ),
    )


def _explained(name: str, *options: str) -> Case:
    command = ("explain", *SPREAD, "--json", *options)
    if name in ("class-first", "released-past"):  # these depend on draws
        said = (
            "guarantee.bound.notion",
            "guarantee.bound.epsilon",
            "guarantee.bound.worst_loss",
        )
        return partial(drawn, *command, clear=said)
    return partial(reported, *command)


def calibrated(*arguments: str) -> Entry:
    """Calibrate; keep the epsilon of each mechanism."""
    ran = run("calibrate", *arguments, "--lexicon", "gold", "--json")
    entry: Entry = {"exit": ran.code}
    if ran.code == 0:
        table = json.loads(ran.out)
        entry |= figures(table)
        entry["clear"] = " ".join(
            f"{row['mechanism']}={row['epsilon']}" for row in table["rows"]
        )
    return entry


def spent() -> Entry:
    """Release three times under a ledger; keep the totals and the refusal."""
    entry: Entry = {}
    account = ("--ledger", "spent.db", "--subject", "who", "--limit")
    runs = {
        "first": (f"{IN}in.jsonl", KEY, "2000"),
        "again": (f"{IN}in.jsonl", KEY, "2000"),
        "other key": (f"{IN}in.csv", ("--key-file", f"{IN}other-key"), "2000"),
        "refused": (f"{IN}two.jsonl", ("--key-file", f"{IN}other-key"), "100"),
        "seeded": (f"{IN}two.jsonl", SEED, "2000"),
    }
    for number, (name, (source, secret, limit)) in enumerate(runs.items()):
        out = f"o{number}{Path(source).suffix}"
        given = ("sanitize", source, *TEXT, *GOLD, *secret, *account, limit)
        entry[name] = {"exit": run(*given, "-o", out, "-q").code}
        if Path(out).exists():
            entry[name]["output"] = digest(Path(out).read_bytes())
            entry[name]["check"] = checked(out)
    lines = run("ledger", "export", "spent.db").out.splitlines()
    losses = [figures(json.loads(line))["_all"] for line in lines]
    kept = sorted(json.dumps(each, sort_keys=True) for each in losses)
    entry["export"] = {"lines": len(lines), "figures": digest(repr(kept).encode())[:16]}
    entry["show"] = reported("ledger", "show", "spent.db", "--json")
    one = reported("ledger", "show", "spent.db", "--value", "ann", "--json")
    entry["ann"] = one
    entry["verify"] = ended("ledger", "verify", "spent.db", "o0.jsonl", "o2.csv")
    return entry


def _called() -> Entry:
    """Call what programs call."""
    import dptext

    texts = ["The good film in Paris.", "", "Don't run 12 dogs."]
    key = bytes(range(7, 7 + 64))
    given = {"profile": "balanced", "lexicon": "gold", "epsilon": 6.0, "key": key}
    many, report = dptext.privatize(texts, report=True, **given)  # type: ignore[call-overload]
    one = dptext.privatize(texts[0], **given)  # type: ignore[call-overload]
    over = {"tokens": {"number": "mask"}}
    other = dptext.privatize(texts, "strict", over, lexicon="gold", key=key)
    vectors = dptext.embed(texts, epsilon=8.0, lexicon="gold", key=key)
    bound = report.guarantee.bound
    return {
        "many": digest(repr(many).encode()),
        "one": digest(repr(one).encode()),
        "strict": digest(repr(other).encode()),
        "vectors": digest(np.asarray(vectors.values).tobytes()),
        "clear": f"epsilon={bound.epsilon} {bound.notion}",
    }


def _table() -> Entry:
    """Privatize a column of a table."""
    import pandas as pd

    import dptext

    frame = pd.DataFrame({"id": [4, 5], "text": ["the good film", "the dog runs"]})
    key = bytes(range(7, 7 + 64))
    private = dptext.privatize(
        frame, "balanced", columns="text", id="id", lexicon="gold", key=key
    )
    return {
        "columns": list(private.columns),
        "text": digest(repr(list(private.text)).encode()),
    }


def _topics() -> Entry:
    """Privatize texts by topics around four sentences; their vectors are centres."""
    import dptext
    from dptext import views
    from dptext.lexicons import topics

    sentences = ("the team won", "rain and wind", "the bank", "soup and bread")
    view = views.prepare({"name": "sif"})
    document = topics.TopicFile(
        format=topics.FORMAT,
        name="golden",
        language="en",
        view={"name": "sif"},
        view_content=dict(view.content),
        public=(topics.PublicSource("made.txt", "0" * 64, 4),),
        sizes={
            "4": topics.TopicsOfSize(
                centres=tuple(
                    tuple(row) for row in view.vectors(sentences).round(6).tolist()
                ),
                words=tuple(tuple(sentence.split()) for sentence in sentences),
                counts=(4, 3, 2, 1),
            )
        },
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "golden.json")
        path.write_bytes(topics.encode(document))
        private, report = dptext.privatize(
            ["the dog runs", "", "snow", "a player scored"],
            profile="topics",
            lexicon=topics.named(str(path), None),
            key=bytes(range(7, 7 + 64)),
            report=True,
        )
    bound = report.guarantee.bound
    return {
        "texts": digest(repr(private).encode()),
        "clear": f"epsilon={bound.epsilon} {bound.notion}",
    }


def _words() -> Entry:
    """Draw a list of words that many people wrote, and privatize texts with it."""
    import dptext
    from dptext import profile, word_file
    from dptext.engine.corpus_words import Building
    from dptext.engine.job import Job
    from dptext.randomness import RunKey
    from dptext.run.selection import Selection
    from dptext.streams.outputs import Release

    key = bytes(range(7, 7 + 64))
    with tempfile.TemporaryDirectory() as folder:
        rows = (f"the CloudDesk was a hassle, {n}\n" for n in range(120))
        made, path = Path(folder, "made.txt"), Path(folder, "own.words")
        made.write_text("".join(rows))
        building = Building(
            job=Job(inputs=(str(made),), output=None, selection=Selection(())),
            recipe=profile.load("readable"),
            key=RunKey.from_bytes(key),
            epsilon=2.0,
            delta=1e-4,
        )
        with Release() as release:
            listed, _ = building.build(lambda line: None, release)
        path.write_bytes(word_file.encode(listed))
        private = dptext.privatize(
            ["what a hassle", "CloudDesk"],
            profile="readable",
            words=str(path),
            key=key,
        )
    return {
        "list": digest(word_file.encode(listed)),
        "texts": digest(repr(private).encode()),
        "clear": " ".join(f"{each.mark}{each.word}" for each in listed.entries),
    }


def _rest() -> Iterator[tuple[str, Case]]:
    for name, arguments in refused().items():
        yield f"exit {name}", partial(ended, *arguments)
    yield "edits words", partial(edited, "sanitize", "out.jsonl")
    yield "edits vectors", partial(edited, "embed", "out.npy")
    yield "ledger", spent
    yield "call", _called
    yield "call table", _table
    yield "call topics", _topics
    yield "call words", _words


CASES: dict[str, Case] = {
    name: case
    for cases in (
        _formats,
        _profiles,
        _mechanisms,
        _choices,
        _vectors,
        _lexicons,
        _figures,
        _rest,
    )
    for name, case in cases()
}
