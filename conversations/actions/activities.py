"""Activities that clients post: things that happened to a conversation and are no messages."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ..access import ScopeAccess, member_scope, require_posting, see_scope
from ..activity_types import CLIENT_TYPES
from ..agentue.errors import AgentUEError
from ..agentue.fingerprint import canonical
from ..agentue.values import JsonObject, check_value
from ..backpressure import require_capacity
from ..errors import InvalidRequest
from ..locking import lock_scope
from ..models import Activity
from ..models.scope import ScopeType
from ..publish import publish_on_commit
from ..transactions import in_transaction
from .activity import append_activity
from .attention import attend_activity

MAX_PAYLOAD_BYTES = 16 * 1024
MAX_REF_CHARS = 256


def post_activity(
    *, user: Any, scope_id: UUID, kind: str, ref: str = "", payload: JsonObject | None = None
) -> Activity:
    """Store one activity of a type that clients may post; whoever may write here may post it.

    400 for other types and for a payload that is no JSON object of at most `MAX_PAYLOAD_BYTES`.
    """
    access = see_scope(user, scope_id)
    require_capacity(access.scope.workspace_id)
    if kind not in CLIENT_TYPES:
        raise InvalidRequest(f"type must be one of {', '.join(sorted(CLIENT_TYPES))}.", type=kind[:80])
    if len(ref) > MAX_REF_CHARS:
        raise InvalidRequest(f"ref may have at most {MAX_REF_CHARS} characters.")
    given = {} if payload is None else payload
    _require_payload(given)
    return _post(access, kind, ref, given)


@in_transaction
def _post(seen: ScopeAccess, kind: str, ref: str, payload: JsonObject) -> Activity:
    scope = lock_scope(seen.scope.workspace_id, seen.scope.id)
    require_posting(member_scope(seen.member, scope))
    if scope.type == ScopeType.TASK:
        facts = attend_activity(scope, seen.member, kind, ref_type="", ref=ref, payload=payload)
    else:
        facts = [append_activity(scope, seen.member, kind, ref=ref, payload=payload)]
    publish_on_commit(facts)
    return Activity.objects.get(scope=scope, seq=scope.latest_activity_seq)


def _require_payload(payload: Any) -> None:
    if not isinstance(payload, dict):
        raise InvalidRequest("payload must be an object.")
    try:
        check_value(payload, "payload", 0)
    except AgentUEError as refused:
        raise InvalidRequest(str(refused), code=refused.code, path=refused.path) from None
    if (size := len(canonical(payload))) > MAX_PAYLOAD_BYTES:
        raise InvalidRequest(f"payload may have at most {MAX_PAYLOAD_BYTES} bytes as JSON.", bytes=size)
