"""The one place that names concrete classes.

`build` runs once when Django has loaded its apps: it builds this process's owner and the bridge that its writers
publish to; it starts nothing, touches no database and opens no connection. `build_application` adds what a serving
process needs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings

if TYPE_CHECKING:
    from conversations.delivery.bridge import Bridge

    from .application import Application


def build() -> None:
    from conversations.delivery.announcing import Announcer, install_announcer
    from conversations.ownership import LeaseStore, Owner, install_owner, locker_id

    install_announcer(Announcer(_bridge()))
    install_owner(
        Owner(
            LeaseStore(holder=locker_id(_label()), ttl_s=settings.LOOPD_LEASE_TTL_S),
            profile=settings.LOOPD_PROFILE,
            managed=settings.LOOPD_MANAGED_WORKSPACES,
        )
    )


def build_application() -> Application:
    """The ASGI application with its workers, in the order of their start; they stop in reverse."""
    from conversations.actions.sweeping import card_sweeper, stream_sweeper
    from conversations.delivery.announcing import announcer
    from conversations.delivery.hub import StreamHub
    from conversations.delivery.routing import CONVERSATION_STREAM
    from conversations.delivery.sse import ConversationStreams
    from conversations.ownership import current_owner
    from conversations.ownership.keeper import LeaseKeeper
    from conversations.publish import subscribe
    from conversations.unread_port import install_unread_reader
    from realtime.consumers import WorkspaceSockets
    from realtime.hub import Hub
    from realtime.publisher import Publisher
    from realtime.revocation import access_sweep
    from realtime.routing import WORKSPACE_SOCKET
    from unread.app import UnreadWorker, hydrate, unread_app
    from unread.attention.worker import AttentionDelivery, AttentionWorker
    from unread.reader import MemoryReader

    from .application import Application
    from .http import PooledHandler
    from .hub_worker import HubWorker
    from .metrics import Gauges
    from .serving import Serving
    from .static import with_static_files
    from .workers import Workers

    owner, unread = current_owner(), unread_app()
    http = PooledHandler(settings.LOOPD_HTTP_THREADS)
    keeper = LeaseKeeper(owner)
    hub = Hub(unread.runtime, settings.LOOPD_HEARTBEAT_S)
    unread.deltas.listen(hub.changed)
    publisher = Publisher(hub)
    bridge = announcer().bridge
    streams = StreamHub(bridge)
    owner.on_lost(streams.lost)
    serving = Serving(Workers(), http, settings.LOOPD_STOP_DEADLINE_S)

    def wake(workspace_id: UUID, member_id: UUID) -> None:
        if owner.epoch(workspace_id) is not None:
            hydrate(workspace_id, member_id)
        else:
            keeper.want(workspace_id, lambda: hydrate(workspace_id, member_id))

    install_unread_reader(MemoryReader(unread.runtime, wake))
    for worker in (
        keeper,
        UnreadWorker(unread, owner),
        AttentionWorker(AttentionDelivery(unread.runtime, owner, unread.metrics)),
        HubWorker(hub, owner, lambda: serving.loop),
        publisher,
        access_sweep(hub),
        stream_sweeper(owner),
        card_sweeper(owner),
        streams,
    ):
        serving.workers.add(worker)
    subscribe(publisher.heard)
    subscribe(streams.heard)
    Gauges(
        {
            "loopd_http_requests_running": ("Requests admitted and not answered.", lambda: http.running),
            "loopd_realtime_sockets": ("Open sockets.", lambda: len(hub.sockets)),
            "loopd_realtime_gaps": ("Full outboxes replaced by a snapshot since the start.", lambda: hub.gaps),
            "loopd_realtime_facts_waiting": ("Facts that wait to be rendered.", lambda: publisher.waiting),
            "loopd_streams_open": ("Open streams of conversations.", lambda: streams.open_feeds),
            "loopd_streams_snapshots": (
                "Messages that streams began anew, since the start.",
                lambda: streams.snapshots_read,
            ),
            "loopd_bridge_published": ("Events handed to the bridge since the start.", lambda: bridge.counts.published),
            "loopd_bridge_failed": ("Events that the bridge did not take.", lambda: bridge.counts.failed),
            "loopd_bridge_lost": ("Streams whose log had lost something.", lambda: bridge.counts.lost),
            "loopd_leases_held": ("Workspaces that this process owns.", lambda: len(owner.held())),
        }
    )
    sockets = WorkspaceSockets(hub, http, lambda admitted: hydrate(admitted.workspace_id, admitted.member_id))
    return Application(
        serving,
        http,
        with_static_files,
        streams=[(CONVERSATION_STREAM, ConversationStreams(streams, http))],
        sockets=[(WORKSPACE_SOCKET, sockets)],
    )


def _bridge() -> Bridge:
    """Over Redis where there is one, else inside this process."""
    from conversations.delivery.memory import InProcessBridge
    from conversations.delivery.redis_streams import RedisBridge

    return RedisBridge(settings.REDIS_URL) if settings.REDIS_URL else InProcessBridge()


def _label() -> str:
    """What this process is, as others read it in a lease."""
    name = Path(sys.argv[0]).name if sys.argv else ""
    if name == "manage.py" and len(sys.argv) > 1:
        return sys.argv[1]
    return "server" if name in ("server.py", "-m") else name or "python"
