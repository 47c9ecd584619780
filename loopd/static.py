"""Static files in front of Django: found where the apps keep them and among the collected ones, read by the loop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from servestatic import ServeStaticASGI

MAX_AGE_S = 60
"""For names without a hash; hashed names are served as immutable."""


def with_static_files(application: Any) -> Callable[..., Any]:
    """`application` behind everything that the static file finders and `STATIC_ROOT` hold, as of now."""
    prefix = settings.STATIC_URL.strip("/")
    served = ServeStaticASGI(
        application,
        root=None,
        prefix=prefix,
        autorefresh=settings.DEBUG,
        max_age=0 if settings.DEBUG else MAX_AGE_S,
        allow_all_origins=False,
        add_headers_function=_harden,
    )
    for root in _roots():
        served.add_files(root, prefix=prefix)
    return served


def _roots() -> list[str]:
    """Directories, collected files last: they win."""
    found = []
    for finder in get_finders():
        for storage in getattr(finder, "storages", {}).values():
            if getattr(storage, "location", None) and Path(storage.location).is_dir():
                found.append(str(storage.location))
    if settings.STATIC_ROOT and Path(settings.STATIC_ROOT).is_dir():
        found.append(str(settings.STATIC_ROOT))
    return found


def _harden(headers: Any, path: str, url: str) -> None:
    headers["X-Content-Type-Options"] = "nosniff"
