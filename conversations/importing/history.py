"""The messages of one channel, day by day in order of time, in bounded transactions; a second run adds nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

from django.db.models import Q

from ..locking import lock_scope
from ..models import Activity, Message, Scope
from ..models.removed import RemovedMessage
from ..transactions import in_transaction
from .archive import Archive
from .entries import REF_TYPE, Entry, Translator, key_prefix
from .inspection import Place, read_day
from .report import Report
from .threads import append_replies
from .writing import Written, append

BATCH = 500
"""Entries in one transaction."""


class History:
    """Imports the history of one place into its scope.

    `beat` is called before each transaction, with the number of messages read since the last call.
    """

    def __init__(
        self,
        archive: Archive,
        place: Place,
        workspace_id: UUID,
        scope_id: UUID,
        translator: Translator,
        report: Report,
        beat: Callable[[int], None],
    ) -> None:
        self.archive, self.place, self.workspace_id, self.scope_id = archive, place, workspace_id, scope_id
        self.translator, self.report, self.beat = translator, report, beat
        self._prefix = key_prefix(place.channel.id)
        self._present: set[str] = set()
        self._done: set[str] = set()
        self._roots: dict[str, tuple[UUID, UUID]] = {}
        """Timestamp of a root to its message and author."""
        self._main: list[Entry] = []
        self._replies: dict[str, list[Entry]] = defaultdict(list)
        self._waiting = 0
        self._read = 0

    def run(self) -> None:
        self._load_present()
        for entry in self._entries():
            if entry.thread and entry.thread in self.place.roots and not entry.activity:
                self._replies[entry.thread].append(entry)
                self._waiting += 1
            else:
                self._main.append(entry)
            if len(self._main) + self._waiting >= BATCH:
                self._write()
        self._write()
        self.beat(self._read)

    def _load_present(self) -> None:
        """Keys that earlier imports wrote here, also those of messages that were deleted since."""
        here = Q(scope_id=self.scope_id) | Q(scope__parent_scope_id=self.scope_id)
        rows = Message.objects.filter(here, client_message_id__isnull=False)
        for key, message_id, author_id in rows.values_list("client_message_id", "id", "author_id").iterator():
            key = key or ""
            self._note_present(key)
            if (timestamp := key.removeprefix(self._prefix)) in self.place.roots:
                self._roots[timestamp] = (message_id, author_id)
        removed = RemovedMessage.objects.filter(here, client_message_id__isnull=False)
        for key in removed.values_list("client_message_id", flat=True).iterator():
            self._note_present(key or "")
        happened = Activity.objects.filter(scope_id=self.scope_id, ref_type=REF_TYPE)
        for key in happened.values_list("ref", flat=True).iterator():
            self._note_present(key)

    def _note_present(self, key: str) -> None:
        if key.startswith(self._prefix):
            self._present.add(key)

    def _entries(self) -> Iterator[Entry]:
        for day in self.place.days:
            for message in read_day(self.archive, day.name):
                self._read += 1
                key = self._prefix + message.stamp.text
                if key in self._present:
                    self.report.present += 1
                elif key in self._done:
                    self.report.skipped["twice in the export"] += 1
                elif (entry := self.translator.entry(message, key, self.report)) is not None:
                    self._done.add(key)
                    yield entry

    def _write(self) -> None:
        self.beat(self._read)
        self._read = 0
        if self._main:
            entries, self._main = self._main, []
            written = _append(self.workspace_id, self.scope_id, entries)
            self._count(written)
            for entry in entries:
                timestamp = entry.stamp.text
                if timestamp in self.place.roots and entry.key in written.ids:
                    self._roots[timestamp] = (written.ids[entry.key], entry.author.member_id)
        if self._replies:
            self._write_replies()

    def _write_replies(self) -> None:
        replies, self._replies, self._waiting = self._replies, defaultdict(list), 0
        orphans = [entry for timestamp, entries in replies.items() if timestamp not in self._roots for entry in entries]
        rooted = {self._roots[timestamp]: entries for timestamp, entries in replies.items() if timestamp in self._roots}
        if rooted:
            written, threads, memberships = append_replies(
                self.workspace_id,
                self.scope_id,
                {root: entries for (root, _), entries in rooted.items()},
                dict(rooted.keys()),
            )
            for each in written:
                self._count(each)
            self.report.threads += threads
            self.report.memberships += memberships
        if orphans:
            self.report.notes["a reply whose first message is not in the export; it is in the channel"] += len(orphans)
            ordered = sorted(orphans, key=lambda entry: entry.stamp.us)
            self._count(_append(self.workspace_id, self.scope_id, ordered))

    def _count(self, written: Written) -> None:
        self.report.messages += written.messages
        self.report.activities += written.activities
        self.report.reactions += written.reactions
        if written.late:
            self.report.notes["older than what was here; it stands behind that, with its own time"] += written.late


@in_transaction
def _append(workspace_id: UUID, scope_id: UUID, entries: Sequence[Entry]) -> Written:
    scope: Scope = lock_scope(workspace_id, scope_id)
    return append(scope, entries)
