"""`bin/bench [row ...] [--quick] [--json FILE]`: measures, prints the table, and writes it as JSON.

Exit status 1 if a goal was missed, so that a machine of one's own can be held to them.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from .figures import Line
from .machine import describe
from .scale import Scale
from .table import render

ROWS = {
    "account": ("accounting", "one message into the counts of a warm scope"),
    "has_unread": ("red_dot", "the red dot, with few and with many scopes"),
    "bootstrap": ("bootstrap", "the unread of the first paint, against an exact count"),
    "write": ("write", "a message over HTTP, with and without the runtime"),
    "memory": ("memory", "resident memory of entries, and the garbage collector"),
    "convergence": ("convergence", "eight writers, then a count of differences"),
    "sockets": ("sockets", "heartbeats and deltas of a thousand sockets"),
    "emit": ("emit", "an event into a message of 5 MB, and into a small one"),
    "flush": ("flushing", "a hundred thousand dirty rows, and requests meanwhile"),
}
RESULTS = Path(__file__).resolve().parent / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    unknown = [row for row in options.rows if row not in ROWS]
    if unknown:
        sys.exit(f"bin/bench: there is no row {', '.join(unknown)}; there are {', '.join(ROWS)}")
    machine, scale = describe(), Scale(options.quick)
    lines: list[Line] = []
    for row in options.rows or ROWS:
        module, what = ROWS[row]
        print(f"{row}: {what} ...", file=sys.stderr, flush=True)
        before = time.monotonic()
        lines += importlib.import_module(f"bench.rows.{module}").run(scale)
        print(f"{row}: {time.monotonic() - before:.0f} s", file=sys.stderr, flush=True)
    print("\n".join(f"{name}: {value}" for name, value in machine.items()))
    print(f"command: {_command(options)}\n\n{render(lines)}")
    _write(options.json, {"machine": machine, "command": _command(options), "lines": [asdict(line) for line in lines]})
    return 1 if any(line.met is False for line in lines) else 0


def _parser() -> argparse.ArgumentParser:
    listed = "\n".join(f"  {row:12} {what}" for row, (_, what) in ROWS.items())
    parser = argparse.ArgumentParser(
        prog="bin/bench",
        description="Measures loopd beside a baseline, and says which goals are met.",
        epilog=f"rows:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("rows", nargs="*", metavar="row", help="which to measure (default: all)")
    parser.add_argument("--quick", action="store_true", help="small numbers and few repetitions: does it work at all?")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="where to write the result (bench/results/<date>.json)"
    )
    return parser


def _command(options: argparse.Namespace) -> str:
    return " ".join(["bin/bench", *options.rows, *(["--quick"] if options.quick else [])])


def _write(path: Path | None, found: dict[str, object]) -> None:
    target = path or RESULTS / time.strftime("%Y%m%d-%H%M%S.json")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(found, indent=1) + "\n")
    print(f"\nwritten to {target}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
