"""Columns of one to twelve bars against the chain's own matrices."""

from __future__ import annotations

import numpy as np
import pytest

import pfaff
from cross import examples
from cross.cells import Cells
from cross.chains import Chain

PARAMETERS = ("M_L", "I_L", "M_X", "k1", "d", "beta0", "c_i", "c_e", "c_t", "c_r")


def random_chain(seed: int, bars: int, damped: bool = True, bent: bool = True) -> Chain:
    rng = np.random.default_rng([seed, bars, 7])
    sizes = (2.0, 1.0, 1.0, 5.0, 1.0, 0.2, 0.1, 0.3, 0.3, 0.1)
    values = dict(zip(PARAMETERS, (rng.uniform(0.1, 1) * size for size in sizes), strict=True))
    zero = [] if bent else ["beta0"]
    zero += [] if damped else ["c_i", "c_e", "c_t", "c_r"]
    return Chain(bars, str(rng.choice(["skate", "bow"])), **{**values, **dict.fromkeys(zero, 0.0)})


@pytest.mark.parametrize("bars", range(1, 13))
@pytest.mark.parametrize("seed", examples(0))
def test_spectra_of_columns(seed, bars):
    chain = random_chain(seed, bars)
    load = 0.7 / bars
    expected = np.array([complex(value) for value in chain.exact_eigenvalues(chain.rest(np.zeros(bars), load), load)])
    spectrum = pfaff.atlas.column(bars, chain.constraint).at(**chain.parameters).spectrum(F=load, X=0)
    assert spectrum.structural_zeros == 1
    left = list(expected)
    nearest = np.array([left.pop(int(np.abs(np.array(left) - value).argmin())) for value in spectrum.values])
    assert not left
    assert np.abs(spectrum.values - nearest).max() < 1e-11 * np.abs(expected).max()


@pytest.mark.parametrize("damped", [False, True])
@pytest.mark.parametrize("bent", [False, True])
@pytest.mark.parametrize("bars", range(1, 13))
@pytest.mark.parametrize("seed", examples(0))
def test_critical_loads_of_columns(seed, bars, bent, damped):
    """Flutter, divergence, no buckling but by a fold: up to six times the load at which such a column flutters."""
    chain, to = random_chain(seed, bars, damped, bent), 12.0 / bars
    found = pfaff.atlas.column(bars, chain.constraint).at(**chain.parameters).critical(to=to, X=0)
    Cells(chain, np.zeros(bars), to).agree(found, 1.0)
