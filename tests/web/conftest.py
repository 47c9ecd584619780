"""One server, one Chromium for this package; one workspace for each test.

Playwright keeps an event loop in this thread, under which Django's ORM refuses to work: it ends with the package, and
the tests here reach data over HTTP only.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.conftest import missing
from tests.server import Server, running_server

from .stage import Cast, Stage

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
FLUSH_INTERVAL = "1s"


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        missing("chromium", f"there is none at {CHROMIUM}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    with running_server(LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL=FLUSH_INTERVAL) as running:
        yield running


@pytest.fixture(scope="package")
def cast(chromium: Browser, server: Server) -> Cast:
    return Cast(server, chromium)


@pytest.fixture
def stage(cast: Cast) -> Iterator[Stage]:
    """Fails the test on any console error of any of its pages."""
    made = Stage(cast)
    try:
        yield made
        made.quiet()
    finally:
        made.close()
