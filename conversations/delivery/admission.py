"""Who may listen: the login of the request and the access gate when a stream opens, and both again while it is open."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Collection, Iterable
from importlib import import_module
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user
from django.core.exceptions import DisallowedHost, RequestDataTooBig
from django.core.handlers.asgi import ASGIRequest
from rest_framework.exceptions import AuthenticationFailed

from ..access import see_scope
from ..api.authentication import BearerAuthentication
from ..connections import database_unit
from ..errors import InvalidRequest, Unauthenticated
from ..queries.audience import audiences
from ..queries.logins import live_members, live_sessions, live_tokens
from .feeds import Feed, Subscriber


def admit(scope: dict[str, Any], conversation_id: UUID) -> Subscriber:
    """The subscriber behind a raw ASGI request, by the rules of every other request. Raises a `Refusal`.

    Runs in a thread of the request pool, once for each stream.
    """
    with database_unit():
        user, credential = _login(scope)
        access = see_scope(user, conversation_id)
        member = access.member
        return Subscriber(member.workspace_id, conversation_id, member.id, credential, sees_hidden=not member.is_person)


def barred(feeds: Collection[Feed], *, logins: bool) -> list[Feed]:
    """Those that may not listen any more. Three statements for each workspace, for a few hundred feeds; with `logins`
    also those whose token or session has ended, two statements more."""
    lost = set(_without_login(feeds)) if logins else set()
    by_workspace: dict[UUID, list[Feed]] = defaultdict(list)
    for feed in feeds:
        by_workspace[feed.subscriber.workspace_id].append(feed)
    for workspace_id, some in by_workspace.items():
        people = {feed.subscriber.member_id for feed in some}
        members = live_members(people)
        heard_by = audiences(workspace_id, {feed.subscriber.conversation_id for feed in some}, people)
        for feed in some:
            audience = heard_by.get(feed.subscriber.conversation_id, frozenset())
            member_id = feed.subscriber.member_id
            if member_id not in members or (audience is not None and member_id not in audience):
                lost.add(feed)
    return [feed for feed in feeds if feed in lost]


def _login(scope: dict[str, Any]) -> tuple[Any, str]:
    try:
        request: Any = ASGIRequest(scope, io.BytesIO())
        request.get_host()
        found = BearerAuthentication().authenticate(request)
    except AuthenticationFailed as failed:
        raise Unauthenticated(str(failed.detail)) from None
    except (DisallowedHost, RequestDataTooBig):
        raise InvalidRequest("The request could not be read.") from None
    if found is not None:
        return found[0], f"token:{found[1].pk}"
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    if key:
        request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
        user = get_user(request)
        if user.is_authenticated and user.is_active:
            return user, f"session:{key}"
    raise Unauthenticated("Authentication credentials were not provided.")


def _without_login(feeds: Iterable[Feed]) -> list[Feed]:
    keys: dict[str, set[str]] = {"token": set(), "session": set()}
    for feed in feeds:
        kind, _, key = feed.subscriber.credential.partition(":")
        keys[kind].add(key)
    tokens = {str(each) for each in live_tokens({UUID(key) for key in keys["token"]})}
    live = {"token": tokens, "session": live_sessions(keys["session"])}
    gone = []
    for feed in feeds:
        kind, _, key = feed.subscriber.credential.partition(":")
        if key not in live[kind]:
            gone.append(feed)
    return gone
