"""Every change of a roster is one generation and one fact, in one batch; what the facts say is what the rows hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from conversations.actions import workspace_members
from conversations.events import (
    ConversationUpdated,
    Fact,
    MembershipChanged,
    MemberUpdated,
    MessageUpdated,
    NonMessageActivityStored,
    ScopeStateChanged,
)
from conversations.models import Membership, Scope
from conversations.models.scope import Visibility
from conversations.models.workspace import MemberStatus, Role
from tests import verbs
from tests.world import World, facts_of

from .projection import Rosters

Batches = list[tuple[Fact, ...]]


@pytest.fixture
def world() -> World:
    world = World("ann", "ben", "cat", "dan", agents=("bot",))
    world.channel("x", "ann", "ben")
    world.channel("hidden", "ann", "ben", private=True)
    world.dm("dm", "ann", "ben")
    world.conversation("talk", "ben", "bot", "ann")
    verbs.thread(world, "ben", verbs.post(world, "ann", "x"), "thread")
    return world


@pytest.fixture
def batches(world: World) -> Iterator[Batches]:
    with facts_of(world) as heard:
        yield heard


ACTIONS: dict[str, Callable[[World], object]] = {
    "join": lambda w: verbs.join(w, "cat", "x"),
    "add": lambda w: verbs.join(w, "cat", "hidden", by="ben"),
    "leave": lambda w: verbs.leave(w, "ben", "hidden"),
    "remove": lambda w: verbs.leave(w, "ben", "talk", by="ben"),
    "leave a channel with a thread": lambda w: verbs.leave(w, "ben", "x"),
    "leave a thread": lambda w: verbs.leave(w, "ben", "thread"),
    "archive": lambda w: verbs.archive(w, "ann", "x"),
    "rename": lambda w: verbs.rename(w, "ann", "x", "y"),
    "hide": lambda w: verbs.publicise(w, "ann", "x", Visibility.PRIVATE),
    "show": lambda w: verbs.publicise(w, "ann", "hidden", Visibility.PUBLIC),
    "a new channel": lambda w: w.channel("new", "ann", "ben", "cat", "dan"),
    "a new dm": lambda w: w.dm("new", "ann", "cat", "dan"),
    "a new conversation": lambda w: w.conversation("new", "cat", "bot"),
    "a new thread": lambda w: verbs.thread(w, "ben", verbs.post(w, "ann", "hidden"), "new"),
    "deactivate": lambda w: deactivate(w, "ben"),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_the_rows_before_plus_the_facts_are_the_rows_after(name: str, world: World, batches: Batches) -> None:
    before = Rosters.fresh(world.id)
    ACTIONS[name](world)
    facts = [fact for batch in batches for fact in batch]
    assert facts
    after = Rosters.fresh(world.id)
    if not name.startswith("a new thread"):  # its root's post moves the author's cursor, by a fact of its own
        assert before.apply([*reversed(facts), *facts]).same_as(after)
    changes = [fact for fact in facts if isinstance(fact, (MembershipChanged, ScopeStateChanged))]
    assert len({(fact.scope_id, fact.roster_generation) for fact in changes}) == len(changes)


def test_one_action_is_one_batch(world: World, batches: Batches) -> None:
    for name in ("join", "leave", "leave a channel with a thread", "rename", "hide", "a new channel", "archive"):
        batches.clear()
        ACTIONS[name](world)
        assert len(batches) == 1, name


def test_what_changes_nothing_writes_and_says_nothing(world: World, batches: Batches) -> None:
    verbs.archive(world, "ann", "hidden")
    rows = list(Scope.objects.filter(workspace=world.id).order_by("id").values())
    places = list(Membership.objects.filter(scope__workspace=world.id).order_by("id").values())
    batches.clear()
    assert not verbs.join(world, "ben", "x")
    assert not verbs.leave(world, "dan", "x", by="ann")
    verbs.archive(world, "ann", "hidden")
    verbs.restore(world, "ann", "x")
    verbs.rename(world, "ann", "x", "x")
    verbs.publicise(world, "ann", "x", Visibility.PUBLIC)
    world.dm("again", "ben", "ann")
    verbs.thread(world, "ann", world.scope["thread"].root_message_id, "again")
    update(world, "ben", role=Role.MEMBER, display_name="Ben", status=MemberStatus.ACTIVE)
    assert batches == []
    assert list(Scope.objects.filter(workspace=world.id).order_by("id").values()) == rows
    assert list(Membership.objects.filter(scope__workspace=world.id).order_by("id").values()) == places


def test_a_join_says_everything_about_the_new_place(world: World, batches: Batches) -> None:
    for _ in range(3):
        verbs.post(world, "ann", "x")
    batches.clear()
    before = verbs.fresh(world.scope["x"])
    verbs.join(world, "cat", "x", by="ben")
    [(joined, notice, told)] = batches
    assert isinstance(joined, MembershipChanged)
    assert isinstance(notice, NonMessageActivityStored)
    assert isinstance(told, ConversationUpdated)
    assert (joined.member_id, joined.active, joined.begins) == (world.member["cat"].id, True, True)
    assert (joined.effective_from_seq, joined.last_read_seq) == (before.latest_seq + 1, before.latest_seq)
    assert joined.last_activity_read_seq == notice.seq == before.latest_activity_seq + 1
    assert joined.roster_generation == before.roster_generation + 1
    assert (notice.type, notice.counts, notice.actor_id) == ("member_joined", False, world.member["ben"].id)
    assert told.members_changed == (world.member["cat"].id,)


def test_rejoining_starts_at_the_end_without_markers_and_with_the_old_level(world: World, batches: Batches) -> None:
    verbs.notify(world, "ben", "x", "mentions")
    verbs.mark_unread(world, "ben", "x")
    verbs.leave(world, "ben", "x")
    verbs.post(world, "ann", "x")
    batches.clear()
    verbs.join(world, "ben", "x")
    joined = next(f for f in batches[0] if isinstance(f, MembershipChanged))
    scope = verbs.fresh(world.scope["x"])
    assert (joined.effective_from_seq, joined.last_read_seq) == (scope.latest_seq + 1, scope.latest_seq)
    assert joined.last_activity_read_seq == scope.latest_activity_seq
    assert (joined.level.name, joined.policy_generation) == ("MENTIONS", 1)
    assert (joined.marker_seq, joined.marker_generation) == (0, 2)
    assert joined.membership_generation == 3
    assert joined.read_generation == Membership.objects.get(scope=scope, member=world.member["ben"]).read_generation


def test_leaving_a_channel_ends_its_threads_and_rejoining_revives_none(world: World, batches: Batches) -> None:
    verbs.leave(world, "ben", "x")
    ended = [fact for fact in batches[0] if isinstance(fact, MembershipChanged)]
    assert {fact.scope_id for fact in ended} == {world.scope["x"].id, world.scope["thread"].id}
    assert all(not fact.active and not fact.begins for fact in ended)
    assert next(fact.parent_id for fact in ended if fact.scope_id == world.scope["thread"].id) == world.scope["x"].id
    verbs.join(world, "ben", "x")
    assert not Membership.objects.get(scope=world.scope["thread"], member=world.member["ben"]).active


def test_archiving_a_channel_touches_no_thread(world: World, batches: Batches) -> None:
    thread = verbs.fresh(world.scope["thread"])
    verbs.archive(world, "ann", "x")
    assert [fact.scope_id for fact in batches[0] if isinstance(fact, ScopeStateChanged)] == [world.scope["x"].id]
    assert Scope.objects.filter(id=thread.id).values().get() == {
        k: v for k, v in vars(thread).items() if not k.startswith("_")
    }


def test_a_thread_begins_with_its_opener_and_the_roots_author(world: World, batches: Batches) -> None:
    verbs.join(world, "cat", "x")
    root = verbs.post(world, "cat", "x")
    verbs.leave(world, "cat", "x")
    other = verbs.post(world, "ann", "x")
    batches.clear()
    verbs.thread(world, "ben", root, "of one who left")
    verbs.thread(world, "ben", other, "of ann")
    first, second = ([f.member_id for f in b if isinstance(f, MembershipChanged)] for b in batches)
    assert first == [world.member["ben"].id]
    assert set(second) == {world.member["ann"].id, world.member["ben"].id}
    assert [f.message_id for b in batches for f in b if isinstance(f, MessageUpdated)] == [root.id, other.id]


def test_deactivation_ends_every_place_and_coming_back_revives_only_what_nobody_could_add(
    world: World, batches: Batches
) -> None:
    deactivate(world, "ben")
    assert not Membership.objects.filter(member=world.member["ben"], status="active").exists()
    ended = [fact for batch in batches for fact in batch if isinstance(fact, MembershipChanged)]
    assert {f.scope_id for f in ended} == {world.scope[n].id for n in ("x", "hidden", "dm", "talk", "thread")}
    assert sum(isinstance(fact, MemberUpdated) for batch in batches for fact in batch) == 1
    batches.clear()
    update(world, "ben", status=MemberStatus.ACTIVE)
    begun = [fact for batch in batches for fact in batch if isinstance(fact, MembershipChanged)]
    assert {f.scope_id for f in begun} == {world.scope["dm"].id, world.scope["talk"].id}
    assert all(fact.begins and fact.active for fact in begun)


def test_an_interrupted_deactivation_is_finished_by_the_next_call(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_members, "SCOPES_PER_TRANSACTION", 2)
    end_some, calls = workspace_members._end_some, []

    def dying(*args: object) -> bool:
        calls.append(args)
        if len(calls) == 2:
            raise ConnectionError("the process goes away here")
        return end_some(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(workspace_members, "_end_some", dying)
    with pytest.raises(ConnectionError):
        deactivate(world, "ben")
    assert Membership.objects.filter(member=world.member["ben"], status="active").count() == 3
    deactivate(world, "ben")
    assert not Membership.objects.filter(member=world.member["ben"], status="active").exists()


def deactivate(world: World, who: str) -> None:
    workspace_members.deactivate_member(user=world.user["ann"], workspace_id=world.id, member_id=world.member[who].id)


def update(world: World, who: str, **change: object) -> None:
    workspace_members.update_member(
        user=world.user["ann"],
        workspace_id=world.id,
        member_id=world.member[who].id,
        **change,  # type: ignore[arg-type]
    )
