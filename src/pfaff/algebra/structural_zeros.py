"""Jacobians without the zero eigenvalues that their structure explains: those of families, in one level or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pfaff.algebra.bordering import balanced, deficiency

PROJECTED = 64 * float(np.finfo(float).eps)  # what a projection leaves of a zero, relative to the matrix


@dataclass(frozen=True)
class Deflation:
    """Jacobians near a reference without their structural zeros, as a smooth function of them.

    Each level restricts a matrix J to its range, the vectors that its left null vectors P leave. Several levels take
    away the chains of steady motions along families.
    """

    scale: np.ndarray
    levels: tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...]
    reference: np.ndarray  # its Jacobian without structural zeros

    @classmethod
    def about(cls, J: np.ndarray, zeros: Sequence[int]) -> Deflation:
        matrix, scale = balanced(J)
        levels = []
        for k in zeros:
            left, _, right = np.linalg.svd(matrix)
            kept, columns, rows = left[:, : len(matrix) - k], left[:, len(matrix) - k :], right[len(matrix) - k :]
            levels.append((kept, columns, rows))
            matrix = kept.T @ matrix @ kept
        return cls(scale, tuple(levels), matrix)

    def __call__(self, J: np.ndarray) -> np.ndarray:
        matrix = J * self.scale / self.scale[:, None]
        for kept, columns, rows in self.levels:
            n, k = columns.shape
            bordered = np.block([[matrix, columns], [rows, np.zeros((k, k))]])
            # Where J has more null vectors than its structure explains, as at a bifurcation, any of them will do.
            P = np.linalg.lstsq(bordered.T, np.eye(n + k)[:, n:], rcond=None)[0][:n]
            range_ = kept - columns @ (P.T @ kept)
            matrix = kept.T @ matrix @ range_
        return matrix


def zero_chain(J: np.ndarray, most: int) -> tuple[int, ...]:
    """How many null vectors J has, then J on its range, and so on: more than one number where zeros form Jordan blocks.

    ``most`` limits their sum to what the structure explains: stiff systems look singular when they are not.
    """
    matrix, _ = balanced(J)
    chain: list[int] = []
    floor = 0.0
    while len(matrix):
        left, values, _ = np.linalg.svd(matrix)
        k = min(max(deficiency(matrix, values), int((values <= floor).sum())), most - sum(chain))
        if not k:
            break
        chain.append(k)
        matrix = left[:, : len(matrix) - k].T @ matrix @ left[:, : len(matrix) - k]
        floor = PROJECTED * values.max(initial=0.0)
    return tuple(chain)
