"""Every result draws itself; what is drawn shows the numbers that were computed."""

from __future__ import annotations

import base64
import itertools
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sm
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Circle, Polygon
from matplotlib.text import Text
from PIL import Image, ImageDraw

import pfaff
from conftest import XI_HAT
from pfaff.draw.body import draw_body, smooth
from pfaff.draw.diagram import draw_stretches, places_of
from pfaff.draw.footage import of_branch, of_motion, of_orbit
from pfaff.draw.labels import formula, groups, letters
from pfaff.draw.orbits import draw_orbit
from pfaff.draw.pictures import Stage, images_of
from pfaff.draw.scene import scene_of, scene_of_motion
from pfaff.draw.space import axes_of_view, seen
from pfaff.draw.spectrum import draw_spectrum_path
from pfaff.draw.style import VERMILION, figure, label
from pfaff.draw.view import view_of
from pfaff.errors import ParameterError, StatementError
from pfaff.motion.outcomes import Outcome, Status
from pfaff.statement import coordinates


@pytest.fixture(scope="module")
def fluttering(skate) -> pfaff.Motion:
    """Beyond the flutter load of Fig. 12, where the path of the end has its corners."""
    case = skate.at(**XI_HAT, c_i=1.5, F=1.1 * 76.3379703896)
    return case.simulate(40, theta1_dot=0.01, theta2_dot=0.01)


@pytest.fixture(scope="module")
def drawn_sleigh(sleigh) -> pfaff.System:
    x, y, phi = sleigh.coordinates
    a = sleigh.parameter("a")
    drawing = pfaff.Drawing(
        points={"blade": (x, y), "centre": sm.Matrix([x + a * sm.cos(phi), y + a * sm.sin(phi)])},
        links=[("blade", "centre")],
        marks={"blade": "skate", "centre": "mass"},
        angles={"blade": phi},
    )
    return replace(sleigh, drawing=drawing)


def test_bars_are_drawn_where_they_are(skate):
    axes = figure().add_subplot()
    draw_body(axes, scene_of(skate.at(), np.array([[0.3], [-0.4], [0.2]]), np.zeros(1)), 0, "black")
    centres = [path.vertices[:-1].mean(axis=0) for bars in axes.collections for path in bars.get_paths()]
    joints = np.cumsum([[0.2, 0], [np.cos(0.3) / 2, np.sin(0.3) / 2], [np.cos(0.4) / 2, -np.sin(0.4) / 2]], axis=0)
    for a, b in itertools.pairwise(joints):
        assert any(np.allclose(centre, (a + b) / 2) for centre in centres)


def test_round_bodies_are_drawn_to_scale_and_in_view():
    case = pfaff.atlas.ball_in_cavity().at(rho="3/2", r="1/4")
    scene = scene_of(case, np.array([[0.3], [0], [0], [0], [0]]), np.zeros(1))
    (ball,) = scene.radii.values()
    wall = np.concatenate([line[0] for line in scene.meshes["bottom"].lines(scene.points["bottom"])])
    centre = np.array([0, 0, 1.75])  # the bowl stands on the ground
    np.testing.assert_allclose(np.linalg.norm(wall - centre, axis=1), 1.75)
    assert np.linalg.norm(scene.points["ball"][0] - centre) + ball[0] == pytest.approx(1.75)
    axes = figure().add_subplot()
    draw_body(axes, seen(scene), 0, "black")
    assert [patch.radius for patch in axes.patches if isinstance(patch, Circle)] == [0.25]
    assert (view_of(seen(scene)).size > 1.75).all()
    with pytest.raises(StatementError, match="'bal'.*'ball'"):
        pfaff.Drawing(points={"ball": (0, 0)}, circles={"bal": 1})


def test_links_keep_their_lengths(fluttering):
    scene = scene_of_motion(fluttering, np.linspace(0, 40, 200))
    for a, b in scene.drawing.links:
        np.testing.assert_allclose(np.linalg.norm(scene.points[a] - scene.points[b], axis=1), 0.5, rtol=1e-14)


def test_the_traced_point_moves_along_its_blade(skate):
    """Eq. (9), seen in the data of the picture: what central differences leave vanishes with the square of the step."""
    motion = skate.at(**XI_HAT, F=20, beta0=0.3).simulate(10, theta1_dot=0.3)
    times, along = np.linspace(1, 9, 100), []
    for step in (1e-2, 5e-3):
        before, now, after = (scene_of_motion(motion, times + shift) for shift in (-step, 0, step))
        (end,) = now.drawing.traced
        velocity = (after.points[end] - before.points[end]) / (2 * step)
        along.append(np.abs(velocity[:, 1] * np.cos(now.angle(end)) - velocity[:, 0] * np.sin(now.angle(end))).max())
    assert along[0] < 1e-3 * np.abs(velocity).max()
    assert along[0] / along[1] == pytest.approx(4, rel=1e-2)


