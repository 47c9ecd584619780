"""What an import did, what was there already, and what it passed over and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Report:
    people: int = 0
    bots: int = 0
    channels: int = 0
    memberships: int = 0
    threads: int = 0
    messages: int = 0
    activities: int = 0
    reactions: int = 0
    present: int = 0
    """Messages and activities that an earlier import had brought."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Messages that became nothing, by reason."""
    notes: Counter[str] = field(default_factory=Counter)
    """What was changed on the way, by what."""

    def added(self) -> int:
        return self.people + self.bots + self.channels + self.memberships + self.threads + self.written()

    def written(self) -> int:
        return self.messages + self.activities + self.reactions

    def lines(self) -> Iterator[str]:
        counted = (
            ("people", self.people),
            ("apps", self.bots),
            ("conversations", self.channels),
            ("memberships", self.memberships),
            ("threads", self.threads),
            ("messages", self.messages),
            ("activities", self.activities),
            ("reactions", self.reactions),
        )
        yield "Added: " + (", ".join(f"{n} {what}" for what, n in counted if n) or "nothing") + "."
        if self.present:
            yield f"Here already: {self.present} messages and activities."
        for title, found in (("Skipped", self.skipped), ("Note", self.notes)):
            for reason, n in sorted(found.items(), key=lambda item: (-item[1], item[0])):
                yield f"{title}: {n} x {reason}."
