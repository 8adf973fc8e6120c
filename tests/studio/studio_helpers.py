"""A studio that runs as users run it, and what tests do to a page of it."""

import asyncio
import concurrent.futures
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import stunt

PATIENCE = float(os.environ.get("STUDIO_PATIENCE", "300"))
"""After so many seconds what has not come never comes [s]."""
# The studio's process imports the same Stunt as the tests.
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join((str(Path(stunt.__file__).parents[1]), *sys.path))}


class Studio:
    """One `stunt studio` process in a folder of its own."""

    def __init__(self, folder, *arguments):
        self.folder = folder
        self.log = folder / "studio.log"
        command = [sys.executable, "-m", "stunt.cli.main", "studio", *arguments, "--no-browser"]
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT, env=ENVIRONMENT)
        self.url = self._address()

    def _address(self):
        for _ in range(6000):
            found = re.search(r"http://\S+", self.said())
            if found:
                return found.group()
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"the studio did not open:\n{self.said()}")

    def said(self):
        return self.log.read_text(encoding="utf-8")

    def wait(self, seconds):
        return self.process.wait(seconds)

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(120)


class Page:
    """A page of the studio in the browser, with the few things tests do to it."""

    def __init__(self, page):
        self.page = page
        self.problems = []
        self.asked = []
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda m: self.problems.append(m.text) if m.type == "error" else None)
        page.on("request", lambda request: self.asked.append(request.url))

    def state(self, expression):
        return self.page.evaluate(expression)

    def until(self, expression, seconds=PATIENCE):
        """Wait until something holds in the page. (Playwright's own way needs eval, which the page forbids.)"""
        end = time.monotonic() + seconds
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, f"never: {expression}\n{self.problems}"
            time.sleep(0.03)

    def visit(self, url):
        self.page.goto(url)
        self.until("window.studio?.view?.stats.first")  # the first time on a machine, control is compiled
        self.until("studio.results?.done")

    def open(self, name):
        """Open something as it came, without the unsaved edits of the test before."""
        self.state(f"studio.do('open', {{name: {name!r}}}).then(() => studio.do('discard')).then(() => null)")
        self.settled()

    def settled(self):
        """Wait until what is on show is the result of the last edit."""
        self.until(
            "studio.pending === 0 && studio.results?.done"
            " && Math.min(studio.results.revision, studio.shownRevision) >= studio.revision"
        )

    def beats(self, character="dancer"):
        return self.state(f"studio.results.beats[{character!r}]")

    def drag(self, start, way, *, modifiers=(), steps=6):
        mouse = self.page.mouse
        mouse.move(*start)
        for key in modifiers:
            self.page.keyboard.down(key)
        mouse.down()
        for k in range(1, steps + 1):
            mouse.move(start[0] + way[0] * k / steps, start[1] + way[1] * k / steps)
        mouse.up()
        for key in modifiers:
            self.page.keyboard.up(key)

    def middle(self, selector):
        box = self.page.locator(selector).first.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def on_screen(self, body):
        place = self.state(f"studio.view.screenOf(studio.scene.bodies.indexOf({body!r}))")
        return place["x"], place["y"]


def run(coroutine):
    """Run a coroutine in a thread of its own: a browser of other tests may keep an event loop in this one."""
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