def test_the_bow_touches_its_cylinder_and_rolls_it(bow):
    """C lies on the head of the T and on the cylinder's axis, Eq. (11); what passes over the cylinder is its roll."""
    motion = bow.at(**XI_HAT, F=20, beta0=0.1).simulate(5, theta1_dot=0.3, samples=11)
    scene = scene_of_motion(motion, np.linspace(0, 5, 501))
    end, contact, axis = (scene.points[name] for name in ("joint2", "contact", "cylinder"))
    stem = np.stack([np.cos(scene.angle("joint2")), np.sin(scene.angle("joint2"))], axis=1)
    assert np.abs(((contact - end) * stem).sum(axis=1)).max() < 1e-14
    assert np.abs((contact - axis) @ [-np.sin(0.1), np.cos(0.1)]).max() < 1e-14
    assert np.ptp(scene.roll) > 0.01
    finer = scene_of_motion(motion, np.linspace(0, 5, 1001))
    np.testing.assert_allclose(finer.roll[::2], scene.roll, atol=1e-5)


def test_a_push_ends_at_its_point_and_a_pull_starts_there(skate):
    for force, nearer in ((1, 1), (-1, 0)):
        scene = scene_of(skate.at(F=force), np.zeros((3, 1)), np.zeros(1))
        ends = scene.forces["joint0"]
        assert np.argmin([abs(end[0, 0]) for end in ends]) == nearer
        assert all(end[0, 0] < 0 for end in ends)


def test_a_system_without_drawing_says_so(sleigh, tmp_path):
    with pytest.raises(StatementError, match="no drawing.*Drawing\\(points"):
        scene_of(sleigh.at(), np.zeros((3, 1)), np.zeros(1))
    motion = sleigh.at().simulate(1, phi_dot=1)
    with pytest.raises(StatementError, match="no drawing"):
        motion.animate(tmp_path / "x.gif")
    with pytest.raises(StatementError, match="no drawing"):
        motion.film()


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("no point 'hub'", {"links": [("blade", "hub")]}),
        ("did you mean 'blade'", {"traced": ["blad"]}),
        ("unknown mark 'whel'", {"marks": {"blade": "whel"}}),
        ("at least one point", {"points": {}}),
    ],
)
def test_a_wrong_drawing_is_refused(drawn_sleigh, words, change):
    with pytest.raises(StatementError, match=words):
        replace(drawn_sleigh.drawing, **change)


@pytest.mark.parametrize("point", [(sm.Symbol("w"), 0), (sm.Function("x")(sm.Symbol("s")), 0, 0)])
def test_a_point_is_stated_in_known_symbols(sleigh, point):
    with pytest.raises(StatementError, match="'lost'.*neither a coordinate nor a parameter"):
        replace(sleigh, drawing=pfaff.Drawing(points={"lost": point}))


@pytest.mark.parametrize(
    ("words", "stated"),
    [
        ("4 entries: give a pair", {"points": {"a": (1, 2, 3, 4)}}),
        ("'b' has 2 entries: give a triple", {"points": {"a": (0, 0, 0), "b": (1, 2)}}),
        ("'a' has 3 entries: give a pair", {"points": {"a": (0, 0)}, "arrows": {"a": (1, 0, 0)}}),
        ("for drawings in space", {"points": {"a": (0, 0)}, "discs": {"a": (1, (0, 0, 1))}}),
        ("for drawings in space", {"points": {"a": (0, 0)}, "ground": True}),
        ("'bow' of 'a' is for the plane", {"points": {"a": (0, 0, 0)}, "marks": {"a": "bow"}}),
        ("give \\(radius, axle\\)", {"points": {"a": (0, 0, 0)}, "wheels": {"a": 1}}),
        ("3 × 3 matrix", {"points": {"a": (0, 0, 0)}, "bodies": {"a": (sm.eye(2), [])}}),
    ],
)
def test_a_drawing_of_the_wrong_shape_is_refused_when_it_is_stated(words, stated):
    with pytest.raises(StatementError, match=words):
        pfaff.Drawing(**stated)


def test_the_plot_shows_the_path_where_there_is_one(fluttering, tmp_path):
    (paths,) = [axes for axes in fluttering.plot().axes if axes.get_xlabel() == "x"]
    path = paths.lines[0].get_xydata()
    np.testing.assert_allclose(path[-1], scene_of_motion(fluttering, fluttering.t[-1:]).points["joint2"][0])
    assert paths.get_aspect() == 1
    loaded = pfaff.load_motion(fluttering.save(tmp_path / "motion.nc"))
    assert not [axes for axes in loaded.plot().axes if axes.get_xlabel() == "x"]
    with pytest.raises(ParameterError, match="load_motion"):
        loaded.film()


def test_of_many_coordinates_as_many_are_shown_as_one_can_read():
    """Nine pendulums without constraints: no panel of reactions, six curves, the others by name."""
    angles = coordinates(" ".join(f"a{k}" for k in range(9)))
    rates = [angle.diff(angle.args[0]) for angle in angles]
    system = pfaff.System(angles, sum(rate**2 for rate in rates) / 2, -sum(map(sm.cos, angles)))
    motion = system.at().simulate(1, a8=1, samples=5)
    fig = motion.plot()
    histories = fig.axes[0]
    assert len(histories.lines) == 6
    assert "$a_{8}$" in [line.get_label() for line in histories.lines]
    assert histories.get_title(loc="right") == "6 of 9; others by name, plot('a5')"
    assert "reaction" not in [axes.get_ylabel() for axes in fig.axes]
    assert [line.get_label() for line in motion.plot("a6").axes[0].lines] == ["$a_{6}$"]


def test_angles_and_lengths_have_axes_of_their_own(fluttering):
    labels = {axes.get_ylabel(): [line.get_label() for line in axes.lines] for axes in fluttering.plot().axes}
    assert labels["angle [rad]"] == [r"$\theta_{1}$", r"$\theta_{2}$"]
    assert labels["coordinate"] == ["$X$"]


