"""Common words of German and French, by lexicons made of public text alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dptext import pipeline, profile
from dptext.errors import UsageError
from dptext.lexicons import from_text
from dptext.tokens import kinds
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon
from tests.tokens.languages import SENTENCES, lexicon_of, made

faker = pytest.importorskip("faker")
