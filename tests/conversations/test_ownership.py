"""Who owns a workspace: from its first use, while nobody else takes it, until it is given back."""

from __future__ import annotations

import threading
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from conversations.errors import Misdirected
from conversations.ids import new_id
from conversations.models import ResourceLock
from conversations.ownership import LeaseStore, Owner
from conversations.ownership.keeper import LeaseKeeper
from conversations.ownership.leases import workspace_resource
from tests.server import wait_until


class Heard:
    """What an owner's listeners were told, in order."""

    def __init__(self, owner: Owner) -> None:
        self.told: list[tuple[str, int]] = []
        self.usable_when_told: list[int | None] = []
        owner.on_owned(lambda workspace_id, epoch: self._owned(owner, workspace_id, epoch))
        owner.on_lost(lambda workspace_id, epoch: self.told.append(("lost", epoch)))

    def _owned(self, owner: Owner, workspace_id: UUID, epoch: int) -> None:
        self.told.append(("owned", epoch))
        self.usable_when_told.append(owner.epoch(workspace_id))


def owner_named(name: str, ttl_s: float = 60.0, **more: Any) -> Owner:
    return Owner(LeaseStore(f"{name}|boot|1|1|server", ttl_s), **more)


def run_out(workspace_id: UUID) -> None:
    """Time passes in the database."""
    resource = workspace_resource(workspace_id)
    ResourceLock.objects.filter(resource=resource).update(expires_at=timezone.now())


def test_the_first_use_takes_the_lease_and_others_are_refused() -> None:
    workspace, here, there = new_id(), owner_named("here"), owner_named("there")
    heard = Heard(here)
    assert here.require(workspace) == here.require(workspace) == 1
    with pytest.raises(Misdirected) as refused:
        there.require(workspace)
    assert refused.value.fields["owner"].startswith("here|")
    here.release_all()
    assert there.require(workspace) == 2
    assert heard.told == [("owned", 1)]


def test_listeners_hear_of_a_lease_before_anybody_can_use_it() -> None:
    owner = owner_named("here")
    heard = Heard(owner)
    owner.require(new_id())
    assert heard.usable_when_told == [None]


def test_a_lease_that_ran_out_and_that_nobody_took_keeps_its_epoch() -> None:
    workspace, owner = new_id(), owner_named("here", ttl_s=0.0)
    heard = Heard(owner)
    assert owner.require(workspace) == 1
    assert owner.epoch(workspace) is None
    assert owner.require(workspace) == 1
    owner.renew()
    assert owner.held() == {workspace: 1}
    assert heard.told == [("owned", 1)]


@pytest.mark.parametrize("notices", ["at a request", "when renewing", "in a transaction"])
def test_a_lease_that_somebody_took_is_lost(notices: str) -> None:
    workspace = new_id()
    here, there = owner_named("here", ttl_s=0.0 if notices == "at a request" else 60.0), owner_named("there")
    heard = Heard(here)
    here.require(workspace)
    run_out(workspace)
    assert there.require(workspace) == 2
    if notices == "at a request":
        with pytest.raises(Misdirected):
            here.require(workspace)
    elif notices == "when renewing":
        here.renew()
    else:
        here.drop(workspace, 1)
        here.drop(workspace, 1)
    assert here.held() == {}
    assert heard.told == [("owned", 1), ("lost", 1)]


def test_a_late_drop_does_not_touch_a_newer_lease() -> None:
    workspace, owner = new_id(), owner_named("here")
    owner.require(workspace)
    owner.drop(workspace, 1)
    assert owner.require(workspace) == 2
    owner.drop(workspace, 1)
    assert owner.held() == {workspace: 2}


@pytest.mark.parametrize(("profile", "managed"), [("central", True), ("workspace", False)])
def test_profiles_that_do_not_own_a_workspace_never_try(profile: str, managed: bool) -> None:
    workspace = new_id()
    owner = owner_named("here", profile=profile, managed=frozenset([workspace] if managed else []))
    with pytest.raises(Misdirected):
        owner.require(workspace)
    assert not ResourceLock.objects.filter(resource=workspace_resource(workspace)).exists()


def test_the_keeper_takes_what_it_manages_and_what_is_wanted_and_gives_all_back() -> None:
    managed, wanted, foreign = new_id(), new_id(), new_id()
    owner = owner_named("here", profile="workspace", managed=frozenset([managed, wanted]))
    keeper, woken = LeaseKeeper(owner), threading.Event()
    keeper.start()
    wait_until(lambda: owner.epoch(managed) == 1)
    keeper.want(wanted, woken.set)
    assert woken.wait(10)
    keeper.want(foreign, woken.set)
    assert keeper.healthy()
    keeper.stop(5)
    held = ResourceLock.objects.filter(resource__in=map(workspace_resource, (managed, wanted, foreign)))
    assert {row.locker_id for row in held} == {""}
    assert held.count() == 2


def test_the_keeper_renews_well_before_a_lease_runs_out() -> None:
    workspace, owner = new_id(), owner_named("here", ttl_s=2.0)
    owner.require(workspace)
    resource = workspace_resource(workspace)
    first = ResourceLock.objects.get(resource=resource).expires_at
    keeper = LeaseKeeper(owner)
    keeper.start()
    wait_until(lambda: ResourceLock.objects.get(resource=resource).expires_at > first, 10)
    assert owner.epoch(workspace) == 1
    keeper.stop(5)
