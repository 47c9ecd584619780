"""Pages of tasks and of the inbox. They are whole without JavaScript, and read anew with each visit."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from conversations.access import see_scope
from conversations.actions.joining import add_to_scope
from conversations.actions.notifications import set_notifications
from conversations.actions.reading import mark_read
from conversations.actions.tasks import NO_TASK, TaskChange, change_task, create_task
from conversations.errors import InvalidRequest, NotFound, Refusal
from conversations.models import Activity, Member, Task
from conversations.models.task import TaskStatus
from conversations.models.workspace import MemberStatus
from conversations.queries.conversations import render_conversation
from conversations.queries.inbox import inbox_rows, render_inbox
from conversations.queries.tasks import listed_tasks, render_tasks
from conversations.unread_port import unread_reader

from .looks import badge, conversation_name
from .views import member_of, refused

SHOWN = 100
ACTIVITIES_SHOWN = 30
PEOPLE_OFFERED = 500
REASONS = {
    "message": "new messages",
    "mention": "you were mentioned",
    "task_status": "its status changed",
    "task_title": "its title changed",
    "task_assignee": "its assignee changed",
    "task_column": "it was moved",
    "": "marked unread",
}


@require_GET
@never_cache
@login_required
def inbox(request: HttpRequest, slug: str) -> HttpResponse:
    """What wants the caller's attention, the latest first."""
    try:
        member = member_of(request, slug)
        rows = inbox_rows(member, _cursor(request), SHOWN + 1)
        items = render_inbox(member, rows[:SHOWN])
        for item in items:
            item["name"] = conversation_name(
                item["conversation"], {"id": str(member.id), "display_name": member.display_name}
            )
            item["badge"] = badge(item["unread"])
            item["why"] = REASONS.get(item["reason"], "something happened")
        older = items[-1]["id"] if len(rows) > SHOWN else None
        return _page(request, member, "inbox", items=items, older=older)
    except Refusal as refusal:
        return refused(request, refusal)


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def tasks(request: HttpRequest, slug: str) -> HttpResponse:
    """The tasks of a workspace by their status; a post creates one."""
    try:
        member = member_of(request, slug)
        error, title, status = "", "", 200
        if request.method == "POST":
            title = request.POST.get("title", "").strip()
            try:
                if not title or len(title) > 120 or not title.isprintable():
                    raise InvalidRequest("Give it a title of at most 120 characters.")
                made = create_task(
                    user=request.user,
                    workspace_id=member.workspace_id,
                    title=title,
                    assignee_id=_id_in(request, "assignee_id"),
                )
                return redirect("task", slug, made.id)
            except Refusal as refusal:
                error, status = refusal.message, refusal.status
        found = render_tasks(member, list(listed_tasks(member).order_by("-id")[:SHOWN]))
        people = _people(member)
        names = {str(person.id): person.display_name for person in people}
        for task in found:
            task["assignee"] = names.get(task["assignee_id"] or "", "")
            task["badge"] = badge(_unread(member, UUID(task["conversation_id"])))
        groups = [
            {"label": label, "tasks": [task for task in found if task["status"] == kind]}
            for kind, label in TaskStatus.choices
        ]
        context = {"groups": groups, "people": people, "error": error, "title": title}
        return _page(request, member, "tasks", status=status, **context)
    except Refusal as refusal:
        return refused(request, refusal)


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def task(request: HttpRequest, slug: str, task_id: UUID) -> HttpResponse:
    """One task with what happened to it; a post changes it."""
    try:
        member = member_of(request, slug)
        found = Task.objects.select_related("scope").filter(id=task_id, workspace=member.workspace_id).first()
        if found is None:
            raise NotFound(NO_TASK)
        error, status = "", 200
        if request.method == "POST":
            try:
                change_task(user=request.user, task_id=task_id, change=_change(request))
                return redirect("task", slug, task_id)
            except Refusal as refusal:
                error, status = refusal.message, refusal.status
        conversation = render_conversation(member, found.scope)
        recent = Activity.objects.select_related("actor").filter(scope=found.scope, ref_type="task_event")
        context = {
            "task": render_tasks(member, [found])[0],
            "conversation": conversation,
            "badge": badge(_unread(member, found.scope_id)),
            "statuses": TaskStatus.choices,
            "people": _people(member),
            "activities": [_told(each) for each in recent.order_by("-seq")[:ACTIVITIES_SHOWN]],
            "error": error,
        }
        return _page(request, member, "task", status=status, **context)
    except Refusal as refusal:
        return refused(request, refusal)


@require_POST
@login_required
def task_verb(request: HttpRequest, slug: str, task_id: UUID, verb: str) -> HttpResponse:
    """Read the task, watch it (joining it first), or watch it no more."""
    try:
        member = member_of(request, slug)
        found = Task.objects.filter(id=task_id, workspace=member.workspace_id).first()
        if found is None:
            raise NotFound(NO_TASK)
        where: dict[str, Any] = {"user": request.user, "scope_id": found.scope_id}
        if verb == "read":
            mark_read(**where)
        else:
            if not see_scope(request.user, found.scope_id).joined:
                add_to_scope(**where)
            set_notifications(**where, watch=verb == "watch" or None)
        return redirect("task", slug, task_id)
    except Refusal as refusal:
        return refused(request, refusal)


def _page(request: HttpRequest, member: Member, name: str, status: int = 200, **context: Any) -> HttpResponse:
    heading = {"inbox": "Inbox", "tasks": "Tasks"}.get(name) or context["task"]["title"]
    workspace = {"slug": member.workspace.slug, "name": member.workspace.name}
    shown = {"workspace": workspace, "me": member, "page": name, "heading": heading, **context}
    return render(request, f"pages/{name}.html", shown, status=status)


def _change(request: HttpRequest) -> TaskChange:
    given = request.POST
    title, column = given.get("title", "").strip(), given.get("column", "").strip()
    if not title or len(title) > 120 or not title.isprintable():
        raise InvalidRequest("Give it a title of at most 120 characters.")
    if len(column) > 64 or (column and not column.isprintable()):
        raise InvalidRequest("A column's name has at most 64 characters.")
    version = given.get("version", "")
    return TaskChange(
        title=title,
        status=given.get("status", "") or None,
        column=column,
        assignee_id=_id_in(request, "assignee_id"),
        version=int(version) if version.isascii() and version.isdigit() and len(version) < 16 else None,
    )


def _id_in(request: HttpRequest, name: str) -> UUID | None:
    raw = request.POST.get(name, "")
    try:
        return UUID(raw) if raw else None
    except ValueError:
        raise InvalidRequest(f"{name} is no id.") from None


def _cursor(request: HttpRequest) -> UUID | None:
    raw = request.GET.get("before", "")
    try:
        return UUID(raw) if raw else None
    except ValueError:
        raise InvalidRequest("This page does not exist.") from None


def _unread(member: Member, scope_id: UUID) -> dict[str, Any]:
    return unread_reader().scope_unread(member.workspace_id, member.id, scope_id)


def _people(member: Member) -> list[Member]:
    members = Member.objects.filter(workspace=member.workspace_id, status=MemberStatus.ACTIVE)
    return list(members.order_by("display_name", "id")[:PEOPLE_OFFERED])


def _told(activity: Activity) -> dict[str, Any]:
    kind = activity.type.removeprefix("task_")
    values = {name: activity.payload.get(name) or "nothing" for name in ("from", "to")}
    words = f"{kind}: {values['from']} → {values['to']}" if kind != "assignee" else "assignee changed"
    return {"who": activity.actor.display_name, "words": words.replace("_", " "), "at": activity.created_at}
