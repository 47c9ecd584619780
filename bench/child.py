"""Measurements that need a process of their own: another database, or memory that nothing else has used yet.

    run("bench.memory", kind="product", entries=1_000_000)

calls `measure(**options)` of that module in a fresh interpreter and returns what it returned; options and result are
what JSON can carry. What the child prints itself goes to standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent


def run(module: str, *, environment: dict[str, str] | None = None, within_s: float = 1800.0, **options: Any) -> Any:
    """Raises RuntimeError if the child ends with an error, and subprocess.TimeoutExpired after `within_s` seconds."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.child", module, json.dumps(options)],
        cwd=PROJECT,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        timeout=within_s,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{module} ended with {done.returncode}")
    return json.loads(done.stdout)


def main() -> None:
    module, options = sys.argv[1:]
    answer, sys.stdout = sys.stdout, sys.stderr
    found = importlib.import_module(module).measure(**json.loads(options))
    print(json.dumps(found), file=answer)


if __name__ == "__main__":
    main()
