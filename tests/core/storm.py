"""Real threads on one stage: writers commit and deliver, workers run jobs and flushes, readers look, all at once.

What one thread at a time cannot show: a lock let go between two batches of accounting, two jobs on one scope, a row
copied while its entry moves. Transactions exclude each other as in a database; everything after a commit does not.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from dataclasses import replace

from .checks import Wrong, check_at_rest
from .driver import random_config
from .facts import WORKSPACE
from .moves import FACTS
from .player import Player
from .runtimes import Config
from .stage import Parcel

WRITERS, WORKERS, READERS = 4, 2, 1
PATIENCE_S = 60.0


class Storm:
    """`moves` facts by each writer; `run` raises what any thread raised, or what is wrong at rest afterwards."""

    def __init__(self, seed: str, moves: int) -> None:
        self.seed, self.moves = seed, moves
        self.player = Player(self._config())
        self.stage = self.player.stage
        self.durable = self.stage.facts.lock
        self.finished = threading.Event()
        self.errors: list[BaseException] = []

    def run(self) -> None:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            writers = [self._thread(self._write, n) for n in range(WRITERS)]
            others = [self._thread(self._work, n) for n in range(WORKERS)] + [
                self._thread(self._read, n) for n in range(READERS)
            ]
            for thread in (*writers, *others):
                thread.start()
            self._join(writers)
            self.finished.set()
            self._join(others)
        finally:
            self.finished.set()
            sys.setswitchinterval(interval)
        if self.errors:
            raise self.errors[0]
        self.stage.settle()
        check_at_rest(self.stage)
        self.stage.restart()
        self.stage.settle()
        check_at_rest(self.stage)

    def _config(self) -> Config:
        config = random_config(random.Random(self.seed))
        return replace(config, members=3, split=False, crashes=False, lossy=False, threaded=True)

    def _thread(self, target: Callable[[random.Random], None], number: int) -> threading.Thread:
        rng = random.Random(f"{self.seed}/{target.__name__}/{number}")

        def guarded() -> None:
            try:
                target(rng)
            except BaseException as error:
                self.errors.append(error)
                self.finished.set()

        return threading.Thread(target=guarded, name=f"{target.__name__}-{number}", daemon=True)

    def _join(self, threads: list[threading.Thread]) -> None:
        for thread in threads:
            thread.join(PATIENCE_S)
            if thread.is_alive():
                raise Wrong(f"{thread.name} hangs")

    def _write(self, rng: random.Random) -> None:
        weights = [kind.weight for kind in FACTS.values()]
        for name in rng.choices(list(FACTS), weights, k=self.moves):
            if self.finished.is_set():
                return
            with self.durable:
                getattr(self.player, name)(*(rng.randrange(bound) for bound in FACTS[name].bounds))
                mine, self.stage.waiting = self.stage.waiting, []
            rng.shuffle(mine)
            for parcel in mine:
                self._deliver(parcel)
            if mine and rng.random() < 0.1:
                self._deliver(rng.choice(mine), first=False)

    def _deliver(self, parcel: Parcel, *, first: bool = True) -> None:
        with self.durable:
            for event in parcel.events:
                self.stage.trust.delivered(event, first)
        self.stage.runtime.apply(parcel.events)

    def _work(self, rng: random.Random) -> None:
        while not self.finished.is_set():
            if rng.random() < 0.2:
                self.stage.runtime.request_hydrate(WORKSPACE, rng.choice(self.stage.facts.members))
            if rng.random() < 0.1:
                self.stage.runtime.flush()
                self.stage.snapshots.written.clear()  # what is in flight while a row is copied cannot be told here
            self.stage.runtime.run_one_job()

    def _read(self, rng: random.Random) -> None:
        while not self.finished.is_set():
            member = rng.choice(self.stage.facts.members)
            unread = self.stage.runtime.member_unread(WORKSPACE, member)
            if unread.has_unread != any(shown.lit for shown in unread.counts.values()):
                raise Wrong("the red dot disagrees with the list it came with")
            self.stage.runtime.has_unread(WORKSPACE, member)
