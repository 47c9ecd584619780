"""The product's server without the unread runtime: `python -m bench.server_without_runtime`. For measuring only.

Nothing hears of committed facts, nothing is owned in memory, no worker of the runtime runs; all else is the same.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loopd.settings")

import django

django.setup()

import unread.app  # noqa: E402 - Django's apps must be loaded first
from loopd import server  # noqa: E402


class Idle(unread.app.UnreadWorker):
    def start(self) -> None:
        pass

    def stop(self, deadline_s: float) -> None:
        pass

    def healthy(self) -> bool:
        return True


def main() -> None:
    unread.app.UnreadWorker = Idle  # type: ignore[misc]  # before `loopd.asgi` builds its workers
    server.main(sys.argv[1:])


if __name__ == "__main__":
    main()
