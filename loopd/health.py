"""`/healthz` and `/readyz`: answered beside Django, so that neither a stuck pool nor an unknown host name hides them.

`/healthz` says that the event loop turns. `/readyz` says whether traffic should come here: start-up is done, the
database and Redis answer, every worker lives, and no other server holds a lease that this one needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
from django.db import connection
from django.utils import timezone

from conversations.connections import database_unit
from conversations.delivery.announcing import announcer
from conversations.models import ResourceLock
from conversations.ownership import current_owner
from conversations.ownership.leases import WORKSPACE_PREFIX, is_dead, workspace_resource

from .serving import Phase, Serving

Message = dict[str, Any]
CHECK_PATIENCE_S = 5.0
SERVERS = ("server", "runserver", "daphne", "uvicorn", "gunicorn")
"""Labels of holders that serve requests; a command gives its leases back when it is done."""

_checks = ThreadPoolExecutor(2, thread_name_prefix="loopd-readyz")


async def healthz(send: Callable[[Message], Awaitable[None]]) -> None:
    await _answer(send, 200, {"status": "ok"})


async def readyz(serving: Serving, send: Callable[[Message], Awaitable[None]]) -> None:
    problems: dict[str, str] = {}
    if serving.phase is not Phase.READY:
        problems["process"] = str(serving.phase)
    if dead := serving.workers.dead():
        problems["workers"] = "not running: " + ", ".join(dead)
    loop = asyncio.get_running_loop()
    names = ("database", "bridge", "ownership")
    asked = [loop.run_in_executor(_checks, _unit, check) for check in (_database, _bridge, _ownership)]
    done, _ = await asyncio.wait(asked, timeout=CHECK_PATIENCE_S)
    for name, future in zip(names, asked, strict=True):
        found = future.result() if future in done else f"no answer within {CHECK_PATIENCE_S:g} s"
        if found:
            problems[name] = found
    status = {"status": "ready" if not problems else "not ready", "problems": problems}
    await _answer(send, 503 if problems else 200, status)


async def _answer(send: Callable[[Message], Awaitable[None]], status: int, content: dict[str, Any]) -> None:
    body = orjson.dumps(content)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _unit(check: Callable[[], str]) -> str:
    """What is wrong, or an empty string."""
    try:
        with database_unit():
            return check()
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


def _bridge() -> str:
    announcer().bridge.ping()
    return ""


def _ownership() -> str:
    """Names a server elsewhere that holds a lease which this one needs."""
    owner = current_owner()
    if owner.profile == "central":
        return ""
    held = ResourceLock.objects.filter(expires_at__gt=timezone.now()).exclude(locker_id__in=["", owner.leases.holder])
    if owner.profile == "workspace":
        held = held.filter(resource__in=[workspace_resource(managed) for managed in owner.managed])
    else:
        held = held.filter(resource__startswith=WORKSPACE_PREFIX)
    for resource, holder in held.values_list("resource", "locker_id")[:100]:
        if holder.rsplit("|", 1)[-1] in SERVERS and not is_dead(holder):
            return f"{resource} is held by {holder}"
    return ""
