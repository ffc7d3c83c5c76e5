"""Flutter maps against single searches."""

from __future__ import annotations

import numpy as np
import pytest

import pfaff
from conftest import XI_HAT
from pfaff.errors import ParameterError, PfaffError


def test_two_bars_in_closed_form(skate):
    case = skate.at(**XI_HAT)
    axes = {"c_i": np.array([0.1, 1.5, 30]), "c_e": np.array([0.0, 0.4, 8]), "c_r": np.array([0.0, 2])}
    found = case.flutter_map(**axes)
    assert found.values.shape == (3, 3, 2)
    for i, ci in enumerate(axes["c_i"]):
        for j, ce in enumerate(axes["c_e"]):
            for k, cr in enumerate(axes["c_r"]):
                expected = case.at(c_i=ci, c_e=ce, c_r=cr).flutter(to=1000).value
                assert found.values[i, j, k] == pytest.approx(expected, rel=1e-10)


def test_no_damping_gives_the_undamped_load(skate):
    assert skate.at(**XI_HAT).flutter_map(c_i=[0.0]).values[0] == pytest.approx(76.2073258262292)


def test_three_bars_by_eigenvalues():
    case = pfaff.atlas.column(3).at(M_L=1, k1=10)
    found = case.flutter_map(c_i=[0.05, 0.3], c_e=[0.1])
    expected = [case.at(c_i=c, c_e=0.1).flutter().value for c in (0.05, 0.3)]
    np.testing.assert_allclose(found.values[:, 0], expected, rtol=1e-9)
    assert "bisected" in found.how


def test_maps_refuse_what_they_cannot_do(skate, bow):
    with pytest.raises(ParameterError, match="at least one"):
        skate.at(**XI_HAT).flutter_map()
    with pytest.raises(ParameterError, match="'k1' is not a damping"):
        skate.at(**XI_HAT).flutter_map(k1=[1])
    with pytest.raises(ParameterError, match="non-negative"):
        skate.at(**XI_HAT).flutter_map(c_i=[-1])
    with pytest.raises(PfaffError, match="moves with F"):
        bow.at(**XI_HAT, beta0=0.1).flutter_map(c_i=[1])