def test_reactions_are_drawn_between_the_samples(skate):
    """Eleven samples hide most of what the reaction does; the picture does not."""
    motion = skate.at(**XI_HAT, c_i=1.5, F=84).simulate(40, theta1_dot=0.5, samples=11)
    (reactions,) = [axes for axes in motion.plot().axes if axes.get_ylabel() == "reaction"]
    drawn = reactions.lines[0].get_ydata()
    assert np.ptp(drawn) > 1.2 * np.ptp(motion["p"])


def test_a_film_shows_the_asked_instants(fluttering):
    fig = fluttering.film(times=[0, 12.5, 40])
    assert [axes.get_title(loc="left") for axes in fig.axes] == ["t = 0", "t = 12.5", "t = 40"]
    scene = scene_of_motion(fluttering, np.array([12.5]))
    so_far = fig.axes[1].lines[0].get_xydata()
    np.testing.assert_allclose(so_far[-1], scene.points["joint2"][0])
    assert len(fluttering.film(5).axes) == 5
    for wrong in ({"frames": 0}, {"times": []}, {"times": [50]}):
        with pytest.raises(ParameterError, match="frames|times|outside"):
            fluttering.film(**wrong)


def test_a_window_follows_a_system_that_travels(drawn_sleigh):
    scene = scene_of_motion(drawn_sleigh.at().simulate(40, phi_dot=2), np.linspace(0, 40, 300))
    view = view_of(scene)
    assert np.all(view.size < scene.span(scene.points) / 5)
    inside = (scene.moving > view.corners[:, None]) & (scene.moving < (view.corners + view.size)[:, None])
    assert inside.all()
    point = pfaff.Drawing(points={"blade": drawn_sleigh.drawing.points["blade"]})
    alone = scene_of_motion(replace(drawn_sleigh, drawing=point).at().simulate(40, phi_dot=2), np.linspace(0, 40, 300))
    assert np.all(view_of(alone).size > alone.span(alone.points))


def test_gif(drawn_sleigh, tmp_path):
    seen = []
    motion = drawn_sleigh.at().simulate(-3, phi_dot=2)
    path = motion.animate(
        tmp_path / "x.gif", seconds=0.4, fps=10, span=(-1, -2), progress=lambda *done: seen.append(done)
    )
    with Image.open(path) as gif:
        assert gif.n_frames == 4
        assert gif.info["duration"] == 100
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_html_stands_alone(fluttering, tmp_path):
    named = replace(fluttering, system="a<b></script>")
    text = named.animate(tmp_path / "x.HTML", seconds=3, fps=1).read_text()
    assert "http" not in text
    assert "import " not in text.replace("important ", "")
    assert "<title>a&lt;b&gt;&lt;/script&gt;</title>" in text
    assert text.count("</script>") == text.count("<script") == 2
    assert len(text) < 250_000


def played(data: dict, name: str) -> np.ndarray:
    """A point of a scene as the player reads it."""
    return np.frombuffer(base64.b64decode(data["points"][name]), "<f4").reshape(-1, data["dimension"])


def test_the_player_is_given_where_things_are(fluttering):
    data = of_motion(fluttering, 0, 40, 201).data(10)
    scene = scene_of_motion(fluttering, np.linspace(0, 40, 201))
    np.testing.assert_allclose(played(data, "joint2"), scene.points["joint2"], atol=1e-6)
    assert [panel["title"] for panel in data["histories"]] == ["angle [rad]", "coordinate"]
    assert [curve["name"] for curve in data["histories"][0]["curves"]] == ["θ₁", "θ₂"]


def test_a_rolling_disc_touches_the_ground_and_does_not_slip():
    """The lowest point of the rim is the contact, and the spoke's end is at rest when it comes by."""
    motion = pfaff.atlas.rolling_disc().at().simulate(5, theta=0.2, phi_dot=2, psi_dot=0.3)
    times = np.linspace(0, 5, 200)
    scene = scene_of_motion(motion, times)
    disc, centre = scene.rounds["centre"], scene.points["centre"]
    rim = disc.rim(centre, 3600)
    lowest = rim[np.arange(200), rim[..., 2].argmin(axis=1)]
    assert np.abs(rim[..., 2].min(axis=1)).max() < 1e-6
    np.testing.assert_allclose(lowest[:, :2], scene.points["contact"][:, :2], atol=2e-3)
    # v = velocity of the centre + ω × (contact − centre), from two neighbouring instants of the same material point
    step = 1e-4
    ahead = scene_of_motion(motion, times[:-1] + step)
    frames = [
        np.stack([each.spoke, np.cross(each.axle, each.spoke), each.axle], axis=2)
        for each in (disc, ahead.rounds["centre"])
    ]
    own = np.einsum("tji,tj->ti", frames[0][:-1], (scene.points["contact"] - centre)[:-1])
    moved = ahead.points["centre"] + np.einsum("tij,tj->ti", frames[1], own)
    assert np.abs(moved - scene.points["contact"][:-1]).max() / step < 1e-3


