"""`python -m tests.core.longrun --minutes 5 --seed 1`: random histories in several processes until the time is up.

Prints how many histories and moves were tried. A failing history is reduced and printed as the call that plays it
again; the same seed and worker number find it again. Exit status 1 if one failed.
"""

from __future__ import annotations

import argparse
import faulthandler
import logging
import multiprocessing
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from multiprocessing.sharedctypes import Synchronized

from .driver import failure_of, random_history, smallest

REPORT_EVERY_S = 20.0
HANGS_AFTER_S = 120.0
"""A history that takes this long ends its worker with a traceback."""


@dataclass(frozen=True, slots=True)
class Report:
    worker: int
    histories: int
    moves: int
    failure: str = ""
    history: str = ""


def work(worker: int, seed: int, seconds: float, queue: SimpleQueue[Report], current: Synchronized[int]) -> None:
    logging.disable(logging.CRITICAL)
    deadline = time.monotonic() + seconds
    reported = time.monotonic()
    histories = moves = number = 0
    while time.monotonic() < deadline:
        history = random_history(random.Random(f"{seed}/{worker}/{number}"))
        current.value = number
        number += 1
        faulthandler.dump_traceback_later(HANGS_AFTER_S, exit=True)
        failure = failure_of(history)
        faulthandler.cancel_dump_traceback_later()
        histories, moves = histories + 1, moves + len(history.moves)
        if failure is not None:
            reduced, failure = smallest(history, failure)
            queue.put(Report(worker, histories, moves, failure, str(reduced)))
            return
        if time.monotonic() - reported > REPORT_EVERY_S:
            queue.put(Report(worker, histories, moves))
            histories = moves = 0
            reported = time.monotonic()
    queue.put(Report(worker, histories, moves))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.core.longrun", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=None, help="default: a fresh one, printed")
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    options = parser.parse_args(arguments)
    seed = random.randrange(2**32) if options.seed is None else options.seed
    print(f"seed {seed}, {options.processes} processes, {options.minutes:g} minutes", flush=True)
    context = multiprocessing.get_context("spawn")
    queue: SimpleQueue[Report] = context.SimpleQueue()
    numbers = [context.Value("q", 0) for _ in range(options.processes)]
    workers = [
        context.Process(target=work, args=(n, seed, options.minutes * 60, queue, number), daemon=True)
        for n, number in enumerate(numbers)
    ]
    for each in workers:
        each.start()
    histories = moves = failures = 0
    while any(each.is_alive() for each in workers) or not queue.empty():
        if queue.empty():
            workers[0].join(0.2) if workers[0].is_alive() else time.sleep(0.2)
            continue
        report = queue.get()
        histories, moves = histories + report.histories, moves + report.moves
        if report.failure:
            failures += 1
            print(f"worker {report.worker}: {report.failure}\n{report.history}", flush=True)
    for each in workers:
        each.join()
    died = 0
    for worker, (each, number) in enumerate(zip(workers, numbers, strict=True)):
        if each.exitcode != 0:
            died += 1
            print(f"worker {worker} died in history {seed}/{worker}/{number.value}", flush=True)
    print(f"{histories} histories, {moves} moves, {failures} failing, {died} workers died", flush=True)
    return 1 if failures or died else 0


if __name__ == "__main__":
    sys.exit(main())
