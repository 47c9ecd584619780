"""Where sockets connect."""

from __future__ import annotations

import re

WORKSPACE_SOCKET = re.compile(r"/ws/workspaces/(?P<workspace_id>[0-9a-fA-F-]{36})/")


def workspace_socket_path(workspace_id: object) -> str:
    return f"/ws/workspaces/{workspace_id}/"
