"""What the first screen shows, and what the page's modules start from: the same answers as the API's."""

from __future__ import annotations

from typing import Any

from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.urls import reverse

from conversations.access import ScopeAccess, workspaces_of
from conversations.models import Member
from conversations.models.workspace import MemberStatus
from conversations.queries.conversations import render_conversation
from conversations.queries.members import members_of_workspace, places_in, render_members
from conversations.queries.messages import render_messages
from conversations.queries.timeline import Page
from conversations.unread_port import unread_reader
from unread.first_paint import first_paint

from . import assets
from .looks import Json, conversation_icon, conversation_name, sections
from .timeline import authors_of, rows

MEMBERS_SENT = 500
"""Members whose names come with the page; it pages through the rest when it needs one of them."""
WORKSPACES_SHOWN = 50
PEOPLE_SHOWN = 200


def screen(request: HttpRequest, member: Member) -> Json:
    """The context of the app's template without an open conversation."""
    first = first_paint(member)
    me, unread = first["me"], first["unread"]
    known = _members(member)
    boot = {
        **first,
        "workspaces": _workspaces(member),
        "members": known[:MEMBERS_SENT],
        "members_next": known[MEMBERS_SENT - 1]["id"] if len(known) > MEMBERS_SENT else None,
        "csrf": get_token(request),
        "page": None,
        "icons": {
            "plain": staticfiles_storage.url("icons/favicon.svg"),
            "unread": staticfiles_storage.url("icons/favicon-unread.svg"),
        },
    }
    return {
        "boot": boot,
        "me": me,
        "workspace": first["workspace"],
        "workspaces": boot["workspaces"],
        "sections": sections(first["conversations"], unread["counts"], me, None),
        "has_unread": unread["has_unread"],
        "view": "list",
        "import_map": assets.import_map(),
        "preloads": assets.preloads(),
    }


def open_conversation(context: Json, access: ScopeAccess, page: Page[Any], *, is_newest: bool) -> Json:
    """Adds an open conversation and a page of its messages. Only the newest page is handed to the modules."""
    boot, me = context["boot"], context["me"]
    shown = render_conversation(access.member, access.scope)
    messages = render_messages(page.items)
    people = authors_of(messages)
    known = {member["id"] for member in boot["members"]}
    boot["members"] += [member for member_id, member in people.items() if member_id not in known]
    if all(other["id"] != shown["id"] for other in boot["conversations"]):
        boot["conversations"].append(shown)
    if is_newest:
        boot["page"] = {
            "items": messages,
            "has_more_before": page.has_more_before,
            "has_more_after": page.has_more_after,
        }
    name = conversation_name(shown, me)
    return context | {
        "conversation": shown,
        "name": name,
        "spoken_name": f"#{name}" if shown["type"] == "channel" else name,
        "icon": conversation_icon(shown),
        "may_post": access.may_post and not access.archived,
        "joined": access.joined,
        "archived": access.archived,
        "rows": rows(messages, people),
        "older": messages[0]["id"] if messages and page.has_more_before else None,
        "newer": messages[-1]["id"] if messages and page.has_more_after else None,
        "sections": sections(boot["conversations"], boot["unread"]["counts"], me, shown["id"]),
        "view": "room",
        "address": reverse("conversation", args=[context["workspace"]["slug"], access.scope.id]),
    }


def people_in(access: ScopeAccess) -> list[Json]:
    """Those in the open conversation, for its details. One statement."""
    places = places_in(access.scope).order_by("member__display_name", "member_id")[:PEOPLE_SHOWN]
    return render_members(place.member for place in places)


def _members(member: Member) -> list[Json]:
    found = members_of_workspace(member.workspace_id).filter(status=MemberStatus.ACTIVE)
    return render_members(found.order_by("pk")[: MEMBERS_SENT + 1])


def _workspaces(member: Member) -> list[Json]:
    """The user's workspaces, each with its red dot out of memory; this one in any case. Three statements at most."""
    members = Member.objects.filter(user=member.user_id, status=MemberStatus.ACTIVE)
    mine = dict(members.values_list("workspace_id", "id"))
    shown = list(workspaces_of(member.user)[:WORKSPACES_SHOWN])
    if all(workspace.id != member.workspace_id for workspace in shown):
        shown.append(member.workspace)
    return [
        {
            "id": str(workspace.id),
            "slug": workspace.slug,
            "name": workspace.name,
            "has_unread": unread_reader().has_unread(workspace.id, mine[workspace.id]),
        }
        for workspace in shown
        if workspace.id in mine
    ]
