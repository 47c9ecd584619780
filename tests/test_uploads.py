"""Bodies of any size against a real server: answered at the bound, cut off far beyond it, and never spooled."""

from __future__ import annotations

import http.client
from collections.abc import Iterator

import pytest

from tests.server import Server, running_server

pytestmark = pytest.mark.server

MIB = 1024 * 1024


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running


def post(server: Server, body: object, **headers: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        chunked = "Transfer-Encoding" in headers
        given = {"Content-Type": "application/json", **headers}
        connection.request("POST", "/v1/workspaces", body, given, encode_chunked=chunked)
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_body_that_is_too_long_is_answered(server: Server) -> None:
    assert post(server, b"x" * (11 * MIB)) == 413


def test_so_is_one_of_unknown_length(server: Server) -> None:
    assert post(server, (b"x" * MIB for _ in range(11)), **{"Transfer-Encoding": "chunked"}) == 413


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "chunked"])
def test_one_that_does_not_end_is_cut_off(server: Server, declared: bool) -> None:
    headers = {"Content-Length": str(1024 * MIB)} if declared else {"Transfer-Encoding": "chunked"}
    with pytest.raises((OSError, http.client.HTTPException)):
        post(server, (b"x" * MIB for _ in range(1024)), **headers)
    assert server.call(None, "GET", "//healthz").status == 200
