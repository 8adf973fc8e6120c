"""A running studio, and a real browser that looks at it."""

import os
import shutil

import pytest
from studio_helpers import Page, Studio

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --use-angle=swiftshader --enable-unsafe-swiftshader"
).split()
CHROMIUM = next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("continuous integration must have Chromium (apt-get install chromium)")
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    pytest.importorskip("nicegui", reason="the studio's extra is not installed")
    running = Studio(tmp_path_factory.mktemp("studio"), "ymca", "--stay")
    yield running
    running.end()


@pytest.fixture(scope="module")
def module_page(browser, studio):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light")
    page = Page(context.new_page())
    page.visit(studio.url)
    yield page
    context.close()


@pytest.fixture
def page(module_page):
    """The page with YMCA freshly opened."""
    module_page.open("ymca")
    module_page.page.locator("#tabs [data-tab=pose]").click()
    module_page.problems.clear()
    yield module_page
    assert not module_page.problems
