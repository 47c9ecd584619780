"""The page's ES modules: an import map to their hashed names, and what to load ahead."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.utils.safestring import SafeString, mark_safe

ROOT = "js"
ENTRY = "js/main.js"


def import_map() -> SafeString:
    """Plain address → hashed address, for modules that have one; safe inside a script element."""
    return mark_safe(_map(settings.DEBUG))  # noqa: S308 - addresses of our own files, with "<" escaped


def _names() -> list[str]:
    found = finders.find(ROOT)
    return sorted(f"{ROOT}/{p.relative_to(found).as_posix()}" for p in Path(found).rglob("*.js")) if found else []


@lru_cache(maxsize=1)
def _cached_map() -> str:
    plain = {f"{settings.STATIC_URL}{name}": staticfiles_storage.url(name) for name in _names()}
    changed = {address: url for address, url in plain.items() if address != url}
    return json.dumps({"imports": changed}).replace("<", "\\u003c")


def _map(debug: bool) -> str:
    """In DEBUG files may change under a running server."""
    if debug:
        _cached_map.cache_clear()
    return _cached_map()


def preloads() -> list[str]:
    """Addresses of every module, so that the browser need not find them one after the other."""
    return [staticfiles_storage.url(name) for name in _names()]
