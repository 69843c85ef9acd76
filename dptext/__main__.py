"""Entry point of the command line."""

from __future__ import annotations

from dptext.cli.app import main

if __name__ == "__main__":
    main()
