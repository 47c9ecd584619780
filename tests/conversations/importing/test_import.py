"""What an export becomes: people, channels, history in its order and times, and nobody's unread touched."""

from __future__ import annotations

import io
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from conversations.actions.messages import send_message
from conversations.actions.removing import delete_message
from conversations.importing import history
from conversations.models import (
    Activity,
    Member,
    Membership,
    Message,
    MessageMention,
    MessageReaction,
    ResourceLock,
    Scope,
    Workspace,
)
from conversations.ownership import LeaseStore, current_owner
from conversations.ownership.leases import workspace_resource
from tests.verbs import post
from tests.world import World

from .exports import START_S, ExportMaker, big_team, small_team, write_zip


class Import:
    """One workspace into which exports are imported; looks things up by the names that they have in Slack."""

    def __init__(self, folder: Path, slug: str = "") -> None:
        self.folder, self.tag = folder, secrets.token_hex(4)
        self.slug = slug or f"w-{self.tag}"

    def small_team(self) -> ExportMaker:
        return small_team(self.tag)

    def run(self, made: ExportMaker) -> str:
        out = io.StringIO()
        path = made.write(self.folder / "export.zip")
        call_command("import_slack", path, workspace=self.slug, stdout=out, stderr=io.StringIO())
        return out.getvalue()

    @property
    def workspace(self) -> Workspace:
        return Workspace.objects.get(slug=self.slug)

    def scope(self, name: str) -> Scope:
        return Scope.objects.get(workspace=self.workspace, name=name)

    def member(self, name: str) -> Member:
        return Member.objects.select_related("user").get(workspace=self.workspace, display_name=name)

    def said(self, name: str) -> list[Message]:
        return list(Message.objects.filter(scope=self.scope(name)).select_related("author").order_by("id"))

    def thread(self, name: str) -> Scope:
        return Scope.objects.get(parent_scope=self.scope(name))

    def rows(self) -> dict[str, Any]:
        """Every imported row, to compare before and after."""
        tables = (Member, Scope, Membership, Message, Activity, MessageMention, MessageReaction)
        paths = ("workspace", "workspace", "scope__workspace", "scope__workspace", "scope__workspace") + (
            "message__scope__workspace",
        ) * 2
        return {
            model.__name__: sorted(model.objects.filter(**{path: self.workspace}).values_list(), key=str)
            for model, path in zip(tables, paths, strict=True)
        }


def text_of(message: Message) -> str:
    return "".join(block.get("content", "") for block in message.content["blocks"])


@pytest.fixture
def imported(tmp_path: Path) -> Import:
    made = Import(tmp_path)
    made.report = made.run(made.small_team())  # type: ignore[attr-defined]
    return made


def test_messages_keep_author_time_and_order(imported: Import) -> None:
    said = imported.said("general")
    assert [(message.author.display_name, text_of(message)) for message in said] == [
        ("Ann", f"Hello @ben{imported.tag}, see #closed & the plan (https://example.org/a?b=1&c=2)"),
        ("Ben", "fixed"),
        ("Old Timer", "I was here"),
        ("Cat", "the report"),
        ("deployer", "deploy done"),
        ("Helper", "beep"),
        ("Guest", "from a guest"),
        ("Ann", "next day"),
    ]
    assert [message.seq for message in said] == list(range(1, 9))
    assert [message.created_at for message in said] == sorted(message.created_at for message in said)
    assert said[1].created_at == datetime.fromtimestamp(START_S + 11, UTC).replace(microsecond=500_000)
    assert all(message.silent and message.id.version == 7 for message in said)


def test_counters_are_those_that_sends_would_have_left(imported: Import) -> None:
    scope, said = imported.scope("general"), imported.said("general")
    assert scope.latest_seq == scope.visible_message_count == len(said)
    assert scope.last_message_id == said[-1].id
    assert scope.visible_last_message_at == said[-1].created_at
    assert scope.latest_activity_seq == Activity.objects.filter(scope=scope).count()
    active = Membership.objects.filter(scope=scope).count()
    assert (scope.roster_generation, active) == (3, 3)


