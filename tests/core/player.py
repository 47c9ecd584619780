"""Makes the moves of a history on a stage and checks the runtime after each.

A move is a tuple: its name, then an argument below each of its bounds. Members and scopes are numbered from 0 in order
of creation, messages from the newest (0) back. A move that is not possible where it stands does nothing, so any part
of a history is a history: that makes shrinking easy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from unread.core.ports import ScopeEvidence
from unread.core.states import Shown

from .checks import Wrong, check_always, check_at_rest
from .fact_stores import StoreDown, evidence_of
from .facts import WORKSPACE, Batch, Refused
from .runtimes import GRACE_S, RETRY_S, Config
from .stage import Stage

Move = tuple[str | int, ...]

MEMBERS, SCOPES, BACK, ANY = 3, 4, 5, 8
LEVELS = ("all", "mentions", "none")


@dataclass(slots=True)
class Page:
    """A browser: the last snapshot and the deltas applied to it."""

    epoch: int
    version: int
    counts: dict[int, Shown]


@dataclass(slots=True)
class Player:
    config: Config
    stage: Stage = field(init=False)
    pages: dict[int, Page] = field(default_factory=dict)
    noted: dict[int, int] = field(default_factory=dict)
    evidence: dict[int, list[ScopeEvidence]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stage = Stage(self.config)
        facts = self.stage.facts
        channel, events = facts.create_channel(facts.members)
        self.stage.commit(events)
        if self.config.with_thread:
            self.stage.commit(facts.post(facts.members[0], channel))
            self.stage.commit(facts.create_thread(facts.members[1], channel, 1)[1])
        self.stage.commit(facts.create_channel(facts.members[:2])[1])
        if self.config.seeded:
            self.stage.commit(facts.post(facts.members[1], channel))
            self.stage.commit(facts.post(facts.members[0], channel, facts.members[1:2]))
            self.stage.crash()
        elif not self.config.cold_start:
            self.stage.deliver_all()

    def play(self, moves: Sequence[Move]) -> None:
        for move in moves:
            self.do(move)
        self.settle()

    def do(self, move: Move) -> None:
        name, *arguments = move
        getattr(self, str(name))(*arguments)
        check_always(self.stage)

    # Who and where

    def member(self, number: int) -> int:
        return self.stage.facts.members[number % len(self.stage.facts.members)]

    def scope(self, number: int) -> int:
        scopes = list(self.stage.facts.tables.scopes)[: self.config.busy_scopes]
        return scopes[number % len(scopes)]

    def seq(self, scope: int, back: int) -> int:
        return self.stage.facts.tables.scopes[scope].latest_seq - back

    def act(self, action: Callable[..., Batch], *arguments: object, **options: object) -> None:
        try:
            self.stage.commit(action(*arguments, **options))
        except Refused:
            pass

    # Facts

    def post(self, by: int, scope: int, mention: int, kind: int) -> None:
        """`mention` 0 is nobody. Kinds: plain, hidden, imported, on behalf of the next member, plain, plain."""
        mentions = (self.member(mention - 1),) if mention else ()
        options: dict[str, object] = {}
        if kind == 1:
            options["hidden"] = True
        elif kind == 2:
            options["silent"] = True
        elif kind == 3:
            options["on_behalf_of"] = self.member(by + 1)
        self.act(self.stage.facts.post, self.member(by), self.scope(scope), mentions, **options)

    def replay(self, scope: int, back: int) -> None:
        self.act(self.stage.facts.replay_post, self.scope(scope), self.seq(self.scope(scope), back))

    def delete(self, scope: int, back: int) -> None:
        self.act(self.stage.facts.delete, self.scope(scope), self.seq(self.scope(scope), back))

    def rewind(self, scope: int, back: int) -> None:
        self.act(self.stage.facts.rewind, self.scope(scope), self.seq(self.scope(scope), back))

    def edit(self, scope: int, back: int, mention: int) -> None:
        mentions = (self.member(mention - 1),) if mention else ()
        self.act(self.stage.facts.edit_mentions, self.scope(scope), self.seq(self.scope(scope), back), mentions)

    def show(self, scope: int, back: int, visible: int) -> None:
        seq = self.seq(self.scope(scope), back)
        self.act(self.stage.facts.set_message_visibility, self.scope(scope), seq, bool(visible))

    def activity(self, by: int, scope: int, high_signal: int) -> None:
        self.act(self.stage.facts.add_activity, self.member(by), self.scope(scope), bool(high_signal))

    def read_to(self, by: int, scope: int, back: int) -> None:
        self.act(self.stage.facts.read_to, self.member(by), self.scope(scope), self.seq(self.scope(scope), back))

    def read_all(self, by: int, scope: int, more: int) -> None:
        scopes = dict.fromkeys((self.scope(scope), self.scope(scope + more)))
        self.act(self.stage.facts.read_all, self.member(by), tuple(scopes))

    def mark(self, by: int, scope: int) -> None:
        self.act(self.stage.facts.mark_unread, self.member(by), self.scope(scope))

    def mark_from(self, by: int, scope: int, back: int) -> None:
        seq = self.seq(self.scope(scope), back)
        self.act(self.stage.facts.mark_unread_from, self.member(by), self.scope(scope), seq)

    def clear(self, by: int, scope: int) -> None:
        self.act(self.stage.facts.clear_unread, self.member(by), self.scope(scope))

    def level(self, by: int, scope: int, level: int) -> None:
        self.act(self.stage.facts.set_level, self.member(by), self.scope(scope), LEVELS[level])

    def join(self, by: int, scope: int) -> None:
        self.act(self.stage.facts.join, self.member(by), self.scope(scope))

    def leave(self, by: int, scope: int) -> None:
        self.act(self.stage.facts.leave, self.member(by), self.scope(scope))

    def visible(self, by: int, scope: int, visible: int) -> None:
        self.act(self.stage.facts.set_member_visibility, self.member(by), self.scope(scope), bool(visible))

    def archive(self, scope: int) -> None:
        self.act(self.stage.facts.archive, self.scope(scope))

    def restore(self, scope: int) -> None:
        self.act(self.stage.facts.restore, self.scope(scope))

    def thread(self, by: int, scope: int, back: int) -> None:
        if len(self.stage.facts.tables.scopes) < SCOPES:
            seq = self.seq(self.scope(scope), back)
            self.act(lambda: self.stage.facts.create_thread(self.member(by), self.scope(scope), seq)[1])

    # Deliveries, jobs, time

    def deliver(self, which: int) -> None:
        self.stage.deliver(which)

    def deliver_all(self) -> None:
        self.stage.deliver_all()

    def again(self, which: int) -> None:
        self.stage.deliver_again(which)

    def lose(self, which: int) -> None:
        if self.config.lossy:
            self.stage.lose(which)

    def find(self, which: int) -> None:
        self.stage.find(which)

    def peek(self, by: int, scope: int) -> None:
        """A page of a member's scopes is wanted; nothing but these rows is loaded."""
        self._within(lambda: self._peek(self.member(by), self.scope(scope)))

    def _peek(self, member: int, scope: int) -> None:
        try:
            self.stage.runtime.hydrate_page(WORKSPACE, member, [scope])
        except StoreDown:
            pass

    def hydrate(self, by: int) -> None:
        self.stage.runtime.request_hydrate(WORKSPACE, self.member(by))

    def job(self) -> None:
        self._within(self.stage.job)

    def jobs(self) -> None:
        self._within(self.stage.jobs)

    def flush(self) -> None:
        self._within(self.stage.flush)

    def fail_upserts(self, times: int) -> None:
        self.stage.upserts_to_fail = times

    def fail_loads(self, times: int) -> None:
        self.stage.loads_to_fail = times

    def aside(self, after: int, *move: str | int) -> None:
        """Make that move in the middle of a store call, `after` points of interruption from now."""
        self.stage.asides.append((after, lambda: self.do(move)))

    def wait(self, long: int) -> None:
        if not self.stage.in_batches and (not long or self.config.lossy):
            self.stage.wait((RETRY_S + GRACE_S) if long else GRACE_S / 4)

    def evict(self, scope: int) -> None:
        """Where nothing is in flight, which would be lost, time passes first, so that the scope counts as inactive."""
        which = self.scope(scope)
        if self.stage.busy or self.stage.in_batches:
            return
        if not self.stage.waiting and not self.stage.missing:
            self.stage.wait(GRACE_S)
        if self.stage.runtime.evict(WORKSPACE, which):
            self.stage.trust.forgotten(which, in_flight=self.stage.in_flight(which))

    # Evidence, pages

    def note(self, by: int) -> None:
        member = self.member(by)
        self.noted[member] = self.stage.runtime.member_version(WORKSPACE, member)
        self.evidence.pop(member, None)

    def look(self, by: int) -> None:
        if self.member(by) in self.noted:
            self.evidence[self.member(by)] = evidence_of(self.stage.facts.tables, self.member(by))

    def observe(self, by: int) -> None:
        member = self.member(by)
        if member in self.evidence:
            noted, evidence = self.noted.pop(member), self.evidence.pop(member)
            self.stage.runtime.observe(WORKSPACE, member, noted, evidence, True)

    def watch(self, by: int) -> None:
        self.stage.runtime.watch(WORKSPACE, self.member(by))
        self._resync(self.member(by))

    def unwatch(self, by: int) -> None:
        self.stage.runtime.unwatch(WORKSPACE, self.member(by))
        self.pages.pop(self.member(by), None)

    def take(self, by: int) -> None:
        """Deltas until there are none, as a socket takes them while the sink says that there is more."""
        member = self.member(by)
        page = self.pages.get(member)
        while page is not None:
            told = len(self.stage.sink.told)
            delta = self.stage.runtime.take_delta(WORKSPACE, member)
            if delta is None:
                break
            if delta.since != page.version or delta.unread.epoch != page.epoch:
                raise Wrong(f"member {by}: a delta since {delta.since} for a page at {page.version}")
            if len(delta.unread.counts) > max(self.config.delta_entries, len(self.stage.facts.tables.scopes)):
                raise Wrong(f"member {by}: a delta of {len(delta.unread.counts)} entries")
            page.version = delta.unread.version
            page.counts.update(delta.unread.counts)
            page.counts = {scope: shown for scope, shown in page.counts.items() if shown.lit}
            if len(self.stage.sink.told) == told:
                break
        current = self.stage.runtime.member_unread(WORKSPACE, member)
        if page is not None and current.state != "hydrating" and current.counts != page.counts:
            raise Wrong(f"member {by}: the page shows {page.counts}, the runtime {current.counts}")

    def _resync(self, member: int) -> None:
        snapshot = self.stage.runtime.snapshot(WORKSPACE, member)
        self.pages[member] = Page(snapshot.epoch, snapshot.version, dict(snapshot.counts))

    # Rest and the ends of lives

    def settle(self) -> None:
        if self.stage.busy or self.stage.in_batches:
            return
        self.stage.settle()
        check_at_rest(self.stage)
        for member in list(self.pages):
            self.take(self.stage.facts.members.index(member))

    def restart(self) -> None:
        if not self.stage.busy and not self.stage.in_batches:
            self._end_life(self.stage.restart)

    def haunt(self) -> None:
        """A predecessor that was taken for dead writes what it still has."""
        if not self.stage.in_batches:
            self.stage.haunt()

    def crash(self) -> None:
        if not self.stage.busy and not self.stage.in_batches and self.config.crashes:
            self._end_life(self.stage.crash)

    def _end_life(self, how: Callable[[], None]) -> None:
        how()
        self.pages.clear()
        self.noted.clear()
        self.evidence.clear()

    def _within(self, work: Callable[[], object]) -> None:
        """Two at a time, as two workers would: one more may begin in the middle of another."""
        if self.stage.busy < 2:
            self.stage.busy += 1
            try:
                work()
            finally:
                self.stage.busy -= 1
