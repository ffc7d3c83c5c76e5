"""The studio: from a key on a slider to the painted spectrum, and pictures a second while a branch grows.

Chromium without a window, driven by Playwright, on the page as users have it. The clock starts at the slider's event in
the page and stops when the new spectrum is painted on its canvas. On a busy machine all of this is slower.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

import pfaff
from pfaff.studio import open_studio
from verified import demand, verify

KNOWN = {"d": "1/2", "M_L": 15, "I_L": 15, "k1": 50, "c_i": 1.5, "F": 80}
KEYS, PAUSE = 150, 0.05  # presses, and seconds between them
SLIDERS = ("F", "c_i")
AGREEMENT = 1e-12
ROOTS = "studio.cards.spectrum.plot.items.filter((each) => each.data).map((each) => [each.x, each.y])"
TIMES = "studio.timings.filter((each) => each.painted).map((each) => [each.painted - each.asked, each.server])"
FRAMES = """window.frames_seen = []; (function next(now) { frames_seen.push(now); requestAnimationFrame(next); })
(performance.now())"""


def until(holds: Callable[[], Any], seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        demand("the page answers", time.monotonic() < deadline)
        time.sleep(0.05)


def here(page: Any, case: Any) -> Any:
    """The case where the sliders stand."""
    return case.at(**{name: page.locator(f"#value-{name}").input_value() for name in SLIDERS})


def latency(page: Any, case: Any, slider: str) -> None:
    """Arrow keys on a slider, and the spectrum at the end against the case's."""
    page.locator(f"#slider-{slider}").focus()
    page.evaluate("studio.timings.length = 0")
    for k in range(KEYS):
        page.keyboard.press("Shift+ArrowRight" if k % 20 < 12 else "Shift+ArrowLeft")
        time.sleep(PAUSE)
    time.sleep(0.5)
    expected = np.sort_complex(here(page, case).spectrum().values)
    shown = np.sort_complex(np.array([complex(*each) for each in page.evaluate(ROOTS)]))
    verify("the spectrum on the page", float(np.abs(shown / expected - 1).max()), AGREEMENT)
    times, server = np.array(page.evaluate(TIMES)).T
    print(
        f"{slider}: key to painted spectrum, {len(times)} of {KEYS} keys: median {np.median(times):.0f} ms, 95 % below "
        f"{np.quantile(times, 0.95):.0f} ms, least {times.min():.0f} ms; of it pfaff {np.median(server):.1f} ms"
    )
    demand("nearly every key has its own spectrum", len(times) > 0.8 * KEYS)


def frames(page: Any, case: Any) -> None:
    """Pictures a second of the page while the structure moves and a branch grows in the background."""
    page.evaluate(FRAMES)
    page.locator("#grow-to").fill("100")
    page.get_by_role("button", name="Grow", exact=True).click()
    until(lambda: "reached 100" in page.locator("#card-diagram .says").text_content())
    steps = np.diff(page.evaluate("frames_seen"))
    points = page.evaluate("studio.cards.diagram.objects[0].points.length")
    print(
        f"while {points} orbits grow, for {steps.sum() / 1e3:.1f} s: a picture every {np.median(steps):.1f} ms "
        f"(median), 95 % within {np.quantile(steps, 0.95):.1f} ms, 99 % within {np.quantile(steps, 0.99):.1f} ms"
    )
    expected = here(page, case).hopf().orbits(to=100).status
    demand("the branch is that of the case", page.locator("#card-diagram .says").text_content() == expected)


def main() -> None:
    chromium = shutil.which("chromium")
    demand("the program chromium is installed", chromium is not None)
    case = pfaff.atlas.column(2).at(**KNOWN)
    studio = open_studio(case, browser=False, wait=False)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(studio.address)
        until(lambda: "flutter at" in page.locator("#card-curves").inner_text())
        for slider in SLIDERS:
            latency(page, case, slider)
        frames(page, case)
        browser.close()
    studio.stop()


if __name__ == "__main__":
    main()