def test_an_edit_is_marked_and_reactions_are_kept(imported: Import) -> None:
    fixed = imported.said("general")[1]
    assert fixed.edited_at == datetime.fromtimestamp(START_S + 40, UTC)
    assert fixed.revision == 1
    kept = {(each.emoji, each.member.display_name) for each in fixed.reactions.select_related("member")}
    assert kept == {("thumbsup", "Ann"), ("thumbsup", "Cat"), ("tada", "Old Timer")}


def test_a_file_becomes_a_link_block(imported: Import) -> None:
    assert imported.said("general")[3].content["blocks"] == [
        {"id": "text", "type": "text", "content": "the report"},
        {
            "id": "file-1",
            "type": "link",
            "title": "Report",
            "url": "https://example.org/r",
            "mimetype": "application/pdf",
            "size": 9,
        },
    ]


def test_replies_are_in_the_thread_of_their_root(imported: Import) -> None:
    root, thread = imported.said("general")[0], imported.thread("general")
    assert (thread.type, thread.root_message_id) == ("thread", root.id)
    replies = list(Message.objects.filter(scope=thread).order_by("id"))
    assert [text_of(reply) for reply in replies] == ["in the thread", f"me too, @ann{imported.tag}"]
    assert (thread.visible_message_count, thread.latest_seq) == (2, 2)
    members = {row.member.display_name for row in Membership.objects.filter(scope=thread).select_related("member")}
    assert members == {"Ann", "Ben", "Cat"}
    assert {m.member.display_name for m in replies[1].mentions.select_related("member")} == {"Ann"}


def test_people_apps_and_guests_become_members(imported: Import) -> None:
    shown = {
        m.display_name: (m.actor_kind, m.role, m.status, m.user.has_usable_password())
        for m in Member.objects.filter(workspace=imported.workspace).select_related("user")
    }
    assert shown == {
        "Ann": ("user", "admin", "active", True),
        "Ben": ("user", "member", "active", True),
        "Cat": ("user", "member", "active", True),
        "Old Timer": ("user", "member", "deactivated", True),
        "Helper": ("bot", "member", "active", False),
        "deployer": ("bot", "member", "active", False),
        "Guest": ("user", "member", "deactivated", True),
    }


def test_kinds_of_channels(imported: Import) -> None:
    scopes = {scope.name or scope.type: scope for scope in Scope.objects.filter(workspace=imported.workspace)}
    assert (scopes["general"].visibility, scopes["general"].status) == ("public", "active")
    assert (scopes["secret"].type, scopes["secret"].visibility) == ("channel", "private")
    assert (scopes["closed"].status, scopes["closed"].archived_at) == (
        "archived",
        datetime.fromtimestamp(START_S + 5, UTC),
    )
    assert scopes["dm"].type == "dm"
    assert Membership.objects.filter(scope=scopes["dm"]).count() == 2


def test_what_happened_becomes_low_signal_activity(imported: Import) -> None:
    happened = Activity.objects.filter(scope=imported.scope("general")).order_by("seq")
    ann = imported.member("Ann")
    assert [(each.type, each.payload) for each in happened] == [
        ("member_joined", {"member_id": str(ann.id)}),
        ("topic", {"topic": "Work & play"}),
    ]


def test_the_report_says_what_was_skipped_and_why(imported: Import) -> None:
    report = imported.report  # type: ignore[attr-defined]
    assert "Added: 5 people, 2 apps, 4 conversations, 10 memberships, 1 threads, 13 messages, 2 activities" in report
    assert "Skipped: 1 x a pin; pins are not imported." in report


