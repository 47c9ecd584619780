"""The real server with a fault built in: it kills itself at one point, once a file with that point's name is there.

    python tests/faults/saboteur.py hook|flush

`hook`: after a commit, before anybody hears of its facts. `flush`: after the first batch of a flush, before the second.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loopd.settings")

import django

django.setup()

from conversations.publish import subscribe  # noqa: E402
from loopd.server import main  # noqa: E402
from unread.store import SnapshotTable  # noqa: E402


def armed(point: str) -> bool:
    return (Path(os.environ["LOOPD_HOME"]) / f"die-at-{point}").exists()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def at_hook(batch: Any) -> None:
    if armed("hook"):
        die()


def at_flush() -> None:
    upsert = SnapshotTable.upsert
    written = []

    def upsert_once(self: SnapshotTable, *arguments: Any) -> None:
        if not armed("flush"):
            return upsert(self, *arguments)
        if written:
            die()
        written.append(arguments)
        return upsert(self, *arguments)

    SnapshotTable.upsert = upsert_once  # type: ignore[method-assign]


if __name__ == "__main__":
    if sys.argv[1] == "hook":
        subscribe(at_hook)
    else:
        at_flush()
    sys.argv[0] = "server.py"
    main([])
