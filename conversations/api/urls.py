"""Every `/v1` route of this app; each view module lists its own."""

from __future__ import annotations

from importlib import import_module

_MODULES = (
    "identity",
    "workspaces",
    "scopes",
    "memberships",
    "threads",
    "messages",
    "streams",
    "rendered",
    "reading",
    "reactions",
    "activities",
    "tasks",
    "inbox",
    "registry",
    "consuming",
    "cards",
)

urlpatterns = [route for name in _MODULES for route in import_module(f".{name}", __package__).urlpatterns]