def test_a_second_run_adds_nothing(imported: Import) -> None:
    before, users = imported.rows(), get_user_model().objects.count()
    report = imported.run(imported.small_team())
    assert report.startswith("Added: nothing.\nHere already: 15 messages and activities.")
    assert imported.rows() == before
    assert get_user_model().objects.count() == users


def test_a_later_export_adds_only_what_is_new(imported: Import) -> None:
    more = imported.small_team()
    more.say("general", "U2", "news", 100_000)
    root = more.said["general"][1]["ts"]
    more.say("general", "U1", "late reply", 100_001, thread_ts=root)
    more.user("U6", "dan")
    more.lists["channels.json"][0]["members"].append("U6")
    report = imported.run(more)
    assert report.startswith("Added: 1 people, 1 memberships, 2 messages.")
    assert text_of(imported.said("general")[-1]) == "news"
    assert Message.objects.filter(scope=imported.thread("general")).count() == 3


def test_everybody_has_read_what_was_imported(imported: Import) -> None:
    """Also after more comes; who had not read everything keeps what was unread."""
    general = imported.scope("general")
    ben = imported.member("Ben")
    before = Membership.objects.get(scope=general, member=ben)
    Membership.objects.filter(pk=before.pk).update(last_read_seq=3)
    more = imported.small_team()
    more.say("general", "U1", "news", 100_000)
    imported.run(more)
    general.refresh_from_db()
    cursors = {
        row.member.display_name: (row.last_read_seq, row.last_activity_read_seq)
        for row in Membership.objects.filter(scope=general).select_related("member")
    }
    assert cursors == {"Ann": (9, 2), "Cat": (9, 2), "Ben": (3, 2)}
    assert general.latest_seq == 9


def test_what_was_deleted_here_is_not_brought_back(imported: Import) -> None:
    message, admin = imported.said("general")[1], imported.member("Ann")
    delete_message(user=admin.user, message_id=message.id)
    assert "Added: nothing." in imported.run(imported.small_team())
    assert not Message.objects.filter(id=message.id).exists()


def test_who_left_here_stays_away(imported: Import) -> None:
    general, cat = imported.scope("general"), imported.member("Cat")
    Membership.objects.filter(scope=general, member=cat).update(status="left")
    imported.run(imported.small_team())
    assert Membership.objects.get(scope=general, member=cat).status == "left"


def test_existing_accounts_and_channels_are_left_alone(tmp_path: Path) -> None:
    world = World("zoe", strangers=("ann",))
    world.channel("general", "zoe")
    post(world, "zoe", "general", "ours")
    target = Import(tmp_path, world.workspace.slug)
    taken = world.user["ann"].username
    target.tag = taken.removeprefix("ann")
    report = target.run(target.small_team())
    assert f"the user name {taken} is taken; now {taken}-slack" in report
    assert "the channel name general is taken or too long; now general (Slack)" in report
    assert target.member("Ann").user.username == f"{taken}-slack"
    assert len(target.said("general")) == 1
    assert text_of(target.said("general (Slack)")[0]).startswith("Hello @")
    assert "Added: nothing." in target.run(target.small_team())


def test_a_workspace_that_somebody_serves_is_refused_with_the_name(tmp_path: Path) -> None:
    world = World("zoe")
    server = LeaseStore("elsewhere|boot|1|1|server", ttl_s=60)
    epoch = server.acquire(workspace_resource(world.id))
    target = Import(tmp_path, world.workspace.slug)
    with pytest.raises(CommandError, match=r"elsewhere\|boot\|1\|1\|server owns it; stop that process first"):
        target.run(target.small_team())
    assert Scope.objects.filter(workspace=world.workspace).count() == 0
    assert Member.objects.filter(workspace=world.workspace).count() == 1
    server.release({workspace_resource(world.id): epoch})
    assert "Added: 5 people" in target.run(target.small_team())


def test_the_lease_is_given_back(imported: Import) -> None:
    assert imported.workspace.id not in current_owner().held()
    assert ResourceLock.objects.get(resource=workspace_resource(imported.workspace.id)).locker_id == ""


