"""Films in a browser: they play, turn and stop, say what they show, and fetch nothing."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.draw.footage import of_motion
from pfaff.draw.player import element
from pfaff.report.document import Document, Entry, Image, Section
from pfaff.report.html import page as report_page

playwright = pytest.importorskip("playwright.sync_api", reason="the extra test is not installed: no playwright")
CHROMIUM = shutil.which("chromium")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="the program chromium is not installed")
SMOOTH = 10  # pictures a second at least, on a machine that does other things, too


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, "--disable-component-update"])
        yield found
        found.close()


@pytest.fixture
def opened(browser):
    """A function that opens a file; what is fetched or goes wrong there fails the test."""
    faults: list[str] = []
    pages = []

    def page(path: Path, **options: Any) -> Any:
        shown = browser.new_page(viewport={"width": options.pop("width", 900), "height": 800}, **options)
        pages.append(shown)
        shown.on("pageerror", lambda error: faults.append(str(error)))
        shown.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        shown.on("request", lambda request: _local(request.url) or faults.append(request.url))
        shown.goto(path.as_uri())
        return shown

    yield page
    for shown in pages:
        shown.close()
    assert faults == []


def _local(url: str) -> bool:
    return url.startswith(("file:", "data:", "about:", "blob:"))


@pytest.fixture(scope="module")
def films(tmp_path_factory, skate) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("films")
    disc = pfaff.atlas.rolling_disc().at().simulate(20, theta=0.3, phi_dot=0.9, psi_dot=0.4)
    column = skate.at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5, F=84).simulate(60, theta1_dot=0.01)
    return {
        "space": disc.animate(folder / "disc.html"),
        "plane": column.animate(folder / "column.html"),
    }


PLAYER = "document.getElementById('film').player"


def read(page: Any, what: str) -> Any:
    return page.evaluate(f"{PLAYER}.{what}")


def picture(page: Any) -> str:
    """The pixels of the stage."""
    return page.evaluate("document.querySelector('canvas.stage').toDataURL()")


@pytest.mark.parametrize("kind", ["space", "plane"])
def test_a_film_plays_at_the_rate_of_the_screen(opened, films, kind):
    page = opened(films[kind])
    assert read(page, "playing")
    page.wait_for_timeout(1500)
    assert read(page, "time") > 0
    assert read(page, "rate") > SMOOTH
    page.get_by_role("button", name="Pause").click()
    stopped = read(page, "time")
    page.wait_for_timeout(200)
    assert read(page, "time") == stopped
    clock, status = page.locator(".clock").inner_text(), page.get_by_role("status").text_content()
    shown, said = (float(re.search(r"t = (-?[\d.]+)", text)[1]) for text in (clock, status))
    assert shown == pytest.approx(said, abs=0.06)  # a digit after the point, and two or more


def test_the_scene_turns_by_mouse_and_keys(opened, films):
    page = opened(films["space"], reduced_motion="reduce")
    assert not read(page, "playing")
    before, yaw = picture(page), read(page, "camera.yaw")
    page.mouse.move(300, 200)
    page.mouse.down()
    page.mouse.move(400, 220, steps=5)
    page.mouse.up()
    assert read(page, "camera.yaw") == pytest.approx(yaw - 0.8, abs=0.05)
    assert picture(page) != before
    page.locator("canvas.stage").focus()
    page.keyboard.press("ArrowRight")
    assert read(page, "camera.yaw") == pytest.approx(yaw - 0.7, abs=0.05)
    page.keyboard.press("Home")
    assert read(page, "camera.yaw") == yaw
    assert picture(page) == before


def test_time_is_sought_by_slider_histories_and_program(opened, films):
    page = opened(films["plane"], reduced_motion="reduce")
    page.evaluate(f"{PLAYER}.seek(30)")
    assert read(page, "time") == pytest.approx(30, abs=0.05)
    box = page.locator("canvas.histories").bounding_box()
    page.mouse.click(box["x"] + 46 + 0.25 * (box["width"] - 52), box["y"] + 40)
    assert read(page, "time") == pytest.approx(15, abs=0.3)
    page.locator("input[type=range]").fill("1000")
    assert read(page, "time") == pytest.approx(60, abs=0.01)
    page.locator("canvas.stage").focus()
    page.keyboard.press("Space")
    assert read(page, "playing")
    page.evaluate(f"{PLAYER}.loop = false; {PLAYER}.go(0.9999)")
    page.wait_for_timeout(300)
    assert (read(page, "playing"), read(page, "fraction")) == (False, 1)


def test_arrows_move_time_where_there_is_nothing_to_turn(opened, films):
    page = opened(films["plane"], reduced_motion="reduce")
    stage, curves = page.locator("canvas.stage"), page.locator("canvas.histories")
    assert (stage.get_attribute("role"), curves.get_attribute("role")) == ("application", "slider")
    stage.focus()
    page.keyboard.press("ArrowRight")
    assert read(page, "fraction") == pytest.approx(0.02)
    assert read(page, "camera.pan") == [0, 0]
    page.keyboard.press("Shift+ArrowRight")
    assert read(page, "fraction") == pytest.approx(0.02)
    assert read(page, "camera.pan") == [-20, 0]
    curves.focus()
    page.keyboard.press("End")
    assert float(curves.get_attribute("aria-valuenow")) == 1000
    page.keyboard.press("ArrowLeft")
    assert read(page, "fraction") == pytest.approx(0.98)
    space = opened(films["space"], reduced_motion="reduce")
    space.locator("canvas.stage").focus()
    space.keyboard.press("Shift+ArrowRight")
    assert read(space, "fraction") == pytest.approx(0.02)


def test_keys_are_told(opened, films):
    page = opened(films["space"], reduced_motion="reduce")
    keys = page.locator("dl.keys")
    assert page.locator("canvas.stage").get_attribute("aria-describedby") == keys.get_attribute("id")
    assert not keys.is_visible()
    page.get_by_role("button", name="Keys").click()
    assert "turn the picture" in keys.inner_text()
    assert "move the picture" not in keys.inner_text()


def test_a_frame_is_as_high_as_its_film(opened, films, tmp_path):
    film = escape(films["plane"].read_text(encoding="utf-8"), quote=True)
    (tmp_path / "around.html").write_text(f'<iframe style="width: 90%; height: 9px" srcdoc="{film}"></iframe>', "utf-8")
    page = opened(tmp_path / "around.html", width=500)
    inside = page.frame_locator("iframe").locator("body")
    inside.locator("canvas.stage").wait_for()
    page.wait_for_function("document.querySelector('iframe').clientHeight > 100")
    frame = page.locator("iframe").evaluate("(frame) => frame.clientHeight")
    assert frame == inside.evaluate("(body) => body.offsetHeight")


@pytest.mark.parametrize(("scheme", "paper"), [("light", [255, 255, 255]), ("dark", [20, 23, 26])])
def test_a_film_is_light_or_dark_and_fits_a_phone(opened, films, scheme, paper):
    page = opened(films["space"], color_scheme=scheme, width=360)
    pixel = page.evaluate(
        "Array.from(document.querySelector('canvas.stage').getContext('2d').getImageData(2,2,1,1).data)"
    )
    assert pixel[:3] == paper
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    label = page.locator("canvas.stage").get_attribute("aria-label")
    assert label.startswith("Film of rolling disc from t = 0 to 20")


def test_another_scene_takes_the_place_of_one(opened, films):
    """What a studio does while parameters change: the view stays, the picture is that of the new scene."""
    page = opened(films["space"], reduced_motion="reduce")
    other = films["space"].read_text(encoding="utf-8")
    data = other[
        other.index('getElementById("film"), ') + len('getElementById("film"), ') : other.index(");\n</script>")
    ]
    page.evaluate(f"{PLAYER}.camera.turn(0.5, 0)")
    yaw = read(page, "camera.yaw")
    page.evaluate(f"{PLAYER}.update({{...{data}, seconds: 3}})")
    assert read(page, "camera.yaw") == yaw
    assert read(page, "scene.seconds") == 3
    page.evaluate(f"{PLAYER}.destroy()")
    assert page.locator("canvas").count() == 0


@pytest.fixture(scope="module")
def report(tmp_path_factory, films) -> Path:
    """A small report: a claim that differs with its erratum, one that is reproduced, and a film."""
    film = Image(films["plane"], "Film of Figure 1", "The motion at F_cr.")
    differs = Entry(
        "flutter load F_cr", "Eq. (1)", verdict="differs", good=False, see={"erratum on Eq. (1)": "erratum-1"}
    )
    holds = Entry("the angle θ1 is small", "Eq. (2)", verdict="reproduced", formula=r"\left(\frac{a}{b}\right)")
    erratum = Entry("Eq. (1)", verdict="shown", place="erratum-1", see={"Eq. (1), flutter load F_cr": differs.anchor})
    sections = [Section("Loads", [differs, holds], [film]), Section("Errata", [erratum])]
    path = tmp_path_factory.mktemp("report") / "index.html"
    path.write_text(report_page(Document("A paper", "About c_i.", {"results": 2}, sections)), encoding="utf-8")
    return path


def visible(page: Any) -> list[str]:
    return [each.inner_text().splitlines()[1] for each in page.locator("article:visible").all()]


def test_a_report_is_filtered_and_linked(opened, report):
    page = opened(report, width=1200)
    assert len(visible(page)) == 3
    page.get_by_label("Show").select_option("differs")
    assert page.locator("article:visible").count() == 1
    assert not page.locator("figure").is_visible()
    page.get_by_role("link", name="erratum on Eq. (1)").click()  # hidden by the filter: shown again, and reached
    assert page.evaluate("document.querySelector(':target').id") == "erratum-1"
    page.locator("article:visible").nth(2).wait_for()  # the page hears of the link a moment after it is followed
    assert page.locator("article:visible").count() == 3
    assert page.locator("h3 sub").all_inner_texts() == ["cr", "1"]
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    assert page.get_by_role("navigation").bounding_box()["y"] == 0  # contents stay in view


def test_a_report_plays_its_films(opened, report):
    page = opened(report, width=1200)
    page.get_by_title("Film of Figure 1").scroll_into_view_if_needed()
    film = page.frame_locator("iframe")
    before = film.locator(".pfaff-player").get_attribute("data-time")
    page.wait_for_timeout(600)
    assert film.locator(".pfaff-player").get_attribute("data-time") != before


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_fits_screens_and_eyes(opened, report, width, scheme):
    page = opened(report, width=width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    light = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light == (scheme == "light")


def test_films_on_one_page_follow_its_theme(opened, films, tmp_path):
    """As on the pages of the documentation: each in an element of its own, dark where the page is."""
    motion = pfaff.atlas.pendulum().at().simulate(5, Q=1)
    data = of_motion(motion, 0, 5, 100).data(5)
    path = tmp_path / "gallery.html"
    text = f"<!doctype html><body data-theme='dark'>{element(data, 'one')}{element(data, 'two')}</body>"
    path.write_text(text, encoding="utf-8")
    page = opened(path)
    assert page.locator(".pfaff-player").count() == 2
    assert page.evaluate("document.getElementById('two').player.colours.paper") == "#14171a"
    page.evaluate("document.body.dataset.theme = 'light'")
    page.wait_for_timeout(100)
    assert page.evaluate("document.getElementById('two').player.colours.paper") == "#ffffff"


WRITTEN = """
window.written = {fillText: [], strokeText: []};
for (const name of Object.keys(written)) {
  const own = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...given) {
    written[name].push(given[0]);
    return own.apply(this, given);
  };
}
"""


def moved(drawing: Any) -> pfaff.System:
    x, z = dynamicsymbols("x z")
    m = sm.Symbol("m", positive=True)
    speeds = [each.diff(dynamicsymbols._t) for each in (x, z)]
    return pfaff.System(
        [x, z], kinetic=m * (speeds[0] ** 2 + speeds[1] ** 2) / 2, drawing=drawing(x), parameters={m: 1}
    )


def test_numbers_keep_their_minus_and_rounding_is_read_as_zero(browser, tmp_path):
    """A line of the grid may not hide a minus, and 1e-14 beside 1 is nothing that moves."""
    system = moved(lambda x: pfaff.Drawing(points={"left": (-2, 0), "end": (x, 0)}, links=[("left", "end")]))
    film = system.at().simulate(1, x=-1, x_dot=2, z=1e-14).animate(tmp_path / "film.html")
    page = browser.new_page(reduced_motion="reduce")
    page.add_init_script(WRITTEN)
    page.goto(film.as_uri())
    texts, underlaid = page.evaluate("[written.fillText, written.strokeText]")
    page.close()
    assert "z = 0" in texts
    assert {"\u22121.0", "\u22122.0"} <= set(underlaid)
    assert not [text for text in underlaid if "-" in text]


def test_a_ball_hides_what_lies_behind_it_and_no_more(opened, tmp_path):
    """A square around a ball is drawn in part before it and in part after it."""
    corners = {name: (*place, 0) for name, place in zip("abcd", ((-2, -2), (2, -2), (2, 2), (-2, 2)), strict=True)}
    system = moved(
        lambda x: pfaff.Drawing(points=corners | {"ball": (x, 0, 0)}, outlines=[[*corners]], circles={"ball": 1})
    )
    page = opened(system.at().simulate(1, x_dot=0.01).animate(tmp_path / "film.html"), reduced_motion="reduce")
    parts = read(page, "painter.parts.map((part) => [part.depth, String(part.draw).includes('arc(')])")
    ball = next(depth for depth, round_ in parts if round_)
    pieces = [depth for depth, round_ in parts if not round_]
    assert sum(depth > ball for depth in pieces) > 5
    assert sum(depth < ball for depth in pieces) > 5
