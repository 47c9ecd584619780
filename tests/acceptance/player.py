"""Plays one acceptance case against a real server: sets the scene, takes the steps, looks at what is shown.

A case is `{"name", "members", "scopes", "steps"}`. Its first member is the workspace's admin, a scope's first member
opens it. A step is one verb: a call of `requests.py`, or one of the player's own:

- `expect`: what each member's unread answer shows, and nothing besides; polled for `patience` seconds, then it must
  stay so for `quiet` seconds. A number stands for that many messages. Mentions are compared where they are expected.
  `dot` is the red dot of the workspace list.
- `atmost`: no more messages than these are shown.
- `restart`: `graceful` or `crash`; the next look holds for a second at least, since a late event could undo it.
- `refused`: the inner step is answered with that status.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

from .requests import Cast, Request, Step, request_of
from .servers import Answer, Server

PATIENCE_S = 10.0
AFTER_RESTART_S = 1.0
POLL_S = 0.1
SHOWN = ("messages", "activities", "manual", "mentions")


class Player:
    def __init__(self, server: Server, case: dict[str, Any]) -> None:
        self.server, self.case = server, case
        self._own: dict[str, Callable[[Step], None]] = {
            "expect": self._expect,
            "atmost": self._at_most,
            "restart": self._restart,
            "refused": self._refused,
        }
        self._hold_s = 0.0
        self._tokens = {name: server.token(self._username(name)) for name in case["members"]}
        self.cast = self._set_scene()

    def play(self) -> None:
        for number, step in enumerate(self.case["steps"], 1):
            try:
                self._take(step)
            except AssertionError as failed:
                raise AssertionError(f"step {number} {step}: {failed}") from None

    def _username(self, name: str) -> str:
        return f"{name}.case"

    def _set_scene(self) -> Cast:
        first, *others = self.case["members"]
        slug = f"case-{uuid.uuid4().hex[:10]}"
        made = self._ask(Request(first, "POST", "/workspaces", {"slug": slug, "name": self.case["name"][:80]}))
        cast = Cast(workspace=made["id"], first=first)
        cast.members[first] = self._ask(Request(first, "GET", f"/me?workspace_id={cast.workspace}"))["member"]["id"]
        for name in others:
            body = {"username": self._username(name), "display_name": name}
            cast.members[name] = self._ask(Request(first, "POST", f"/workspaces/{cast.workspace}/members", body))["id"]
        for name, scope in self.case.get("scopes", {}).items():
            self._open(name, scope, cast)
        return cast

    def _open(self, name: str, scope: dict[str, Any], cast: Cast) -> None:
        opener, *others = scope["members"]
        if scope["type"] == "task":
            body = {
                "title": name,
                "assignee_id": cast.members.get(scope.get("assignee")),
                "watcher_ids": [cast.members[watcher] for watcher in scope.get("watchers", [])],
            }
            made = self._ask(Request(opener, "POST", f"/workspaces/{cast.workspace}/tasks", body))
            cast.things |= {name: made["conversation_id"], f"{name}.task": made["id"]}
            return
        body = {
            "workspace_id": cast.workspace,
            "type": scope["type"],
            "member_ids": [cast.members[member] for member in others],
        }
        if scope["type"] != "dm":
            body |= {"name": name, "visibility": scope.get("visibility", "public")}
        if scope["type"] == "conversation":
            del body["visibility"]
        cast.things[name] = self._ask(Request(opener, "POST", "/conversations", body))["id"]

    def _take(self, step: Step) -> None:
        verb = next(iter(step))
        if verb in self._own:
            self._own[verb](step)
            return
        for _ in range(step.get("times", 1)):
            answer = self._ask(request_of(step, self.cast))
        if "as" in step:
            self.cast.things[step["as"]] = answer["id"]

    def _refused(self, step: Step) -> None:
        answer = self._call(request_of(step["step"], self.cast))
        assert answer.status == step["refused"], f"answered {answer.status} {answer.value}"

    def _restart(self, step: Step) -> None:
        if step["restart"] == "crash":
            self.server.kill()
        else:
            self.server.stop()
        self.server.start()
        self._hold_s = AFTER_RESTART_S

    def _at_most(self, step: Step) -> None:
        for who, limits in step["atmost"].items():
            counts = self._unread(who)["counts"]
            for name, limit in limits.items():
                shown = counts.get(self.cast.things[name], {}).get("messages", 0)
                assert shown <= limit, f"{who} sees {shown} in {name}, at most {limit} were sent"

    def _expect(self, step: Step) -> None:
        for who in step["expect"]:  # the first look asks for what is not in memory, for all of them side by side
            self._unread(who)
        deadline = time.monotonic() + step.get("patience", PATIENCE_S)
        while difference := self._difference(step):
            assert time.monotonic() < deadline, difference
            time.sleep(POLL_S)
        hold = time.monotonic() + max(step.get("quiet", 0.0), self._hold_s)
        self._hold_s = 0.0
        while time.monotonic() < hold:
            difference = self._difference(step)
            assert not difference, f"was right, and then {difference}"
            time.sleep(POLL_S)

    def _difference(self, step: Step) -> str:
        """What is shown that should not be or the other way round; empty where all is as expected."""
        for who, expected in step["expect"].items():
            answer = self._unread(who)
            if answer["state"] == "hydrating":
                return f"{who} is hydrating"
            wanted = {name: {"messages": n} if isinstance(n, int) else n for name, n in expected.items()}
            shown = self._shown(answer, wanted)
            if shown != wanted:
                return f"{who} sees {shown}, expected {wanted} (state {answer['state']})"
            if answer["has_unread"] is not bool(wanted):
                return f"{who} has has_unread {answer['has_unread']} beside {shown}"
        for who, lit in step.get("dot", {}).items():
            listed = self._ask(Request(who, "GET", "/workspaces?limit=200"))["items"]
            dot = next(each["has_unread"] for each in listed if each["id"] == self.cast.workspace)
            if dot is not lit:
                return f"the red dot of {who} is {dot}"
        return ""

    def _shown(self, answer: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
        names = {thing: name for name, thing in self.cast.things.items()}
        shown: dict[str, Any] = {}
        for scope, entry in answer["counts"].items():
            name = names.get(scope, scope)
            kept = {key: entry[key] for key in SHOWN if entry[key]}
            if "mentions" not in wanted.get(name, {}):
                kept.pop("mentions", None)
            if kept:
                shown[name] = kept
        return shown

    def _unread(self, who: str) -> dict[str, Any]:
        found: dict[str, Any] = self._ask(Request(who, "GET", f"/workspaces/{self.cast.workspace}/unread"))
        return found

    def _call(self, request: Request) -> Answer:
        return self.server.call(self._tokens[request.who], request.method, request.path, request.body)

    def _ask(self, request: Request) -> Any:
        return self.server.ask(self._tokens[request.who], request.method, request.path, request.body)
