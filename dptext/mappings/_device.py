"""Candidates by products of torch, on a graphics processor or another device of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext import models
from dptext.errors import UsageError
from dptext.mappings._candidates import Candidates, by_point, table_of
from dptext.types import Points

# Words that are scored at once: with 2,048 points 128 MiB of scores.
_WORDS = 16_384


class OnDevice:
    """The words on a device, by torch's name of it."""

    def __init__(self, vectors: NDArray[np.float32], size: int, device: str) -> None:
        """Copy the words there. Raises UsageError where torch or the device lacks."""
        self._torch = models.package("torch", "the setting mapping.device", "semantic")
        # Shorter numbers are wrong by more than the search allows for.
        self._torch.set_float32_matmul_precision("highest")
        self._device = device
        try:
            self._tables = [
                self._torch.from_numpy(
                    table_of(vectors, begin, min(begin + _WORDS, size))
                ).to(device)
                for begin in range(0, size, _WORDS)
            ]
        except Exception as error:  # each device has its own
            reason = str(error).strip().partition("\n")[0]
            raise UsageError(
                f"mapping.device: {device} cannot be used: {reason}"
            ) from None

    def candidates(
        self, points: Points, count: int, slack: NDArray[np.float32]
    ) -> Candidates:
        """Return all words that may be among the `count` nearest of each point."""
        torch = self._torch
        ones = np.ones((len(points), 1), np.float32)
        left = torch.from_numpy(np.hstack((points, ones))).to(self._device)
        slacks = torch.from_numpy(slack).to(self._device)
        best = left.new_full((len(points), count), -np.inf)
        rows, ids, scores = [], [], []
        for number, table in enumerate(self._tables):
            tile = left @ table
            top = tile.topk(min(count, tile.shape[1]), dim=1).values
            best = torch.cat((best, top), dim=1).topk(count, dim=1).values
            least = best[:, -1] - slacks
            row, column = (tile >= least[:, None]).nonzero(as_tuple=True)
            rows.append(row.cpu().numpy())
            ids.append(number * _WORDS + column.cpu().numpy())
            scores.append(tile[row, column].cpu().numpy())
        return by_point(rows, ids, scores, least.cpu().numpy())
