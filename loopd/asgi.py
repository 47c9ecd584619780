"""The ASGI application of the process: HTTP, WebSocket, health and lifespan.

Served by `python -m loopd.server` (Daphne) or by any ASGI server that sends lifespan events
(`uvicorn loopd.asgi:application`).
"""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loopd.settings")

import django

django.setup()

from .bootstrap import build_application  # noqa: E402 - Django's apps must be loaded first

application = build_application()
serving = application.serving
