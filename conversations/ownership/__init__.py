"""Who owns a workspace: profiles, the lease with its epoch, and the check that every request and write meets."""

from .leases import LeaseHeld, LeaseStore, locker_id
from .owner import Owner, current_owner, install_owner

__all__ = ["LeaseHeld", "LeaseStore", "Owner", "current_owner", "install_owner", "locker_id"]
