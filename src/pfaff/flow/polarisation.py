"""Symmetric multilinear forms as sums of powers along lines: 4 B(u, v) = B(u + v)² − B(u − v)², and so on.

Products of few real vectors, into which complex ones are expanded, share most of their lines.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import product
from math import factorial

import numpy as np

Powers = tuple[int, ...]  # multiplicity of each vector in a product, or its coefficient in the direction of a line


def expanded(vectors: tuple[np.ndarray, ...]) -> tuple[list[np.ndarray], dict[Powers, complex]]:
    """The distinct real vectors that vectors are made of, and the product of these as a polynomial of those."""
    bases: list[np.ndarray] = []
    products: dict[tuple[int, ...], complex] = {(): 1.0}
    for vector in vectors:
        parts = [(unit, *_among(bases, part)) for unit, part in ((1, vector.real), (1j, vector.imag)) if part.any()]
        products = {
            (*chosen, base): factor * sign * unit for chosen, factor in products.items() for unit, base, sign in parts
        }
    found: dict[Powers, complex] = defaultdict(complex)
    for chosen, factor in products.items():
        numbers = Counter(chosen)
        found[tuple(numbers[base] for base in range(len(bases)))] += factor
    return bases, {powers: factor for powers, factor in found.items() if factor}


def _among(bases: list[np.ndarray], part: np.ndarray) -> tuple[int, float]:
    """The index of a vector in a list, to which a new one is appended, and its sign relative to the one there."""
    for place, base in enumerate(bases):
        for sign in (1.0, -1.0):
            if np.array_equal(base, sign * part):
                return place, sign
    bases.append(part)
    return len(bases) - 1, 1.0


@cache
def polarised(powers: Powers) -> dict[Powers, float]:
    """F(v1 … vk) = Σ ± F(v1 ± v2 … ± vk)ᵏ / (2ᵏ⁻¹ k!): lines and their weights."""
    vectors = [base for base, power in enumerate(powers) for _ in range(power)]
    order, many = len(vectors), sum(power > 0 for power in powers)
    if many == 1:
        return {tuple(int(power > 0) for power in powers): 1.0}
    weights: dict[Powers, float] = defaultdict(float)
    for signs in product((1, -1), repeat=order - 1):
        line = [0] * len(powers)
        for sign, base in zip((1, *signs), vectors, strict=True):
            line[base] += sign
        turned = next((np.sign(each) for each in line if each), 0)  # F(−v)ᵏ = ±F(v)ᵏ
        weights[tuple(int(turned * each) for each in line)] += turned**order * np.prod(signs)
    return {
        line: weight / (2 ** (order - 1) * factorial(order)) for line, weight in weights.items() if weight and any(line)
    }
