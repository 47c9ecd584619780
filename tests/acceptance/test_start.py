"""`bin/run` as a person meets it: the first start, the second, and what it says when it cannot start."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from .servers import PROJECT, Server, free_port

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A first start; the home exists, is empty and has a space in its name."""
    home = tmp_path_factory.mktemp("first start") / "a home"
    home.mkdir()
    running = Server(home)
    running.start()
    yield running
    running.close()


def run(environment: dict[str, str], cwd: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    """`bin/run` where it must end by itself."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("SECRET_KEY", "DATABASE_URL")}
    return subprocess.run(
        [PROJECT / "bin" / "run"],
        env={**inherited, **environment},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )


def logins(server: Server) -> tuple[dict[str, str], str]:
    said = server.tail(20_000)
    passwords = dict(re.findall(r"^    (\w+)  (\w+)$", said, re.MULTILINE))
    token = re.search(r"API token of ann \(shown once\): (\S+)", said)
    return passwords, token[1] if token else ""


def test_the_first_start_prints_the_address_logins_and_a_token_that_work(first: Server) -> None:
    passwords, token = logins(first)
    assert f"loopd: http://127.0.0.1:{first.port}/" in first.tail(20_000)
    assert set(passwords) == {"ann", "ben", "cat"}
    assert first.ask(token, "GET", "/me")["user"]["username"] == "ann"
    assert "demo" in log_in(first, "ben", passwords["ben"])


def test_the_demo_waits_unread_for_whoever_comes_first(first: Server) -> None:
    _, token = logins(first)
    [demo] = first.ask(token, "GET", "/workspaces")["items"]
    deadline = time.monotonic() + 10
    while (unread := first.ask(token, "GET", f"/workspaces/{demo['id']}/unread"))["state"] == "hydrating":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    listed = [
        *first.ask(token, "GET", f"/conversations?workspace_id={demo['id']}&joined=true")["items"],
        *first.ask(token, "GET", f"/conversations?workspace_id={demo['id']}&joined=true&type=thread")["items"],
    ]
    names = {each["id"]: each["name"] or each["type"] for each in listed}
    shown = {names[scope]: (entry["messages"], entry["mentions"]) for scope, entry in unread["counts"].items()}
    assert shown == {"general": (3, 1), "design": (2, 0), "random": (1, 0), "dm": (1, 0), "thread": (1, 1)}
    assert unread["has_unread"] is True


def test_a_second_start_keeps_everything_and_prints_no_secret(first: Server) -> None:
    _, token = logins(first)
    assert first.stop() == 0
    before = len(first.tail(50_000))
    first.start()
    said = first.tail(50_000)[before:]
    assert "http://" in said
    assert "token" not in said
    assert "Installing" not in said
    assert first.ask(token, "GET", "/me")["user"]["username"] == "ann"
    assert len(first.ask(token, "GET", "/workspaces")["items"]) == 1


def test_ctrl_c_ends_it_cleanly(first: Server) -> None:
    assert first.stop(signal.SIGINT) == 0
    assert "Traceback" not in first.tail(50_000)
    first.start()


def test_a_taken_port_is_named_with_a_way_out(first: Server, tmp_path: Path) -> None:
    refused = run({"LOOPD_HOME": str(tmp_path), "PORT": str(first.port)})
    assert refused.returncode != 0
    assert f"port {first.port} on 127.0.0.1 cannot be used" in refused.stderr
    assert "PORT=8000 bin/run" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_an_illegal_setting_stops_the_start_by_name(tmp_path: Path) -> None:
    refused = run({"LOOPD_HOME": str(tmp_path), "PORT": "http"})
    assert refused.returncode != 0
    assert "loopd cannot start: PORT: 'http' is not a whole number from 1 to 65535" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_database_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    environment = {"LOOPD_HOME": str(tmp_path), "PORT": str(free_port())}
    refused = run({**environment, "DATABASE_URL": f"mysql://nobody@127.0.0.1:{port}/none"})
    assert refused.returncode != 0
    assert "database at 127.0.0.1 cannot be used" in refused.stderr or "mysqlclient" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_home_is_relative_to_where_the_caller_stands(tmp_path: Path, first: Server) -> None:
    """Seen by a start that ends at the taken port: it has read its settings by then."""
    run({"LOOPD_HOME": "my home", "PORT": str(first.port)}, cwd=tmp_path)
    assert (tmp_path / "my home" / "secret_key").exists()


def log_in(server: Server, username: str, password: str) -> str:
    """Where the browser is after logging in with the form."""
    address = f"http://127.0.0.1:{server.port}"
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    with browser.open(f"{address}/login/", timeout=20) as page:
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.read().decode())
    assert token
    form = {"username": username, "password": password, "csrfmiddlewaretoken": token[1]}
    request = urllib.request.Request(f"{address}/login/", urllib.parse.urlencode(form).encode())
    request.add_header("Referer", f"{address}/login/")
    with browser.open(request, timeout=20) as page:
        return str(page.geturl())


def test_two_starts_at_once_prepare_one_home_once(tmp_path: Path) -> None:
    """On ports of their own: one makes the demo, the other waits for it and finds it made."""
    home = tmp_path / "home"
    home.mkdir()
    both = [Server(home), Server(home)]
    both[1].log = both[1].log.with_suffix(".second.log")
    try:
        starting = [threading.Thread(target=_start_once, args=(each,)) for each in both]
        for each in starting:
            each.start()
        for each in starting:
            each.join()
        told = [each.tail(20_000) for each in both]
        assert sum("Demo logins" in said for said in told) == 1
        assert all(f"http://127.0.0.1:{each.port}/" in said for each, said in zip(both, told, strict=True))
        assert "Traceback" not in "".join(told)
    finally:
        for each in both:
            each.kill()


def _start_once(server: Server) -> None:
    """Until it lives; the second one is not ready while the first owns what is there."""
    server.spawn()
    deadline = time.monotonic() + 60
    while not server.lives():
        assert time.monotonic() < deadline, server.tail()
        time.sleep(0.05)
