"""The steps of the cases that are one HTTP call each, as calls: `request_of(step, cast)`."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Step = dict[str, Any]


@dataclass(slots=True)
class Cast:
    """Who and what the names of one case are."""

    workspace: str
    first: str
    members: dict[str, str] = field(default_factory=dict)
    """Name to member id."""
    things: dict[str, str] = field(default_factory=dict)
    """Name to the id of a conversation, a message or a task."""


@dataclass(frozen=True, slots=True)
class Request:
    who: str
    method: str
    path: str
    body: Any = None


def request_of(step: Step, cast: Cast) -> Request:
    verb = next(iter(step))
    return REQUESTS[verb](step, cast)


def _post(step: Step, cast: Cast) -> Request:
    body: dict[str, Any] = {"text": step.get("text", "hello")}
    renamed = {"type": "message_type", "client_id": "client_message_id"}
    body |= {field: step[name] for name, field in renamed.items() if name in step}
    if "reply_to" in step:
        body["reply_to_id"] = cast.things[step["reply_to"]]
    if "mentions" in step:
        body["mentions"] = [cast.members[name] for name in step["mentions"]]
    if step.get("stream"):
        body |= {"stream": True, "key": step.get("key", uuid.uuid4().hex)}
    return Request(step["by"], "POST", f"/conversations/{cast.things[step['post']]}/messages", body)


def _emit(step: Step, cast: Cast) -> Request:
    return Request(step["by"], "POST", f"/messages/{cast.things[step['emit']]}/events", {"event": step["event"]})


def _read(step: Step, cast: Cast) -> Request:
    body = {"message_id": cast.things[step["upto"]]} if "upto" in step else {}
    return Request(step["by"], "PUT", f"/conversations/{cast.things[step['read']]}/read", body)


def _read_many(step: Step, cast: Cast) -> Request:
    body = {"conversation_ids": [cast.things[name] for name in step["read_many"]]}
    return Request(step["by"], "POST", f"/workspaces/{cast.workspace}/read", body)


def _mark_unread(step: Step, cast: Cast) -> Request:
    body = {"message_id": cast.things[step["from"]]} if "from" in step else {}
    return Request(step["by"], "PUT", f"/conversations/{cast.things[step['mark_unread']]}/unread", body)


def _clear_unread(step: Step, cast: Cast) -> Request:
    return Request(step["by"], "DELETE", f"/conversations/{cast.things[step['clear_unread']]}/unread")


def _notify(step: Step, cast: Cast) -> Request:
    path = f"/conversations/{cast.things[step['notify']]}/notifications"
    return Request(step["by"], "PUT", path, {"level": step["level"]})


def _join(step: Step, cast: Cast) -> Request:
    path = f"/conversations/{cast.things[step['join']]}/members"
    return Request(step.get("by", cast.first), "POST", path, {"member_id": cast.members[step["member"]]})


def _leave(step: Step, cast: Cast) -> Request:
    path = f"/conversations/{cast.things[step['leave']]}/members/{cast.members[step['member']]}"
    return Request(step.get("by", step["member"]), "DELETE", path)


def _archive(step: Step, cast: Cast) -> Request:
    return Request(step.get("by", cast.first), "POST", f"/conversations/{cast.things[step['archive']]}/archive")


def _restore(step: Step, cast: Cast) -> Request:
    return Request(step.get("by", cast.first), "POST", f"/conversations/{cast.things[step['restore']]}/restore")


def _rewind(step: Step, cast: Cast) -> Request:
    path = f"/conversations/{cast.things[step['rewind']]}/rewind"
    return Request(step.get("by", cast.first), "POST", path, {"to_message_id": cast.things[step["to"]]})


def _delete(step: Step, cast: Cast) -> Request:
    return Request(step["by"], "DELETE", f"/messages/{cast.things[step['delete']]}")


def _edit(step: Step, cast: Cast) -> Request:
    body: dict[str, Any] = {"text": step.get("text", "edited")}
    if "mentions" in step:
        body["mentions"] = [cast.members[name] for name in step["mentions"]]
    return Request(step["by"], "PUT", f"/messages/{cast.things[step['edit']]}", body)


def _thread(step: Step, cast: Cast) -> Request:
    return Request(step["by"], "POST", f"/messages/{cast.things[step['thread']]}/thread")


def _react(step: Step, cast: Cast) -> Request:
    path = f"/messages/{cast.things[step['react']]}/reactions/{step.get('emoji', 'thumbsup')}"
    return Request(step["by"], "PUT", path)


def _activity(step: Step, cast: Cast) -> Request:
    body = {"type": step["type"], "payload": step.get("payload", {})}
    return Request(step["by"], "POST", f"/conversations/{cast.things[step['activity']]}/activities", body)


def _task(step: Step, cast: Cast) -> Request:
    return Request(step["by"], "PATCH", f"/tasks/{cast.things[step['task'] + '.task']}", step["set"])


def _rename(step: Step, cast: Cast) -> Request:
    path = f"/conversations/{cast.things[step['rename']]}"
    return Request(step["by"], "PATCH", path, {"name": step["name"]})


def _bootstrap(step: Step, cast: Cast) -> Request:
    return Request(step["bootstrap"], "GET", f"/workspaces/{cast.workspace}/bootstrap")


REQUESTS: dict[str, Callable[[Step, Cast], Request]] = {
    "post": _post,
    "emit": _emit,
    "read": _read,
    "read_many": _read_many,
    "mark_unread": _mark_unread,
    "clear_unread": _clear_unread,
    "notify": _notify,
    "join": _join,
    "leave": _leave,
    "archive": _archive,
    "restore": _restore,
    "rewind": _rewind,
    "delete": _delete,
    "edit": _edit,
    "thread": _thread,
    "react": _react,
    "activity": _activity,
    "task": _task,
    "rename": _rename,
    "bootstrap": _bootstrap,
}
