"""Unread as one would first write it: one object for each entry, and a loop over them for each message.

The baseline of the benchmarks. It follows the same rules and gives the same answers as the runtime. It keeps every fact
that it was told of for ever, so that any order of events will do and whatever it was told of can be counted again.
Entries may begin with a snapshot row, as they do after a restart: a base that contains every seq up to its frontier.
What the runtime has beyond that (rosters that are still being read, bounds, locks, sockets) costs nothing here, which
is in the baseline's favour.
"""

from __future__ import annotations

from .entries import Entry
from .runtime import ReferenceRuntime

__all__ = ["Entry", "ReferenceRuntime"]