def test_both_wheels_of_the_bicycle_stand_on_the_ground():
    motion = pfaff.atlas.whipple_bicycle().at().simulate(2, phi_dot=0.5, s_dot=4.6, x_dot=4.6, f_dot=4.6)
    scene = scene_of_motion(motion, np.linspace(0, 2, 50))
    for wheel, track in (("rear", "rear track"), ("front", "front track")):
        rim = scene.rounds[wheel].rim(scene.points[wheel], 3600)
        assert np.abs(rim[..., 2].min(axis=1)).max() < 1e-6
        lowest = rim[np.arange(50), rim[..., 2].argmin(axis=1)]
        np.testing.assert_allclose(lowest[:, :2], scene.points[track][:, :2], atol=1e-3)


def test_paper_shows_space_from_one_side():
    """Lengths in the plane of the picture are true, and what lies along the view is a point."""
    view = axes_of_view()
    np.testing.assert_allclose(view @ view.T, np.eye(2), atol=1e-15)
    scene = seen(scene_of(pfaff.atlas.rolling_hoop().at(), np.zeros((5, 1)), np.zeros(1)))
    assert {line.kind for line in scene.lines} == {"ground", "rim", "spoke"}
    np.testing.assert_allclose(scene.points["centre"][0] - scene.points["contact"][0], [0, view[1, 2]], atol=1e-15)


@pytest.mark.parametrize(
    ("name", "on_paper", "in_letters"),
    [
        ("theta1_dot", r"$\dot{\theta}_{1}$", "θ̇₁"),
        ("c_i", "$c_{i}$", "cᵢ"),
        ("I_Rxx", r"$I_{\mathrm{Rxx}}$", "I_Rxx"),
        ("X", "$X$", "X"),
        ("sprung", r"$\mathrm{sprung}$", "sprung"),
        ("right_dot", r"$\dot{\mathrm{right}}$", "right_dot"),
    ],
)
def test_names_are_set_as_mathematics(name, on_paper, in_letters):
    assert formula(name) == on_paper
    assert letters(name) == in_letters


def test_angles_are_told_from_lengths():
    bicycle = pfaff.atlas.whipple_bicycle()
    assert groups(bicycle, bicycle.coordinate_names) == {
        "angle [rad]": ["psi", "phi", "chi", "delta"],
        "coordinate [m]": ["x", "y", "s", "f"],
    }


def test_axes_say_the_units_that_are_stated(sleigh):
    told = replace(sleigh, meanings={"x": "blade [mm]", "y": "blade [m]", "phi": "heading [°]"})
    assert groups(told, ("x", "y", "phi")) == {"angle [°]": ["phi"], "coordinate [m]": ["y"], "coordinate [mm]": ["x"]}
    panels = told.at().simulate(1, phi_dot=1, x_dot=1).plot().axes
    assert {"angle [°]", "coordinate [m]", "coordinate [mm]"} <= {axes.get_ylabel() for axes in panels}


def test_balls_and_bowls_stand_on_the_ground():
    for make in (pfaff.atlas.ball_on_turntable, pfaff.atlas.ball_in_cavity, pfaff.atlas.ball_absorber):
        case = make().at()
        assert case.system.drawing.ground
        scene = scene_of(case, np.zeros((len(case.system.coordinates), 1)), np.zeros(1))
        assert scene.points["ball"][0, 2] == pytest.approx(0.1)  # its radius


def test_a_system_is_drawn_with_its_coordinates_and_loads(skate, sleigh):
    texts = [text.get_text() for text in skate.plot().axes[0].texts]
    assert {r"$\theta_{1}$", r"$\theta_{2}$", "$X$", "$F$"} <= set(texts)
    assert skate.at(F=0).plot().get_suptitle() == skate.name
    with pytest.raises(StatementError, match="no drawing"):
        sleigh.plot()


def test_cycles_are_filmed(skate, tmp_path):
    """One period later the block is as far ahead as the orbit says; unstable cycles play like stable ones."""
    branch = skate.at(**XI_HAT, c_i=1.5).hopf().orbits(to=80)
    orbit = branch[-1]
    shown = of_orbit(orbit, 2, 401)
    x = shown.scene.points["joint0"][:, 0]
    assert x[200] - x[0] == pytest.approx(orbit.advance["X"], abs=1e-6)
    assert x[400] - x[0] == pytest.approx(2 * orbit.advance["X"], abs=1e-6)
    assert len(orbit.film(3).axes) == 3
    assert "mount(" in orbit.animate(tmp_path / "orbit.html").read_text()
    along = of_branch(branch, 600)
    assert along.readings["F"][0] == branch[0].value
    assert along.readings["F"][-1] == branch[-1].value
    assert branch.animate(tmp_path / "branch.html").stat().st_size > 10_000


def test_a_film_on_paper_is_the_same_whether_it_follows_or_not(drawn_sleigh):
    """What is kept between pictures and what is drawn anew make one picture: the last, drawn alone, is the same."""
    scene = scene_of_motion(drawn_sleigh.at().simulate(2, phi_dot=2), np.linspace(0, 2, 101))
    *_, last = images_of(scene, 25, "sleigh", {})
    (alone,) = [Stage(scene, "sleigh").picture(100, "t = 2.000")]
    difference = np.abs(np.asarray(last, dtype=int) - np.asarray(alone, dtype=int))
    assert (difference > 60).mean() < 1e-3  # the path's joints, drawn twice


