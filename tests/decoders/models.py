"""Settings of each decoder with a small model, for tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from dptext import models as package
from dptext import registry
from dptext.attackers import ngrams
from dptext.decoders import Params, causal_lm, context, endpoint, ngram
from dptext.types import Lexicon
from tests import language_models, model_server
from tests.attackers import models


@cache
def settings(name: str, lexicon: Lexicon, folder: Path) -> list[Params]:
    """Return settings of a decoder that work for a lexicon; none: not tested here.

    A model that it needs is written to the folder, once. A decoder without a model has
    its default settings.
    """
    if name == "ngram":
        ngrams.save(models.model(lexicon), folder / "pairs")
        path = str(folder / "pairs")
        return [
            ngram.Params(mode=mode, model=path, candidates=6, weight=weight)  # type: ignore[arg-type]
            for mode, weight in (("mbr", 0.8), ("posterior", 1.0), ("viterbi", 1.0))
        ]
    if name == "context":
        ngrams.save(models.model(lexicon), folder / "pairs")
        path = str(folder / "pairs")
        return [context.Params(model=path), context.Params(model=path, topic=0.0)]
    if name == "causal-lm":
        path = language_models.llama(folder / "llama")
        return [
            causal_lm.Params(mode=mode, model=path, candidates=5, beam=2)
            for mode in ("mbr", "posterior", "beam")
        ]
    if name == "endpoint":
        if not package.has("httpx"):
            return [registry.find("decoders", name).Params()]
        ngrams.save(models.model(lexicon), folder / "pairs")
        url, path = model_server.always(), str(folder / "pairs")
        return [
            endpoint.Params(url=url, model="tiny", ngrams=path),
            endpoint.Params(url=url, model="tiny", ngrams=path, words=2),
        ]
    return [registry.find("decoders", name).Params()]
