"""Makes studio.png, studio_phone.png and studio.gif in this folder, from the studio in Chromium without a window."""

from __future__ import annotations

import io
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import pfaff
from pfaff.studio import open_studio

HERE = Path(__file__).parent
KNOWN = {"d": "1/2", "M_L": 15, "I_L": 15, "k1": 50, "c_i": 1.5, "F": 60}
SIZE, WIDTH, PAUSE = {"width": 1240, "height": 800}, 820, 130  # of the window, of the film, milliseconds a picture


def until(holds: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 90
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit("the page does not answer")
        time.sleep(0.05)


def picture(page: Any) -> Image.Image:
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    return shot.resize((WIDTH, round(WIDTH * shot.height / shot.width)), Image.Resampling.LANCZOS)


def says(page: Any, card: str) -> str:
    return page.locator(f"#card-{card} .says").text_content()


def film(page: Any) -> list[Image.Image]:
    """The load grows through flutter, cycles are followed, and the one at a fold moves."""
    shots = []
    page.locator("#slider-F").focus()
    for _ in range(13):
        page.keyboard.press("ArrowRight")
        time.sleep(0.4)
        shots.append(picture(page))
    page.locator("#grow-to").fill("90")
    page.locator("#card-diagram").scroll_into_view_if_needed()
    page.mouse.wheel(0, 320)
    time.sleep(0.5)
    page.get_by_role("button", name="Grow", exact=True).click()
    while "2 × fold" not in says(page, "diagram"):
        time.sleep(0.1)
        if page.evaluate("(studio.cards.diagram.objects[0]?.points.length ?? 0) > 2"):
            shots.append(picture(page))
    page.locator("#card-diagram .points button", has_text="fold").first.click()
    until(lambda: "fold at F" in says(page, "structure"))
    for _ in range(22):
        time.sleep(0.05)
        shots.append(picture(page))
    return shots


def main() -> None:
    studio = open_studio(pfaff.atlas.column(2).at(**KNOWN), browser=False, wait=False)
    with sync_playwright() as started:
        chromium = shutil.which("chromium")
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=SIZE)
        page.goto(studio.address)
        until(lambda: "flutter at" in page.locator("#card-curves").inner_text())
        shots = film(page)
        page.screenshot(path=HERE / "studio.png")
        page.set_viewport_size({"width": 390, "height": 844})
        page.evaluate("scrollTo(0, 0)")
        time.sleep(0.5)
        page.screenshot(path=HERE / "studio_phone.png")
        browser.close()
    studio.stop()
    first, *rest = [shot.quantize(64, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE) for shot in shots]
    first.save(HERE / "studio.gif", save_all=True, append_images=rest, duration=PAUSE, loop=0, optimize=True)


if __name__ == "__main__":
    main()