def test_mp4_hands_every_picture_to_ffmpeg(fluttering, tmp_path, monkeypatch):
    """A stand-in for ffmpeg counts what it is given; films want even numbers of pixels."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ParameterError, match="ffmpeg.*install it, or write a .gif or .html"):
        fluttering.animate(tmp_path / "x.mp4")
    program = tmp_path / "ffmpeg"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsize = sys.argv[sys.argv.index('-s') + 1]\n"
        "open(sys.argv[-1], 'w').write(f'{size} {len(sys.stdin.buffer.read())}')\n"
    )
    program.chmod(0o755)
    size, count = fluttering.animate(tmp_path / "x.mp4", seconds=2, fps=1).read_text().split()
    width, height = map(int, size.split("x"))
    assert (width % 2, height % 2) == (0, 0)
    assert int(count) == 2 * 3 * width * height
    program.write_text("#!/bin/sh\necho 'no such codec' >&2\nexit 1\n")
    with pytest.raises(ParameterError, match="ffmpeg cannot write.*no such codec"):
        fluttering.animate(tmp_path / "x.mp4", seconds=2, fps=1)


@pytest.mark.parametrize(
    ("words", "name", "options"),
    [
        (".gif, .html, .mp4", "x.avi", {}),
        ("seconds=0", "x.gif", {"seconds": 0}),
        ("fps=nan", "x.gif", {"fps": float("nan")}),
        ("at most 50", "x.gif", {"fps": 60}),
        ("less than two pictures", "x.gif", {"seconds": 0.01}),
        ("outside the motion", "x.gif", {"span": (0, 99)}),
        (r"cannot write \S*no/where.gif: No such file or directory$", "no/where.gif", {"seconds": 1, "fps": 2}),
    ],
)
def test_an_animation_refused(fluttering, tmp_path, words, name, options):
    with pytest.raises(ParameterError, match=words):
        fluttering.animate(tmp_path / name, **options)


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


def test_a_rod_is_one_smooth_curve_through_its_points():
    rod = pfaff.atlas.rod("skate", modes=4)
    scene = scene_of(rod.at(F=3), np.array([[0.1], [0.3], [0.2], [0], [0]]), np.zeros(1))
    axes = figure().add_subplot()
    draw_body(axes, scene, 0, "black")
    assert not rod.drawing.links
    (names,) = rod.drawing.curves
    (body,) = [each for each in axes.patches if isinstance(each, Polygon) and len(each.get_xy()) > 20]
    through = np.array([scene.points[name][0] for name in names])
    curve = smooth(through)
    assert np.array_equal(curve[::6], through)
    turns = np.diff(np.unwrap(np.arctan2(*np.diff(curve, axis=0).T[::-1])))
    assert np.abs(turns).max() < 0.02  # bars on hinges would turn by more at each
    near = np.linalg.norm(body.get_xy()[:, None] - curve, axis=2).min(axis=1)
    assert near.max() < 0.01
    picture = rod.at(F=3).plot()
    told = {text.get_text() for text in picture.axes[0].texts}
    assert told >= {"$X$", "$F$"}
    assert "$a_{1}$" not in told
    with pytest.raises(StatementError, match="points of a curve=1"):
        pfaff.Drawing(points={"a": (0, 0)}, curves=[["a"]])


def test_outlines_are_closed_curves_through_their_points(sleigh):
    x, y, _ = sleigh.coordinates
    rim = {f"rim{k}": (x + dx, y + dy) for k, (dx, dy) in enumerate([(0, 0), (1, 0), (0, 1)])}
    drawn = replace(sleigh, drawing=pfaff.Drawing(points=rim, outlines=[list(rim)]))
    axes = figure().add_subplot()
    draw_body(axes, scene_of(drawn.at(), np.zeros((3, 1)), np.zeros(1)), 0, "black")
    assert axes.patches[0].get_xy().tolist() == [[0, 0], [1, 0], [0, 1], [0, 0]]
    with pytest.raises(StatementError, match="no point 'rin'"):
        pfaff.Drawing(points={"rim": (0, 0)}, outlines=[["rim", "rin"]])


def test_titles_fit_the_width_and_legends_leave_the_curves_alone(fluttering):
    fig = replace(fluttering, ended=Status(Outcome.FAILED, "the constraints lose rank there, " * 8)).plot()
    fig.draw_without_rendering()
    box = fig._suptitle.get_window_extent()
    assert 0 < box.x0 < box.x1 < fig.bbox.x1
    for axes in fig.axes:
        assert axes.get_legend() is None or not axes.get_legend().get_window_extent().overlaps(axes.bbox)


def test_a_curve_upon_another_is_dashed(fluttering):
    n = len(fluttering.names)
    same = fluttering.y.copy()
    same[1], same[n + 1] = same[0], same[n]
    lines = [axes.lines[:3] for axes in replace(fluttering, y=same, case=None).plot().axes[:2]]
    assert [[line.get_linestyle() for line in panel] for panel in lines] == [["-", "--", "-"]] * 2


def test_names_choose_what_is_drawn(fluttering):
    histories = fluttering.plot("theta2").axes[0]
    assert [line.get_label() for line in histories.lines] == [r"$\theta_{2}$"]
    with pytest.raises(ParameterError, match="'theta3'"):
        fluttering.plot("theta3")


def test_a_narrow_path_is_enlarged_and_says_so(drawn_sleigh):
    wide, narrow = (drawn_sleigh.at().simulate(2, phi_dot=w, x_dot=1) for w in (1.0, 0.01))
    assert [axes.get_xlabel() for axes in wide.plot().axes].count("x") == 1
    assert any("(enlarged)" in axes.get_ylabel() for axes in narrow.plot().axes)


def test_every_kind_of_special_point_has_its_mark():
    from matplotlib.figure import Figure

    from pfaff.continuation.kinds import MULTIPLE, Kind
    from pfaff.continuation.trail import Trail
    from pfaff.draw.special import mark_special

    names = [each.value for each in Kind] + [MULTIPLE + each for each in Kind]
    trail = Trail()
    trail.special = tuple(SimpleNamespace(kind=name, value=k) for k, name in enumerate(names))
    axes = Figure().add_subplot()
    mark_special(axes, trail, lambda special: 2 * special.value)
    lines = axes.get_lines()
    assert [line.get_label() for line in lines] == names
    assert [line.get_ydata().tolist() for line in lines] == [[2 * k] for k in range(len(names))]
    assert all(line.get_marker() not in ("", "None") for line in lines)
    assert {each.codimension for each in Kind} == {1, 2}


def test_cycle_diagrams_are_true_between_their_points(skate):
    """The line passes through orbits that were not followed, turns dashed at the folds, starts at the Hopf point."""
    hopf = skate.at(**XI_HAT, c_i=1.5).hopf()
    branch = hopf.orbits(to=90)
    periods, amplitudes = branch.plot().axes
    curve = np.concatenate([line.get_xydata() for line in periods.lines if line.get_linestyle() in ("-", "--")])
    for value in (78.1, 83.3, 88.33):
        for orbit in branch.at(value):
            nearest = np.hypot((curve[:, 0] - value) / 14, (curve[:, 1] - orbit.period) / 2).min()
            assert nearest < 4e-3
    (dashed,) = [line.get_xydata() for line in periods.lines if line.get_linestyle() == "--" and len(line.get_xdata())]
    folds = [(each.value, each.period) for each in branch.of_kind("fold")]
    np.testing.assert_allclose(sorted([tuple(dashed[0]), tuple(dashed[-1])]), sorted(folds), rtol=1e-12)
    texts = [text.get_text() for text in amplitudes.get_legend().get_texts()]
    assert {"stable", "unstable", "rest state", "hopf"} <= set(texts)
    assert branch.born == hopf.value


def test_branches_of_equilibria_are_true_between_their_points():
    """The line of a branch with two folds passes through equilibria that were not followed, to less than its width."""
    x, mu = sm.symbols("x mu")
    branch = pfaff.Ode({x: mu - x**3 + 3 * x}, parameters={mu: -4.0}).at().branch("mu", 4, start={"x": -2.3})
    curve = np.concatenate(
        [line.get_xydata() for line in branch.plot("x").axes[0].lines if line.get_marker() == "None"]
    )
    for value in np.linspace(-3.9, 3.9, 23):
        for point in branch.at(value):
            assert np.hypot((curve[:, 0] - value) / 8, (curve[:, 1] - point["x"]) / 4.6).min() < 4e-3
    away = np.abs(curve[:, 0] - (curve[:, 1] ** 3 - 3 * curve[:, 1]))
    assert away.max() < 8e-3


def test_two_special_points_of_one_step_keep_their_order():
    axes = figure(4, 3).add_subplot()
    draw_stretches(axes, [(0, 0), (3, 3), (4, 4)], [True] * 3, [(1, 1), (2, 2)], [1, 1])
    assert (np.diff(axes.lines[0].get_xdata()) > 0).all()


def test_eigenvalues_are_drawn_where_they_meet(skate):
    """Two frequencies meet at the undamped flutter load; growth rates leave zero there like square roots."""
    case = skate.at(**XI_HAT)
    axes = case.branch("F", 110).plot().axes[0]
    curve = max((line.get_xydata() for line in axes.lines if len(line.get_xdata()) > 2), key=lambda xy: xy[:, 1].max())
    load = float(case.flutter())
    beyond = curve[(curve[:, 0] > load) & (curve[:, 0] < load + 1)]
    assert len(beyond) > 10
    assert beyond[0, 0] - load < 1e-4
    for at, growth in beyond[::5]:
        assert growth == pytest.approx(case.spectrum(F=at).values.real.max(), rel=1e-6, abs=1e-6)


def test_the_rest_state_is_on_the_cycle_diagram_with_its_stability(skate, tmp_path):
    """Solid up to the Hopf point, dashed beyond; a branch that was saved still knows it."""
    case = skate.at(**XI_HAT, c_i=1.5)
    branch = case.hopf().orbits(to=90, points=8)
    again = pfaff.load_branch(branch.save(tmp_path / "branch.nc"), case)
    assert again.born == branch.born
    lines = [line for line in again.plot().axes[1].lines if len(line.get_xdata()) and not np.any(line.get_ydata())]
    styles = {line.get_linestyle(): line.get_xdata() for line in lines}
    (solid, dashed) = styles["-"], styles["--"]
    assert solid.min() < branch.born
    assert solid.max() <= branch.born * (1 + 1e-9)
    assert dashed.min() >= branch.born * (1 - 1e-9)
    assert dashed.max() >= branch.values.max()


def test_a_special_point_belongs_where_it_is_the_least_detour():
    points = np.array([(0, 0), (1, 1), (2, 0), (1, -1), (0, 0.5)])
    assert places_of(points, np.array([(0.5, 0.6), (1.6, -0.4), (0.4, -0.2)])) == [1, 3, 4]


def test_critical_loads_choose_a_range_that_shows_them(skate):
    fig = skate.at(**XI_HAT).critical().plot()
    assert 95.41 < fig.axes[0].get_xlim()[1] < 140


def test_a_line_goes_nowhere_beyond_its_points():
    """Values that are constant but for rounding add nothing to the chord by which a smooth line is parametrised."""
    from pfaff.draw.diagram import smooth

    h = np.array([1, 1.02, 1.1, 1.3, 1.7, 2.4, 3.5, 5])
    x, y = smooth(np.column_stack([h, 0.62 + 1e-16 * np.array([0, 3, -2, 1, 3, 0, -4, 2])]))
    assert x.min() == 1
    assert (np.diff(x) > 0).all()
    np.testing.assert_allclose(y, 0.62)


@pytest.fixture(scope="module")
def damped_skate(skate) -> pfaff.Case:
    return skate.at(d=1 / 2, M_L=15, I_L=15, k1=50, c_i=1.5)


def tick_labels_not_drawn(axes) -> list[Text]:
    """Those of ticks outside the view."""
    found = []
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not (axes.axison and low <= tick.get_loc() <= high):
                found += [tick.label1, tick.label2]
        if not axes.axison:
            found.append(axis.label)
    return found


def texts_that_meet(fig) -> list[tuple[str, str]]:
    """Pairs of texts whose boxes overlap, and texts that leave the figure."""
    fig.draw_without_rendering()
    hidden = {id(text) for axes in fig.axes for text in tick_labels_not_drawn(axes)}
    texts = [t for t in fig.findobj(Text) if t.get_visible() and t.get_text().strip() and id(t) not in hidden]
    boxes = [(text.get_text(), text.get_window_extent().padded(-1)) for text in texts]
    cut = [(name, "the edge") for name, box in boxes if (box.min < -1).any() or (box.max > fig.bbox.max + 1).any()]
    return cut + [(a, b) for (a, one), (b, other) in itertools.combinations(boxes, 2) if one.overlaps(other)]


@pytest.mark.parametrize(
    "make",
    [
        lambda case: case.hopf().plot(),
        lambda case: case.spectrum(F=80).plot(),
        lambda case: case.critical().plot(),
        lambda case: case.plot(),
        lambda case: case.at(F=84).simulate(30, theta1_dot=0.01).plot(),
    ],
    ids=["hopf", "spectrum", "critical", "structure", "motion"],
)
def test_no_text_covers_another_or_is_cut(damped_skate, make):
    assert texts_that_meet(make(damped_skate)) == []


@pytest.mark.parametrize("name", ["chaplygin_sleigh", "snakeboard", "rolling_disc", "whipple_bicycle", "column"])
def test_names_of_coordinates_stand_apart(name):
    assert texts_that_meet(getattr(pfaff.atlas, name)().plot()) == []


def test_an_angle_is_an_arc_from_where_it_is_zero():
    """The heading of the sleigh is measured from the axis x."""
    axes = pfaff.atlas.chaplygin_sleigh().plot().axes[0]
    (arc,) = [line for line in axes.lines if len(line.get_xdata()) == 32]
    (reference,) = [line for line in axes.lines if line.get_linestyle() == ":"]
    (x, end), (y, across) = reference.get_xdata(), reference.get_ydata()
    assert y == pytest.approx(across, abs=1e-6)
    angles = np.arctan2(arc.get_ydata() - y, arc.get_xdata() - x)
    assert angles[0] == pytest.approx(0, abs=1e-6)
    assert 0.35 < angles[-1] < 0.4  # the picture has it at 0.4, and the arrow takes the last step
    assert end > x


def test_a_steering_angle_is_an_arc_at_its_wheel():
    """All four angles of the snakeboard have one, though two of them turn no bar."""
    axes = pfaff.atlas.snakeboard().plot().axes[0]
    assert len([line for line in axes.lines if line.get_linestyle() == ":"]) == 4


def test_reactions_have_the_names_of_their_constraints(skate):
    named = replace(skate, nonholonomic_constraints={"blade": skate.nonholonomic_constraints[0]})
    motion = named.at(**XI_HAT, c_i=1.5, F=84).simulate(1, theta1_dot=0.1)
    (reactions,) = [axes for axes in motion.plot().axes if axes.get_ylabel() == "reaction"]
    assert [line.get_label() for line in reactions.lines] == [formula("p_blade")]
    with pytest.raises(pfaff.PfaffError, match="violate constraint 'blade'"):
        motion.case.simulate(1, theta1_dot=0.1, theta2_dot=0.1, X_dot=1)


def test_maps_name_their_axes_as_mathematics(damped_skate):
    study = damped_skate.sweep({"c_i": [0.5, 1.0, 1.5], "M_L": [10.0, 15.0, 20.0]}).run()
    fig = study.plot()
    assert [fig.axes[0].get_xlabel(), fig.axes[0].get_ylabel(), fig.axes[1].get_ylabel()] == [
        "$c_{i}$",
        "$M_{L}$",
        "flutter load",
    ]
    assert texts_that_meet(fig) == []


def test_a_film_for_the_player_opens_no_matplotlib(tmp_path):
    """It takes half a second to open, and the film some milliseconds to write."""
    program = (
        "import sys, pfaff\n"
        "motion = pfaff.atlas.pendulum().at().simulate(1, Q=0.1)\n"
        f"motion.animate({str(tmp_path / 'film.html')!r})\n"
        "assert not [name for name in sys.modules if name.startswith('matplotlib')]\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_small_numbers_along_an_axis_do_not_meet():
    """A portrait as it stands on the page of a motion."""
    fig = figure(3.8, 2.9)
    axes = fig.add_subplot()
    axes.plot([-0.0006, 0.0024], [0, 1])
    label(axes, "coordinate", "velocity")
    assert not texts_that_meet(fig)


@pytest.fixture(scope="module")
def seven_bars() -> pfaff.Case:
    """Their hinges decay at rates up to 1.8e5, and flutter and divergence loads are a thousandfold apart."""
    return pfaff.atlas.column(7).at(c_i=0.5)


def test_fast_decay_does_not_press_the_spectrum_into_a_line(seven_bars):
    spectrum = seven_bars.spectrum(F=5)
    axes = spectrum.plot().axes[0]
    low, high = axes.get_xlim()
    assert spectrum.values.real.min() < -1e5 < -10 < low
    assert high > spectrum.values.real.max()
    assert "others decay faster, by 28.8 to 1.84e+05" in [text.get_text() for text in axes.texts]


def test_loads_far_apart_are_both_seen(seven_bars):
    top, bottom = seven_bars.critical().plot().axes
    assert (top.get_xscale(), bottom.get_xscale(), top.get_yscale()) == ("log", "log", "symlog")
    left, right = top.get_xlim()
    assert left < 2.2770838629 < 2322.652 < right


def test_of_many_states_no_more_are_drawn_than_one_reads(seven_bars):
    growth = seven_bars.hopf().plot().axes[1]
    drawn = [line.get_label() for line in growth.lines if line.get_label().startswith("$")]
    assert drawn == [formula(f"theta{k}") for k in range(2, 8)]
    assert growth.get_ylabel() == "amplitude predicted (6 of 14 states)"


def test_a_window_that_follows_is_printed_once_and_its_numbers_go_along(drawn_sleigh, monkeypatch):
    motion = drawn_sleigh.at().simulate(20, x_dot=1, phi_dot=0.5)
    stage = Stage(seen(of_motion(motion, 0.0, 20.0, 101).scene), "sleigh")
    prints, texts = [], []
    monkeypatch.setattr(stage.canvas, "draw", lambda: prints.append(FigureCanvasAgg.draw(stage.canvas)))
    monkeypatch.setattr(ImageDraw.ImageDraw, "text", lambda pen, at, text, *_, **__: texts.append(text))
    for at in (0, 50, 100):
        texts.clear()
        stage.picture(at, "")
        (left, _), (width, _) = stage.view.corners[at], stage.view.size
        across = [float(text.replace("\u2212", "-")) for text in texts][: len(stage.ruler.ticks(0, at))]
        assert len(across) >= 3
        assert left <= min(across) < max(across) <= left + width
    assert len(prints) == 1


def legend_words(axes) -> set[str]:
    return {text.get_text() for text in axes.get_legend().get_texts()}


def test_multipliers_are_outside_if_the_orbit_says_so():
    """What is 1 by structure may be a little more; what is unstable may be hardly more."""
    t = np.linspace(0, 1, 9)
    x = np.array([np.cos(2 * np.pi * t), np.sin(2 * np.pi * t)])
    told = type("Told", (SimpleNamespace,), {"__getitem__": lambda self, name: x["ab".index(name)]})
    orbit = told(t=t, states=("a", "b"), title="")
    stable = draw_orbit(orbit, np.array([1 + 1e-4, 0.3]), 0).axes[2]
    assert legend_words(stable) == {"inside or on"}
    unstable = draw_orbit(orbit, np.array([1 + 1e-7, 1 - 1e-9]), 1).axes[2]
    assert legend_words(unstable) == {"inside or on", "outside"}
    assert unstable.lines[-1].get_xdata() == [1 + 1e-7]


def test_a_picture_of_a_path_calls_unstable_what_its_spectra_do():
    """Slow growth beside a stiff mode: x'' + (1 − F) x = 0 with y'' + 10¹⁸ y = 0."""
    x, y = sm.physics.mechanics.dynamicsymbols("x y")
    F, t = sm.Symbol("F", real=True), sm.physics.mechanics.dynamicsymbols._t
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    case = pfaff.System([x, y], kinetic, ((1 - F) * x**2 + 10**18 * y**2) / 2, parameters={F: 0}, load=F).at()
    assert not case.at(F=1.9).spectrum().stable
    growth = draw_spectrum_path(case, "F", 2.0, low=1.5).axes[0]
    red = next(line for line in growth.lines if line.get_color() == VERMILION)
    assert len(red.get_xdata()) == 801
    assert red.get_ydata().min() > 0.7


def test_legends_name_lines_then_marks_then_styles():
    """Lines by their colours, whether they begin dashed or not; other styles stay as they are."""
    x, y, mu = sm.symbols("x y mu", real=True)
    case = pfaff.ode({x: mu + 2 * x - x**3, y: x / 10 - y}, {mu: -0.2}, load=mu).at()
    axes = case.branch(to=2, start={"x": 0.1, "y": 0.01}).plot().axes[0]
    legend = axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["$x$", "$y$", "fold", "stable", "unstable"]
    assert [handle.get_linestyle() for handle in legend.legend_handles] == ["-", "-", "None", "-", "--"]
