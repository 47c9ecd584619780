"""Views of pages: parse the address, ask the queries or one action, render. They work without JavaScript."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from conversations.access import ScopeAccess, see_scope, workspace_member, workspaces_of
from conversations.actions.joining import add_to_scope
from conversations.actions.messages import send_message
from conversations.actions.reading import mark_read
from conversations.actions.workspaces import create_workspace
from conversations.errors import NotFound, Refusal
from conversations.models import Member, Workspace
from conversations.queries.timeline import Page, history

from .first_screen import open_conversation, people_in, screen
from .looks import Json

MESSAGES_SHOWN = 50
MAX_WORKSPACE_NAME = 120


class Login(LoginView):
    template_name = "pages/login.html"
    redirect_authenticated_user = True


@require_GET
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """The first of one's workspaces, or the way to one."""
    first = workspaces_of(request.user).first()
    return redirect("workspace", first.slug) if first else redirect("new-workspace")


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def new_workspace(request: HttpRequest) -> HttpResponse:
    name, error = request.POST.get("name", "").strip(), ""
    if request.method == "POST":
        slug = slugify(request.POST.get("slug", "") or name)[:64].strip("-_")
        try:
            if not name or len(name) > MAX_WORKSPACE_NAME or not name.isprintable():
                error = f"Give it a name of at most {MAX_WORKSPACE_NAME} characters."
            elif not slug:
                error = "Give it an address of the letters a-z, digits and dashes."
            else:
                return redirect("workspace", create_workspace(user=request.user, slug=slug, name=name).slug)
        except Refusal as refusal:
            error = refusal.message
    context = {"name": name, "slug": request.POST.get("slug", ""), "error": error}
    return render(request, "pages/new_workspace.html", context, status=400 if error else 200)


@require_GET
@never_cache
@login_required
def workspace(request: HttpRequest, slug: str) -> HttpResponse:
    """The list of conversations; beside it, on wide screens, a welcome."""
    try:
        return render(request, "pages/app.html", screen(request, member_of(request, slug)))
    except Refusal as refusal:
        return refused(request, refusal)


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def conversation(request: HttpRequest, slug: str, scope_id: UUID) -> HttpResponse:
    """A conversation with a page of its messages. A post sends one, for browsers without JavaScript."""
    try:
        access = _access(request, slug, scope_id)
        if request.method == "POST":
            return _send(request, slug, access)
        return render(request, "pages/app.html", _opened(request, access))
    except Refusal as refusal:
        return refused(request, refusal)


@require_GET
@never_cache
@login_required
def about(request: HttpRequest, slug: str, scope_id: UUID) -> HttpResponse:
    """The same with its details beside it."""
    try:
        access = _access(request, slug, scope_id)
        context = _opened(request, access) | {"view": "panel", "people": people_in(access)}
        return render(request, "pages/app.html", context)
    except Refusal as refusal:
        return refused(request, refusal)


@require_POST
@login_required
def read(request: HttpRequest, slug: str, scope_id: UUID) -> HttpResponse:
    return _do(request, slug, scope_id, mark_read)


@require_POST
@login_required
def join(request: HttpRequest, slug: str, scope_id: UUID) -> HttpResponse:
    return _do(request, slug, scope_id, add_to_scope)


def _do(request: HttpRequest, slug: str, scope_id: UUID, action: Any) -> HttpResponse:
    try:
        _access(request, slug, scope_id)
        action(user=request.user, scope_id=scope_id)
    except Refusal as refusal:
        return refused(request, refusal)
    return redirect("conversation", slug, scope_id)


def _send(request: HttpRequest, slug: str, access: ScopeAccess) -> HttpResponse:
    text = request.POST.get("text", "").strip()
    try:
        if text:
            key = request.POST.get("client_message_id", "")[:64] or None
            send_message(user=request.user, scope_id=access.scope.id, text=text, client_message_id=key)
        return HttpResponseRedirect(f"/w/{slug}/c/{access.scope.id}/#end")
    except Refusal as refusal:
        context = _opened(request, access) | {"failure": refusal.message, "text": text}
        return render(request, "pages/app.html", context, status=refusal.status)


def _opened(request: HttpRequest, access: ScopeAccess) -> Json:
    before, after = _cursor(request, "before"), _cursor(request, "after")
    page: Page[Any] = history(access, before=before, after=after, limit=MESSAGES_SHOWN)
    newest = before is None and after is None
    return open_conversation(screen(request, access.member), access, page, is_newest=newest)


def _cursor(request: HttpRequest, name: str) -> UUID | None:
    raw = request.GET.get(name)
    try:
        return UUID(raw) if raw else None
    except ValueError:
        raise NotFound("This message does not exist.") from None


def member_of(request: HttpRequest, slug: str) -> Member:
    found = Workspace.objects.filter(slug=slug).values_list("id", flat=True).first()
    if found is None:
        raise NotFound("This workspace does not exist.")
    return workspace_member(request.user, found)


def _access(request: HttpRequest, slug: str, scope_id: UUID) -> ScopeAccess:
    access = see_scope(request.user, scope_id)
    if access.member.workspace.slug != slug:
        raise NotFound("This conversation does not exist.")
    return access


def refused(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    if isinstance(refusal, NotFound):
        raise Http404(refusal.message)
    return render(request, "pages/refused.html", {"refusal": refusal}, status=refusal.status)
