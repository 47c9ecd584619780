"""People on servers that share a private database, each server behind a proxy of its own, and the truth beside them."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPException
from typing import Any
from uuid import UUID

from tests.cast import Cast
from tests.faults.mariadb import PrivateMariaDB, private_mariadb
from tests.faults.statements import StatementProxy, statements
from tests.server import Answer, Server, beside, running_server, wait_until
from tests.unread.truth import NOTHING, Badge, Badges, badges

DATABASE = "loopd"
PEOPLE = ("ann", "ben", "cat")


class Stage:
    """`serving` starts a server; `company` makes a workspace in which ann, ben and cat share channels."""

    def __init__(self, database: PrivateMariaDB, base: Server) -> None:
        self.database, self.base = database, base
        self._tag = secrets.token_hex(4)
        self._tokens = {who: base.manage("create_token", self.username(who)).split()[-1] for who in PEOPLE}

    def username(self, who: str) -> str:
        return f"{who}-{self._tag}"

    @contextlib.contextmanager
    def serving(self, *, start: bool = True, **environment: str) -> Iterator[tuple[Server, StatementProxy]]:
        with statements("127.0.0.1", self.database.port) as proxy:
            quick = {"LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL": "200ms", **environment}
            with beside(self.base, **url_of(proxy.port), **quick) as server:
                if start:
                    server.start()
                yield server, proxy

    def company(self, server: Server, channels: int = 1) -> Company:
        return Company(self, server, self._tokens, channels)

    def run(self, sql: str, parameters: Any = ()) -> Any:
        return self.database.run(DATABASE, sql, parameters)


class Company(Cast):
    """A workspace of `PEOPLE` on one server; `moved` to another one later."""

    def __init__(self, stage: Stage, server: Server, tokens: dict[str, str], channels: int) -> None:
        self.stage, self.server, self.token = stage, server, tokens
        self.tag = secrets.token_hex(4)
        first = PEOPLE[0]
        self.workspace = self.call(first, "POST", "/workspaces", {"slug": f"w-{self.tag}", "name": "Company"})["id"]
        self.member = {first: self.call(first, "GET", f"/workspaces/{self.workspace}/members")["items"][0]["id"]}
        for name in PEOPLE[1:]:
            body = {"username": stage.username(name), "display_name": name}
            self.member[name] = self.call(first, "POST", f"/workspaces/{self.workspace}/members", body)["id"]
        self.channels = [self.channel(*PEOPLE) for _ in range(channels)]
        self.acknowledged: dict[tuple[str, str], str] = {}
        """`(channel, key)` to the id of each message whose sender was told that it is stored."""

    def send(self, who: str, channel: str, key: str, **more: Any) -> Answer | None:
        """One message under a key of its own; None where the server went away meanwhile."""
        body = {"text": f"message {key}", "client_message_id": key, **more}
        answer = self.try_to(who, "POST", f"/conversations/{channel}/messages", body)
        if answer is not None and answer.status in (200, 201):
            known = self.acknowledged.setdefault((channel, key), answer.value["id"])
            assert known == answer.value["id"], "one key is two messages"
        return answer

    def try_to(self, who: str, method: str, path: str, body: Any = None) -> Answer | None:
        try:
            return self.ask(who, method, path, body)
        except (OSError, HTTPException, ValueError):
            return None

    def read(self, who: str, channel: str, **upto: Any) -> Any:
        return self.call(who, "PUT", f"/conversations/{channel}/read", upto)

    # What is shown, and what is so

    def truth(self) -> Badges:
        return badges(self.stage.run, UUID(self.workspace))

    def settled(self, who: str) -> Any:
        """The unread answer once the member's rows are in."""
        answers: list[Any] = []

        def loaded() -> bool:
            answers.append(self.unread(who))
            return answers[-1]["state"] != "hydrating"

        wait_until(loaded, 20)
        return answers[-1]

    def errors(self, *, ready: bool) -> list[str]:
        """Where what is shown is called `ready` and wrong; with `ready`, also where it is wrong or not called so."""
        found, truth = [], self.truth()
        for who, member in self.member.items():
            shown = self.settled(who)
            for scope, expected in truth[UUID(member)].items():
                entry = shown["counts"].get(str(scope))
                seen = NOTHING if entry is None else badge_of(entry)
                if entry is not None and entry["state"] == "ready" and seen != expected:
                    found.append(f"{who}: ready {seen}, but the rows say {expected}")
                elif ready and (seen != expected or (entry is not None and entry["state"] != "ready")):
                    found.append(f"{who}: {entry}, but the rows say {expected}")
            if outside := shown["counts"].keys() - {str(scope) for scope in truth[UUID(member)]}:
                found.append(f"{who}: {outside} is shown and not there")
        return found

    def lost(self) -> list[str]:
        """Acknowledged messages that are not stored exactly once, and channels whose order has a hole or a double."""
        found = []
        for (channel, key), message_id in self.acknowledged.items():
            rows = self.stage.run(
                "SELECT id FROM messages WHERE scope_id = %s AND client_message_id = %s",
                [UUID(channel).hex, key.encode()],
            )
            if [str(row[0]) for row in rows] != [message_id]:
                found.append(f"{key}: acknowledged as {message_id}, stored as {rows}")
        for channel in self.channels:
            seqs = [row[0] for row in self.stage.run(_SEQS, [UUID(channel).hex])]
            if seqs != list(range(1, len(seqs) + 1)):
                found.append(f"{channel}: {seqs}")
        return found

    def comes_right(self) -> None:
        """Nothing is lost; once everybody has read something new, whatever comes next is exact for everybody."""
        assert self.lost() == []
        assert self.errors(ready=False) == []
        for turn in ("new", "next"):
            for channel in self.channels:
                answer = self.send("ann", channel, f"{turn}-{channel}", mentions=[self.member["ben"]])
                assert answer is not None
                assert answer.status == 201
            if turn == "new":
                for who in self.member:
                    for channel in self.channels:
                        self.read(who, channel)
        wait_until(lambda: not self.errors(ready=True), 20, lambda: self.errors(ready=True))
        assert self.lost() == []

    def metric(self, name: str) -> float:
        lines = str(self.server.call(self.token["ann"], "GET", "//metrics").value).splitlines()
        values = dict(line.rsplit(" ", 1) for line in lines if line.startswith("loopd_") and "{" not in line)
        return float(values[f"loopd_unread_{name}"])

    def flushed(self) -> None:
        """Wait until nothing is dirty."""
        wait_until(lambda: self.metric("dirty_entries") + self.metric("flying_entries") == 0, 20)


@contextlib.contextmanager
def staged() -> Iterator[Stage]:
    with private_mariadb() as database, running_server(start=False, **url_of(database.port)) as base:
        yield Stage(database, base)


@contextlib.contextmanager
def meanwhile(work: Callable[[], Any]) -> Iterator[list[Any]]:
    """Run `work` in a thread until the end of the block; what it returned is in the list afterwards."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    try:
        yield results
    finally:
        thread.join(60)
    assert not thread.is_alive(), "still at work"
    assert results, "failed"


def url_of(port: int) -> dict[str, str]:
    return {"DATABASE_URL": f"mysql://root@127.0.0.1:{port}/{DATABASE}"}


def badge_of(entry: Any) -> Badge:
    return Badge(entry["messages"], entry["mentions"], entry["activities"], entry["manual"])


_SEQS = "SELECT seq FROM messages WHERE scope_id = %s ORDER BY seq"
