"""The one place that names concrete classes: builds this process's owner and joins listeners to the facts.

Called once when Django has loaded every app (`LoopdConfig.ready`); builds, starts nothing, touches no database.
"""

from __future__ import annotations

import sys
from pathlib import Path

from django.conf import settings


def build() -> None:
    from conversations.ownership import LeaseStore, Owner, install_owner, locker_id

    install_owner(
        Owner(
            LeaseStore(holder=locker_id(_label()), ttl_s=settings.LOOPD_LEASE_TTL_S),
            profile=settings.LOOPD_PROFILE,
            managed=settings.LOOPD_MANAGED_WORKSPACES,
        )
    )


def _label() -> str:
    """What this process is, as others read it in a lease."""
    name = Path(sys.argv[0]).name if sys.argv else ""
    return sys.argv[1] if name == "manage.py" and len(sys.argv) > 1 else name or "python"
