"""Columns of one to twelve bars against the chain's own matrices."""

from __future__ import annotations

import numpy as np
import pytest

import pfaff
from cross import examples
from cross.cells import Cells
from cross.chains import Chain
from cross.mechanics import mechanics_of
from cross.random_systems import other_words

BARS = (1, 2, 3, 4, 5, 7, 9, 12)
# Straight and bent, undamped and damped: all four for few bars, two in turn for many.
KINDS = [
    (bars, bent, damped)
    for bars in range(1, 13)
    for bent in (False, True)
    for damped in (False, True)
    if bars < 7 or (bent == damped) == (bars % 2 == 0)
]
PARAMETERS = ("M_L", "I_L", "M_X", "k1", "d", "beta0", "c_i", "c_e", "c_t", "c_r")


def random_chain(seed: int, bars: int, damped: bool = True, bent: bool = True) -> Chain:
    rng = np.random.default_rng([seed, bars, 7])
    sizes = (2.0, 1.0, 1.0, 5.0, 1.0, 0.2, 0.1, 0.3, 0.3, 0.1)
    values = dict(zip(PARAMETERS, (rng.uniform(0.1, 1) * size for size in sizes), strict=True))
    zero = [] if bent else ["beta0"]
    zero += [] if damped else ["c_i", "c_e", "c_t", "c_r"]
    return Chain(bars, str(rng.choice(["skate", "bow"])), **{**values, **dict.fromkeys(zero, 0.0)})


def nearest(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """The expected values in the order of those found."""
    left = list(expected)
    return np.array([left.pop(int(np.abs(np.array(left) - value).argmin())) for value in found])


@pytest.mark.parametrize("bars", BARS)
@pytest.mark.parametrize("seed", examples(0))
def test_accelerations_of_columns(seed, bars):
    chain, rng = random_chain(seed, bars), np.random.default_rng([seed, bars, 8])
    q, v = rng.uniform(-1, 1, bars + 1), rng.uniform(-1, 1, bars + 1)
    A = chain.row(q[:bars])
    v -= A * (A @ v) / (A @ A)
    a, p = chain.accelerations(q, v, 0.7)
    column = pfaff.atlas.column(bars, chain.constraint)
    x, case = np.concatenate([q, v]), column.at(**chain.parameters, F=0.7)
    assert np.abs(column.flow.rhs(x, case)[bars + 1 :] - a).max() < 1e-11 * np.abs(a).max()
    assert column.flow.reactions(x, case)[0] == pytest.approx(p, rel=1e-11)


@pytest.mark.parametrize("bars", BARS)
@pytest.mark.parametrize("seed", examples(0))
def test_spectra_of_columns(seed, bars):
    chain = random_chain(seed, bars)
    load = 0.7 / bars
    expected = np.array([complex(value) for value in chain.exact_eigenvalues(chain.rest(np.zeros(bars), load), load)])
    spectrum = pfaff.atlas.column(bars, chain.constraint).at(**chain.parameters).spectrum(F=load, X=0)
    assert spectrum.structural_zeros == 1
    assert len(spectrum.values) == len(expected)
    assert np.abs(spectrum.values - nearest(spectrum.values, expected)).max() < 1e-11 * np.abs(expected).max()


@pytest.mark.parametrize("bars", [1, 2, 5])
@pytest.mark.parametrize("seed", examples(0))
def test_columns_in_other_words(seed, bars):
    """Motion, spectrum and critical loads of the same column stated otherwise."""
    chain = random_chain(seed, bars)
    old = mechanics_of(pfaff.atlas.column(bars, chain.constraint))
    change = other_words(old, seed, decades=1)
    system, load = change.mechanics.system, 0.7 / bars
    values = dict(chain.parameters.items())
    case = system.at(**values, load=load / change.load)
    expected = np.array([complex(value) for value in chain.exact_eigenvalues(chain.rest(np.zeros(bars), load), load)])
    found = case.spectrum(**{f"y{bars + 1}": 0}).values / change.time
    assert np.abs(found - nearest(found, expected)).max() < 1e-10 * np.abs(expected).max()
    to = 12.0 / bars
    Cells(chain, np.zeros(bars), to).agree(
        system.at(**values).critical(to=to / change.load, **{f"y{bars + 1}": 0}), change.load, change.time
    )


@pytest.mark.parametrize(("bars", "bent", "damped"), KINDS)
@pytest.mark.parametrize("seed", examples(0))
def test_critical_loads_of_columns(seed, bars, bent, damped):
    """Flutter, divergence, no buckling but by a fold: up to six times the load at which such a column flutters."""
    chain, to = random_chain(seed, bars, damped, bent), 12.0 / bars
    found = pfaff.atlas.column(bars, chain.constraint).at(**chain.parameters).critical(to=to, X=0)
    Cells(chain, np.zeros(bars), to).agree(found)
