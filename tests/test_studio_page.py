"""The studio in a browser: one server, one page, what a hand does and what an eye sees."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sympy as sm

import pfaff
from conftest import XI_HAT
from pfaff.studio import open_studio

playwright = pytest.importorskip("playwright.sync_api", reason="the extra test is not installed: no playwright")
for needed in ("starlette", "uvicorn", "websockets"):
    pytest.importorskip(needed, reason="the extra studio is not installed")

CHROMIUM = shutil.which("chromium")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="the program chromium is not installed")
PATIENCE = 60.0  # seconds, on a machine that does other things, too
END = """(() => {
  const { player } = studio.cards.structure;
  const box = player.stage.getBoundingClientRect();
  const [x, y, unit] = player.camera.see(player.painter.at.joint2);
  return [box.left + x, box.top + y, unit];
})()"""
UNNAMED = """[...document.querySelectorAll("input, select, button")]
  .filter((each) => !each.closest("[hidden]"))
  .filter((each) => !(each.labels?.length || each.getAttribute("aria-label") || each.textContent.trim()))
  .map((each) => each.outerHTML)"""
WIRE = """
;const model = { on: (kind, hear) => { window.heard = hear; }, send: ({ text }) => window.told(text) };
window.widget.render({ model, el: document.getElementById("cell") });"""
TINY = """async () => {
  const { Parameters } = await import("/web/parameters.js");
  const about = { name: "I", letters: "I", text: "1e-14", number: 1e-14, low: 0, high: 2e-14, floor: 0, load: false };
  const heard = [];
  const room = document.createElement("div");
  const sliders = new Parameters(room, { parameters: [about] }, (values) => heard.push(values.I));
  sliders.rows.I.slider.value = 1.5e-14;
  sliders.rows.I.slider.dispatchEvent(new Event("input"));
  return heard[0];
}"""
TOKEN = "a-token-for-tests-which-stays-the-same"


@pytest.fixture(scope="module")
def case(skate) -> Any:
    return skate.at(**XI_HAT, c_i=1.5, F=80)


@pytest.fixture(scope="module")
def serving(case) -> Iterator[dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PFAFF_STUDIO_TOKEN", TOKEN)
        made = {"studio": open_studio(case, browser=False, wait=False)}
        yield made
        made["studio"].stop()


@pytest.fixture(scope="module")
def faults() -> list[str]:
    return []


@pytest.fixture(scope="module")
def page(serving, faults) -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, "--disable-component-update"])
        context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        shown = context.new_page()
        shown.on("pageerror", lambda error: faults.append(str(error)))
        shown.on("request", lambda request: _ours(request.url) or faults.append(request.url))
        shown.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        shown.goto(serving["studio"].address)
        until(lambda: "flutter at F = 76.3379" in shown.locator("#card-curves").inner_text())
        yield shown
        browser.close()


@pytest.fixture(autouse=True)
def nothing_goes_wrong(faults):
    yield
    assert faults == []


def _ours(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:"))


def until(holds: Any) -> Any:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = holds()
        if found:
            return found
        time.sleep(0.03)
    raise AssertionError("it did not happen")


def spectrum(page: Any) -> np.ndarray:
    items = page.evaluate(
        "studio.cards.spectrum.plot.items.filter((each) => each.data).map((each) => [each.x, each.y])"
    )
    return np.sort_complex(np.array([complex(*each) for each in items]))


def lines(page: Any) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(page.locator("#card-lines code").text_content(), names)
    return names


def test_a_slider_moves_the_spectrum(page, case):
    before = spectrum(page)
    assert before == pytest.approx(np.sort_complex(case.spectrum().values))
    page.locator("#slider-c_i").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    value = float(page.locator("#value-c_i").input_value())
    assert value > 1.5
    expected = np.sort_complex(case.at(c_i=value).spectrum().values)
    until(lambda: np.allclose(spectrum(page), expected, rtol=1e-12))
    assert not np.allclose(before, expected)


def test_a_slider_keeps_the_digits_of_tiny_numbers(page):
    assert float(page.evaluate(TINY)) == pytest.approx(1.5e-14, rel=1e-3, abs=0)


def test_exact_text_is_taken_and_nonsense_is_answered(page, case):
    page.locator("#value-c_i").fill("sqrt(2)")
    page.keyboard.press("Enter")
    expected = np.sort_complex(case.at(c_i="sqrt(2)").spectrum().values)
    until(lambda: np.allclose(spectrum(page), expected, rtol=1e-12))
    until(lambda: "c_i='sqrt(2)'" in page.locator("#card-lines code").text_content())
    until(lambda: abs(float(page.locator("#slider-c_i").input_value()) - 2**0.5) < 1e-6)
    page.locator("#value-c_i").fill("import os")
    page.keyboard.press("Enter")
    until(lambda: "is not a number" in page.locator("#card-spectrum .says").text_content())
    assert page.locator("#value-c_i").get_attribute("aria-invalid") == "true"
    until(lambda: "is not a number" in page.locator("#card-curves .says").text_content())
    page.locator("#value-c_i").fill("sqrt(2)")  # what was shown before is shown again, and no card goes on complaining
    page.keyboard.press("Enter")
    until(lambda: page.locator(".card.failed, .card.stale").count() == 0)
    assert "is not a number" not in "".join(page.locator(".card .says").all_text_contents())
    page.locator("#value-c_i").fill("3/2")
    page.keyboard.press("Enter")
    until(lambda: "unstable" in page.locator("#card-spectrum .says").text_content())


def test_a_branch_grows_and_its_fold_is_looked_at(page, capsys):
    page.locator("#grow-to").fill("89")
    page.get_by_role("button", name="Grow", exact=True).click()
    until(lambda: page.evaluate("(studio.cards.diagram.objects[0]?.points.length ?? 0) > 3"))  # point by point
    until(lambda: "2 × fold" in page.locator("#card-diagram .says").text_content())
    page.locator("#card-diagram .points button", has_text="fold").first.click()
    until(lambda: "fold at F = 88.37" in page.locator("#card-structure .says").text_content())
    page.locator("#card-structure").scroll_into_view_if_needed()
    assert page.evaluate("studio.cards.spectrum.kind")  # multipliers on the unit circle
    before = page.evaluate("studio.cards.structure.player.time")
    page.evaluate("studio.cards.structure.player.play()")
    until(lambda: page.evaluate("studio.cards.structure.player.time") != before)
    page.evaluate("studio.cards.structure.player.pause()")
    until(lambda: "point = cycles.special[0]" in page.locator("#card-lines code").text_content())
    found = lines(page)
    capsys.readouterr()
    shown = np.array(
        page.evaluate("studio.cards.spectrum.plot.items.filter((each) => each.data).map((each) => each.x)")
    )
    # At a fold two of them meet at 1, which rounding parts by its root: their polynomial is what is known.
    assert np.poly(shown) == pytest.approx(np.poly(found["point"].multipliers.real), abs=1e-8)
    assert found["cycles"].status in page.locator("#card-diagram canvas").get_attribute("aria-label")


def test_the_same_address_gives_the_same_view(page):
    until(lambda: "grow=cycles:F:89" in page.url and "selected=special" in page.url)
    address, text = page.url, page.locator("#card-lines code").text_content()
    page.reload()
    until(lambda: page.locator("#card-diagram .points button").count() == 3)
    until(lambda: page.locator("#card-lines code").text_content() == text)
    until(lambda: "fold at F" in page.locator("#card-structure .says").text_content())
    assert page.url == address


def test_the_structure_is_pulled_and_let_go(page):
    page.evaluate("studio.select('rest')")
    until(lambda: "at rest" in page.locator("#card-structure .says").text_content())
    page.locator("#card-structure").scroll_into_view_if_needed()
    *at, pixels = page.evaluate(END)
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] - 30, at[1] - 40, steps=4)
    until(lambda: page.locator("#start-theta1").input_value())
    time.sleep(0.3)
    page.mouse.up()
    until(lambda: "finished" in page.locator("#card-motion .says").text_content())
    assert page.evaluate("studio.cards.structure.player.scene.histories.length") > 0
    angles = [page.locator(f"#start-theta{k}").input_value() for k in (1, 2)]
    until(lambda: f"theta1={angles[0]}, theta2={angles[1]}" in page.locator("#card-lines code").text_content())
    raised = sum(np.sin(float(angle)) / 2 for angle in angles)  # of the end, by bars of length 1/2
    assert raised == pytest.approx(40 / pixels, rel=0.1)


def test_a_branch_is_shown_in_a_state_that_it_has(page):
    page.get_by_label("what is shown against the load").select_option("X")  # which no equilibrium determines
    page.get_by_label("what is followed").select_option("branch")
    page.locator("#grow-to").fill("60")
    page.get_by_role("button", name="Grow", exact=True).click()
    until(lambda: "reached 60" in page.locator("#card-diagram .says").text_content())
    until(lambda: page.evaluate("studio.cards.diagram.plot.items.length") > 1)
    assert page.get_by_label("what is shown against the load").input_value() == "theta1"


def test_a_load_beyond_the_pictures_takes_them_along(page):
    page.locator("#value-F").fill("300*2")
    page.keyboard.press("Enter")
    until(lambda: page.evaluate("studio.cards.curves.data.to") >= 600)
    page.locator("#value-F").fill("80")
    page.keyboard.press("Enter")
    until(lambda: page.evaluate("studio.loadNumber()") == 80)


def test_the_motion_of_an_ode_is_curves_with_names(page):
    x, y, mu = sm.symbols("x y mu")
    ode = pfaff.ode({x: y, y: mu * (1 - x**2) * y - x}, parameters={mu: 1}, load=mu)
    made = open_studio(ode.at(), browser=False, wait=False)
    other = page.context.new_page()
    try:
        other.goto(made.address)
        other.locator("#start-x").fill("1")
        other.locator("#card-motion").get_by_role("button", name="Start").click()
        until(lambda: "finished" in other.locator("#card-structure .says").text_content())
        other.evaluate("studio.look()")
        time.sleep(0.5)
        assert other.locator(".card.failed, .card.stale").count() == 0
        names = other.locator("#card-structure .keys > span").all_text_contents()
        assert [name.split()[-1] for name in names] == ["x", "y"]
    finally:
        other.close()
        made.stop()


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_is_light_or_dark(page, width, scheme):
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    background = page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) > 600) == (scheme == "light")
    assert page.evaluate(UNNAMED) == []


def test_a_server_that_is_gone_comes_back(page, serving, case, faults):
    page.set_viewport_size({"width": 1280, "height": 900})
    port = int(re.search(r":(\d+)/", serving["studio"].address)[1])
    serving["studio"].stop()
    until(lambda: "does not answer" in page.locator("#banner").text_content())
    page.locator("#value-F").fill("70")
    page.keyboard.press("Enter")
    serving["studio"] = until(lambda: _again(case, port))
    until(lambda: page.locator("#banner").is_hidden())
    expected = np.sort_complex(case.at(F=70, c_i=1.5).spectrum().values)
    until(lambda: np.allclose(spectrum(page), expected, rtol=1e-12))
    assert all("WebSocket" in fault for fault in faults)  # which the browser itself reports
    faults.clear()


def _again(case: Any, port: int) -> Any:
    try:
        return open_studio(case, port=port, browser=False, wait=False)
    except pfaff.PfaffError:
        return None


def test_the_explorer_of_a_notebook_is_alive(page, case):
    """The widget's own module, on a page that passes its messages on as a notebook does."""
    pytest.importorskip("anywidget", reason="the extra studio is not installed")
    widget = case.explore()
    answers: list[dict[str, Any]] = []
    widget.send = answers.append
    shown = page.context.new_page()
    shown.set_content(f"<style>{widget._css}</style><div id='cell'></div>")
    shown.expose_function("told", lambda text: widget._handle_custom_msg({"text": text}, None))
    shown.add_script_tag(type="module", content=widget._esm.replace("export default", "window.widget =") + WIRE)

    def says(word: str) -> bool:
        while answers:
            shown.evaluate("(answer) => heard(answer)", answers.pop(0))
        spectrum = shown.locator("#cell1-card-spectrum .says")
        return spectrum.count() == 1 and spectrum.text_content().startswith(word)

    until(lambda: says("unstable"))
    shown.locator("#cell1-value-F").fill("70")
    shown.keyboard.press("Enter")
    until(lambda: says("stable"))
    assert shown.locator("#cell1-card-structure canvas.stage").count() == 1
    shown.close()
    widget.close()
