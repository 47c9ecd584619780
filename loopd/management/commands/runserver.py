"""`runserver` with loopd's server class: the development server has the same life as the real one."""

from __future__ import annotations

from daphne.management.commands.runserver import Command as DaphneCommand

from loopd.server import LoopdServer


class Command(DaphneCommand):
    server_cls = LoopdServer
