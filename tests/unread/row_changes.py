"""What an action did to the rows that unread depends on: their values before and after, and what must have risen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from conversations.models import (
    Activity,
    Membership,
    MemberState,
    Message,
    MessageMention,
    NotificationSetting,
    Scope,
)
from conversations.visibility import is_human_visible
from tests.world import World

Row = dict[str, Any]
Place = tuple[UUID, UUID]

ELIGIBILITY = ("status", "visible", "effective_from_seq")
CURSORS = ("last_read_seq", "last_activity_read_seq")


@dataclass(frozen=True)
class Rows:
    scopes: dict[UUID, Row]
    places: dict[Place, Row]
    levels: dict[Place, Row]
    markers: dict[Place, Row]
    messages: dict[UUID, tuple[UUID, Any]]
    """By id: the scope, and what decides whether and for whom it counts."""
    activities: Counter[UUID]

    @staticmethod
    def of(world: World) -> Rows:
        inside = {"scope__workspace": world.workspace}
        mentions: dict[UUID, set[UUID]] = {}
        for mention in MessageMention.objects.filter(message__scope__workspace=world.workspace):
            mentions.setdefault(mention.message_id, set()).add(mention.member_id)
        return Rows(
            {row["id"]: row for row in Scope.objects.filter(workspace=world.workspace).values()},
            _by_place(Membership.objects.filter(**inside).values()),
            _by_place(NotificationSetting.objects.filter(**inside).values()),
            _by_place(MemberState.objects.filter(**inside).values()),
            {
                message.id: (
                    message.scope_id,
                    (
                        message.author_id,
                        message.notify_principal_id,
                        is_human_visible(message.message_type) and not message.silent,
                        frozenset(mentions.get(message.id, ())),
                    ),
                )
                for message in Message.objects.filter(**inside).defer("content")
            },
            Counter(Activity.objects.filter(**inside).values_list("scope_id", flat=True)),
        )


@dataclass(frozen=True)
class Changes:
    before: Rows
    after: Rows

    def problems(self) -> list[str]:
        """Where a generation or seq did not rise exactly as far as what it orders changed."""
        found = []
        for scope_id in self.after.scopes:
            for column, wanted in self._wanted(scope_id).items():
                rose = self._rose(scope_id, column)
                if rose != wanted:
                    found.append(f"{column} of scope {scope_id} rose by {rose}, not by {wanted}")
        found += self._of_rows("places", "membership_generation", ELIGIBILITY)
        found += self._of_rows("places", "read_generation", CURSORS)
        found += self._of_rows("levels", "generation", ("level", "watch"))
        found += self._of_rows("markers", "generation", ("manual_unread", "manual_unread_seq"))
        return found

    def _wanted(self, scope_id: UUID) -> dict[str, int]:
        """By how much each number of a scope must have risen."""
        memberships = sum(
            row["membership_generation"] - self._generation_before(place)
            for place, row in self.after.places.items()
            if place[0] == scope_id
        )
        own = sum(self._scope_changed(scope_id, column) for column in ("status", "visibility"))
        changed = any(
            fact[0] == scope_id and self.after.messages.get(message_id) != fact
            for message_id, fact in self.before.messages.items()
        )
        new = sum(
            scope == scope_id and message_id not in self.before.messages
            for message_id, (scope, _) in self.after.messages.items()
        )
        return {
            "roster_generation": memberships + own,
            "rewind_generation": int(changed),
            "latest_seq": new,
            "latest_activity_seq": self.after.activities[scope_id] - self.before.activities[scope_id],
        }

    def _began(self, place: Place) -> bool:
        before, after = self.before.places.get(place), self.after.places[place]
        return after["status"] == "active" and (before is None or before["status"] != "active")

    def _generation_before(self, place: Place) -> int:
        row = self.before.places.get(place)
        generation: int = row["membership_generation"] if row else 0
        return generation

    def _rose(self, scope_id: UUID, column: str) -> int:
        rose: int = self.after.scopes[scope_id][column] - self.before.scopes.get(scope_id, {column: 0})[column]
        return rose

    def _scope_changed(self, scope_id: UUID, column: str) -> int:
        """A scope that is new was never anything else."""
        before = self.before.scopes.get(scope_id)
        return int(before is not None and before[column] != self.after.scopes[scope_id][column])

    def _of_rows(self, table: str, generation: str, columns: tuple[str, ...]) -> list[str]:
        """Exactly one where a row changed, none where it did not."""
        found = []
        before: dict[Place, Row] = getattr(self.before, table)
        for place, row in getattr(self.after, table).items():
            old = before.get(place)
            rose = row[generation] - (old[generation] if old else 0)
            same = old is not None and all(old[column] == row[column] for column in columns)
            also_read = rose == 2 and generation == "read_generation" and self._began(place)  # joined by writing
            if rose != int(not same) and not also_read:
                found.append(f"{generation} of {table} {place} rose by {rose}: {old} -> {row}")
        return found


def _by_place(rows: Any) -> dict[Place, Row]:
    return {(row["scope_id"], row["member_id"]): row for row in rows}
