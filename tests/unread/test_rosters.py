"""Roster pages for warm jobs: who is in a scope, with setting, marker and snapshot row, in one statement a page."""

from __future__ import annotations

from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.ids import new_id
from conversations.models import Membership, MemberState, NotificationSetting, Scope
from tests.unread.rows import place, snapshot
from unread.core.events import Level
from unread.rosters import RosterTable
from unread.store import SnapshotTable

rosters, store = RosterTable(), SnapshotTable()


def test_a_header_names_the_numbers_of_a_scope_and_its_parent() -> None:
    here = place(members=1, scopes=1)
    channel = here.scopes[0]
    Scope.objects.filter(id=channel.id).update(status="archived", roster_generation=4)
    thread = Scope.objects.create(
        workspace=here.workspace,
        type="thread",
        parent_scope=channel,
        roster_generation=2,
        rewind_generation=3,
        latest_seq=5,
        latest_activity_seq=6,
    )
    header = rosters.load_header(here.id, thread.id.int)
    assert header is not None
    assert (header.parent, header.active, header.parent_active) == (channel.id.int, True, False)
    assert (header.roster_generation, header.parent_roster_generation, header.rewind_generation) == (2, 4, 3)
    assert (header.latest_seq, header.latest_activity_seq) == (5, 6)
    parent = rosters.load_header(here.id, channel.id.int)
    assert parent is not None
    assert (parent.parent, parent.active, parent.parent_active) == (0, False, True)


def test_a_scope_of_another_workspace_has_no_header() -> None:
    here, there = place(members=1, scopes=1), place(members=1, scopes=1)
    assert rosters.load_header(here.id, there.scopes[0].id.int) is None
    assert rosters.load_header(here.id, new_id().int) is None


def test_a_page_joins_membership_setting_marker_and_snapshot() -> None:
    here = place(members=2, scopes=1)
    scope = here.scopes[0]
    plain, rich = here.members
    Membership.objects.filter(scope=scope, member=rich).update(
        status="left",
        visible=False,
        effective_from_seq=3,
        last_read_seq=4,
        last_activity_read_seq=5,
        membership_generation=6,
        read_generation=7,
    )
    NotificationSetting.objects.create(scope=scope, member=rich, level="mentions", generation=8)
    MemberState.objects.create(scope=scope, member=rich, manual_unread=True, manual_unread_seq=9, generation=10)
    MemberState.objects.create(scope=scope, member=plain, manual_unread=False, manual_unread_seq=9, generation=2)
    written = snapshot(rich.id, scope.id)
    store.upsert(here.id, here.epoch, [written])

    page = {row.member: row for row in rosters.load_page(here.id, scope.id.int, 0, 10)}
    row = page[rich.id.int]
    assert (row.active, row.visible, row.effective_from_seq) == (False, False, 3)
    assert (row.last_read_seq, row.last_activity_read_seq) == (4, 5)
    assert (row.membership_generation, row.read_generation) == (6, 7)
    assert (row.level, row.policy_generation, row.marker_seq, row.marker_generation) == (Level.MENTIONS, 8, 9, 10)
    assert row.snapshot == written
    other = page[plain.id.int]
    assert (other.active, other.visible, other.level, other.policy_generation) == (True, True, Level.ALL, 0)
    assert (other.marker_seq, other.marker_generation, other.snapshot) == (0, 2, None)


def test_pages_cover_the_roster_once_each_in_one_statement() -> None:
    here = place(members=11, scopes=2)
    seen: list[int] = []
    after, sizes = 0, []
    while True:
        with CaptureQueriesContext(connection) as captured:
            page = rosters.load_page(here.id, here.scopes[0].id.int, after, 4)
        assert len([q for q in captured.captured_queries if q["sql"].lstrip().startswith("SELECT")]) == 1
        sizes.append(len(page))
        seen += [row.member for row in page]
        if len(page) < 4:
            break
        after = page[-1].member
    assert sizes == [4, 4, 3]
    assert sorted(seen) == sorted(member.id.int for member in here.members)
