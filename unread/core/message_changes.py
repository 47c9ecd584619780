"""Messages that were removed, hidden, shown or edited: what each change does to each entry.

A change touches an entry only if the entry's count contains the message: by its base, if that is older than the
change, or because the message was accounted here. For the latter the log knows which facts were counted, so that
changes of one message may come in any order: the newest facts win.
"""

from __future__ import annotations

from collections.abc import Callable

from .accounting import concerned, demote, everyone, past_base, replace, within_base
from .aspects import MESSAGES, Aspect
from .events import MessageChange, MessagesChanged
from .live import LiveScope
from .log import Fact
from .states import CountState
from .workspace import Workspace

Account = Callable[[Workspace, LiveScope, Aspect, int, Fact, int], None]


def apply_change(workspace: Workspace, live: LiveScope, event: MessagesChanged, account: Account) -> None:
    """Every change of one event; `account` takes a message that turns out not to have been accounted."""
    if workspace.scopes.length[live.number] > workspace.budgets.max_sync_accounting_members:
        workspace.metrics.count("over_budget_events")
        demote(workspace, live, everyone)
    for place, change in enumerate(event.changes):
        if place:
            workspace.breathe()
        if workspace.closed:
            return
        _apply_one(workspace, live, event.rewind_generation, change, account)


def _apply_one(workspace: Workspace, live: LiveScope, generation: int, change: MessageChange, account: Account) -> None:
    stream, seq = live.messages, change.seq
    before, after = workspace.fact(change.before), workspace.fact(change.after)
    _replace(workspace, live, seq, before, after, within=generation)
    record = stream.log.get(seq)
    if not stream.accounted(seq):
        if not before.counts:
            account(workspace, live, MESSAGES, seq, after, generation)
        elif record is None or generation > record.generation:
            stream.log.keep_change(seq, after, generation)
        return
    if record is not None:
        if generation > record.generation:
            stream.log.put(seq, after, generation)
            _replace(workspace, live, seq, record.fact, after)
        return
    contained = stream.log.contains(seq, generation)
    if contained is None:
        demote(workspace, live, concerned(seq, before, after), CountState.STALE)
    elif not contained:
        # Single changes add up in any order, as long as nothing claims that all before this one are in.
        if stream.log.in_order(seq, generation):
            stream.log.put(seq, after, generation)
        elif after.counts:
            stream.log.raise_floor(seq)
        _replace(workspace, live, seq, before, after)


def _replace(workspace: Workspace, live: LiveScope, seq: int, old: Fact, new: Fact, within: int | None = None) -> None:
    if workspace.scopes.length[live.number] > workspace.budgets.max_sync_accounting_members:
        return
    gate = past_base(MESSAGES, seq) if within is None else within_base(seq, within)
    replace(workspace, live, MESSAGES, seq, old, new, gate, logged=within is None)
