"""Where streams connect."""

from __future__ import annotations

import re

CONVERSATION_STREAM = re.compile(r"/v1/conversations/(?P<conversation_id>[0-9a-fA-F-]{36})/stream")


def conversation_stream_path(conversation_id: object) -> str:
    return f"/v1/conversations/{conversation_id}/stream"
