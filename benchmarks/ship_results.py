"""Compute the risks and epsilons of the shipped profiles, so that users need not wait.

Writes dptext/data/results.json. To be run after the built-in lexicon or a shipped
profile has changed; a test checks that every risk of a profile comes from the file.

    python benchmarks/ship_results.py
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from dptext import cache, load_profile, open_pipeline, registry
from dptext.guarantees import account
from dptext.profile import shipped
from dptext.report.assemble import risk_of


def main() -> None:
    """Fill an empty cache folder, then gather what it holds."""
    cache.shipped().unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for name in shipped():
            mechanism = load_profile(name).mechanism.name
            if registry.find("mechanisms", mechanism).FAMILY == "context":
                print(f"{name:10} needs a model")
                continue
            made = open_pipeline(name)
            risk, note = risk_of(made)
            # Distances and constants of the space, which reports show.
            account.statement(
                made.profile,
                made.channel,
                made.spending,
                key="system",
                lexicon_given=False,
                identified=False,
                fields=None,
            )
            made.channel.space.translated()
            found = note if risk is None else f"risk {risk.success:.3%}"
            print(f"{name:10} epsilon {made.spending.high:g}  {found}")
        kept = {
            path.stem: json.loads(path.read_text())
            for path in sorted((Path(folder) / "dptext").glob("*.json"))
        }
    cache.shipped().write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    print(f"{len(kept)} results in {cache.shipped().name}")


if __name__ == "__main__":
    main()