def test_an_interrupted_import_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, whole, broken = big_team(5, 2, 300), Import(tmp_path), Import(tmp_path)
    monkeypatch.setattr(history, "BATCH", 25)
    whole.run(made)
    left = 4
    real = history.append

    def failing(*args: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            raise RuntimeError("the machine died")
        return real(*args)

    monkeypatch.setattr(history, "append", failing)
    with pytest.raises(RuntimeError):
        broken.run(made)
    so_far = Message.objects.filter(scope__workspace=broken.workspace).count()
    assert 0 < so_far < 300
    assert f"Here already: {so_far} messages" in broken.run(made)
    assert _story(broken) == _story(whole)


def _story(of: Import) -> list[tuple[Any, ...]]:
    rows = Message.objects.filter(scope__workspace=of.workspace).select_related("scope", "scope__parent_scope")
    return sorted(
        (row.scope.name or f"thread in {row.scope.parent_scope.name}", row.created_at, row.seq, text_of(row)[:12])
        for row in rows.order_by("scope_id", "id")
    )


def test_replies_in_batches_find_their_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "BATCH", 7)
    target = Import(tmp_path)
    target.run(big_team(4, 1, 200, replies_every=2))
    made = Scope.objects.filter(workspace=target.workspace, type="thread")
    assert made.count() == 100
    assert all((thread.latest_seq, thread.visible_message_count) == (1, 1) for thread in made)
    assert Message.objects.filter(scope=target.scope("topic-0")).count() == 100


def test_a_reply_without_its_root_stays_in_the_channel(tmp_path: Path) -> None:
    made = ExportMaker()
    made.user("U1", "ann")
    made.channel("C1", "general", "U1")
    made.say("general", "U1", "orphan", 5, thread_ts=f"{START_S}.000000")
    target = Import(tmp_path)
    assert "a reply whose first message is not in the export" in target.run(made)
    assert [text_of(message) for message in target.said("general")] == ["orphan"]


def test_reactions_are_bounded_as_they_are_here(tmp_path: Path) -> None:
    target = Import(tmp_path)
    made = target.small_team()
    many = [{"name": f"e{at}", "users": ["U1"]} for at in range(60)]
    made.say("general", "U1", "popular", 200, reactions=many)
    assert "a message with more than 50 emoji" in target.run(made)
    popular = next(message for message in target.said("general") if text_of(message) == "popular")
    assert popular.reactions.count() == 50


def test_a_zipped_folder_and_foreign_files_do_no_harm(tmp_path: Path) -> None:
    made = small_team()
    made.extra = {
        "integration_logs.json": b"not even JSON",
        "nobody/2023-11-14.json": b"[]",
        "general/notes.json": b"1",
    }
    folder = {f"export/{name}": body for name, body in made.files().items()}
    out, slug = io.StringIO(), f"w-{secrets.token_hex(4)}"
    path = write_zip(tmp_path / "zipped.zip", {**folder, "__MACOSX/x": b"", "export/.DS_Store": b""})
    call_command("import_slack", path, workspace=slug, stdout=out, stderr=io.StringIO())
    assert "13 messages" in out.getvalue()
    assert "file not imported: integration_logs.json" in out.getvalue()


def test_live_traffic_continues_behind_the_history(imported: Import) -> None:
    general, ben = imported.scope("general"), imported.member("Ben")
    sent = send_message(user=ben.user, scope_id=general.id, text="live")
    last = imported.said("general")[-1]
    assert (sent.message.id, last.seq, last.silent) == (last.id, 9, False)


def test_people_can_be_given_a_password(imported: Import, monkeypatch: pytest.MonkeyPatch) -> None:
    cat = imported.member("Cat").user
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
    call_command("create_user", cat.username, password_stdin=True, stdout=io.StringIO())
    cat.refresh_from_db()
    assert cat.check_password("correct horse battery")
