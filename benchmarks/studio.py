"""What the studio's page costs, seen from a real browser without a graphics card: pictures, poses, edits, the start."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.result import Measurement
from stunt.errors import StuntError
from stunt.examples import example

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --use-angle=swiftshader --enable-unsafe-swiftshader"
).split()
_DANCERS, _APART = 5, 1.3
_COUNT = "[studio.view.stats.frames, studio.view.stats.poses, performance.now()]"


def measure(quick: bool = False) -> list[Measurement]:
    """Measure; needs Chromium and Playwright.

    Raises:
        StuntError: One of them is missing.
    """
    with tempfile.TemporaryDirectory(prefix="stunt-bench-") as folder, _browser() as browser:
        crowd, dance = Path(folder) / "crowd.yaml", Path(folder) / "dance.yaml"
        crowd.write_text(crowd_text(), encoding="utf-8")
        dance.write_text(long_text(), encoding="utf-8")
        with _studio(crowd) as (url, process):
            page = _page(browser)
            start = _first_picture(page, url)
            found = _crowd(page, 3.0 if quick else 10.0, process)
            page.context.close()
        with _studio(dance) as (url, process):
            page = _page(browser)
            _first_picture(page, url)
            found += _edits(page, 3 if quick else 15, process)
            page.context.close()
    note = "from asking for the page, with the server up"
    return [*found, Measurement("first picture on the page", 1000.0 * start, "ms", 3000.0, note)]


def crowd_text() -> str:
    """Return YMCA for five, in the words of a script."""
    text = example("ymca").text()
    name = "  dancer: {body: human39, root: fixed, start: ready}\n"
    head, part = text.split("performance:\n  dancer:\n")
    cast = "".join(name.replace("dancer", f"d{k}").replace("}", f", at: [0, {_APART * k - 2.6:g}]}}") for k in range(5))
    parts = "".join(f"  d{k}:\n{part}" for k in range(_DANCERS))
    return head.replace(name, cast) + "performance:\n" + parts


def long_text() -> str:
    """Return YMCA danced on to ten seconds."""
    text = example("ymca").text()
    beats = text[text.index("    beats:\n") + len("    beats:\n") :]
    lines = beats.splitlines(keepends=True)
    return text.replace("rate: 480", "rate: 480\nseconds: 10") + "".join(lines[:7])


def _crowd(page: Any, seconds: float, process: int) -> list[Measurement]:
    """Play while the whole performance is simulated again and again."""
    page.evaluate("studio.line.say('play', {playing: true, loop: true})")
    first, began, simulated = page.evaluate(_COUNT), time.perf_counter(), 0.0
    tighter, busy, spent = 1.01, 0.0, processor_seconds(process)
    while time.perf_counter() - began < seconds:
        since = time.perf_counter()
        page.evaluate(f"studio.edit('set_holds', {{character: 'd0', factor: {tighter}}}).then(() => null)")
        _settled(page)
        simulated += float(page.evaluate("studio.seconds"))
        busy += time.perf_counter() - since
        tighter = 1 / tighter
    last = page.evaluate(_COUNT)
    wall = (last[2] - first[2]) / 1000.0
    bodies = int(page.evaluate("studio.scene.bodies.length")) - 1
    cost = (processor_seconds(process) - spent) / max(simulated, 1e-9)
    meanwhile = f"meanwhile, edits included; {cost:.2f} s of processor time per simulated second, page's server and all"
    who = f"{_DANCERS} characters, {bodies} bodies, software rendering, 1280×800"
    return [
        Measurement("time per picture", 1000.0 * wall / max(last[0] - first[0], 1), "ms", 1000.0 / 15.0, who),
        Measurement("time per pose update", 1000.0 * wall / max(last[1] - first[1], 1), "ms", 1000.0 / 30.0, who),
        Measurement("simulation against real time", busy / max(simulated, 1e-9), "", 1.0, meanwhile),
    ]


def _edits(page: Any, count: int, process: int) -> list[Measurement]:
    """Move a beat in the first half of a performance of ten seconds to and fro."""
    took, spent = [], processor_seconds(process)
    for k in range(count):
        by = 0.2 if k % 2 == 0 else -0.2
        page.evaluate(f"studio.edit('move_beats', {{character: 'dancer', indices: [4], by: {by}}}).then(() => null)")
        _settled(page)
        took.append(float(page.evaluate("studio.timing.edits.at(-1)")))
    cost = 1000.0 * (processor_seconds(process) - spent) / count
    note = f"a beat at 2.8 s of 10 s, median of {count}, slowest {max(took):.0f} ms; {cost:.0f} ms of processor time"
    return [Measurement("edit of a beat to its result on screen", median(took), "ms", 1000.0, note)]


def _settled(page: Any) -> None:
    """Wait until the result of the last edit is on screen."""
    done = (
        "studio.pending === 0 && studio.results?.done"
        " && Math.min(studio.results.revision, studio.shownRevision) >= studio.revision"
    )
    _until(page, done)


def _until(page: Any, expression: str, seconds: float = 90.0) -> None:
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        if time.monotonic() > end:
            raise StuntError(f"the page never got to '{expression}'.")
        time.sleep(0.005)


def _first_picture(page: Any, url: str) -> float:
    began = time.perf_counter()
    page.goto(url)
    _until(page, "Boolean(window.studio?.view?.stats.first)")
    took = time.perf_counter() - began
    _until(page, "Boolean(studio.results?.done)")
    return took


def _page(browser: Any) -> Any:
    return browser.new_context(viewport={"width": 1280, "height": 800}).new_page()


@contextmanager
def _browser() -> Iterator[Any]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise StuntError("this benchmark needs Playwright: pip install playwright.") from None
    if chromium is None:
        raise StuntError("this benchmark needs Chromium (Debian: apt-get install chromium).")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def _studio(script: Path) -> Iterator[tuple[str, int]]:
    """Run `stunt studio` on a script; yields its address, once it is up, and its process."""
    command = [sys.executable, "-m", "stunt.cli.main", "studio", str(script), "--no-browser", "--stay"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with open(script.with_suffix(".log"), "w+", encoding="utf-8") as log:
        process = subprocess.Popen(command, cwd=script.parent, stdout=log, stderr=log, env=environment)
        try:
            yield _address(process, Path(log.name)), process.pid
        finally:
            process.terminate()
            process.wait(20)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    while process.poll() is None:
        if found := re.search(r"http://\S+", log.read_text(encoding="utf-8")):
            return found.group()
        time.sleep(0.02)
    raise StuntError(f"the studio did not open: {log.read_text(encoding='utf-8')}")


def processor_seconds(process: int) -> float:
    """Return the processor time a process and its children have used [s]; not a number where the system does not say.

    Unlike time on the clock it hardly depends on what else the machine is doing.
    """
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
    except (OSError, ValueError, AttributeError):
        return math.nan
    return own + sum(processor_seconds(int(child)) for child in children)
