"""Static files under addresses that change with their content, so that no page runs modules of two releases."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage, staticfiles_storage
from django.utils.safestring import SafeString, mark_safe

MODULES = "js"
_DIGEST_CHARS = 12


class VersionedStaticFilesStorage(StaticFilesStorage):
    """The plain address of a file with `?v=<digest of its content>`; needs no collected copy to compute it."""

    def url(self, name: str | None) -> str:
        address = super().url(name)
        digest = _fresh_digest(name) if settings.DEBUG else _digest(name)
        return f"{address}?v={digest}" if digest else address


def _fresh_digest(name: str | None) -> str:
    found = finders.find(name) if name else None
    if not found or not Path(found).is_file():
        return ""
    return hashlib.sha256(Path(found).read_bytes()).hexdigest()[:_DIGEST_CHARS]


_digest = lru_cache(maxsize=4096)(_fresh_digest)
"""Files do not change under a serving process, unless it is a developer's."""


def import_map() -> SafeString:
    """JSON for a script element: the address that a module imports another by → that one's versioned address."""
    imports = {f"{settings.STATIC_URL}{name}": staticfiles_storage.url(name) for name in _modules()}
    return mark_safe(json.dumps({"imports": imports}).replace("<", "\\u003c"))  # noqa: S308 - "<" is escaped


def preloads() -> list[str]:
    """Addresses of every module, so that the browser need not find them one after the other."""
    return [staticfiles_storage.url(name) for name in _modules()]


def _modules() -> list[str]:
    return _found_modules.__wrapped__() if settings.DEBUG else _found_modules()


@lru_cache(maxsize=1)
def _found_modules() -> list[str]:
    root = finders.find(MODULES)
    if not root:
        return []
    return sorted(f"{MODULES}/{path.relative_to(root).as_posix()}" for path in Path(root).rglob("*.js"))
