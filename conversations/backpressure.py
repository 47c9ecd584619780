"""Writers are pushed back while unread cannot keep up; reads go on."""

from __future__ import annotations

from uuid import UUID

from .errors import Unavailable
from .unread_port import unread_reader


def require_capacity(workspace_id: UUID) -> None:
    """Call before any work of an action that changes unread facts; costs no statement."""
    if unread_reader().overloaded(workspace_id):
        raise Unavailable("Too much is waiting to be saved; try again in a few seconds.")
