"""Every result draws itself; what is drawn shows the numbers that were computed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pfaff
from conftest import XI_HAT
from pfaff.draw.configuration import draw_configuration
from pfaff.draw.style import figure
from pfaff.errors import StatementError


def test_bars_are_drawn_where_they_are(skate):
    axes = figure().add_subplot()
    draw_configuration(axes, skate.at(), np.array([0.3, -0.4, 0.2]), "black")
    lines = [line.get_xydata() for line in axes.lines if len(line.get_xydata()) == 2]
    joints = np.cumsum([[0.2, 0], [np.cos(0.3) / 2, np.sin(0.3) / 2], [np.cos(0.4) / 2, -np.sin(0.4) / 2]], axis=0)
    for a, b in itertools.pairwise(joints):
        assert any(np.allclose(line, [a, b]) for line in lines)


def test_a_system_without_drawing_says_so(sleigh):
    with pytest.raises(StatementError, match="no drawing"):
        draw_configuration(figure().add_subplot(), sleigh.at(), np.zeros(3), "black")


def test_results_plot(skate, sleigh, tmp_path):
    case = skate.at(**XI_HAT, c_i=1.5)
    results = [
        case.spectrum(F=80),
        case.flutter(to=120),
        case.equilibrium(),
        case.equilibria(starts=5),
        sleigh.at().equilibrium(),
        pfaff.atlas.column(7, "skate", "spring").at(K=1, Delta=0.1, beta0=0.785).equilibria(starts=300, X=0),
        skate.at(**XI_HAT).paradox({"c_i": 1}),
        skate.at(**XI_HAT).flutter_map(c_i=np.linspace(0, 1, 5)),
        skate.at(**XI_HAT).flutter_map(c_i=np.linspace(0, 1, 5), c_e=np.linspace(0.1, 1, 4)),
    ]
    for k, result in enumerate(results):
        path = tmp_path / f"{k}.png"
        result.plot().savefig(path)
        assert path.stat().st_size > 1000
        assert result.status


def test_the_load_path_marks_its_critical_loads(skate):
    fig = skate.at(**XI_HAT).flutter(to=120).plot()
    texts = [text.get_text() for axes in fig.axes for text in axes.texts]
    assert texts == ["flutter\n76.2073", "divergence\n95.4109"]
