"""Why an export is refused."""

from __future__ import annotations


class BrokenExport(Exception):
    """The archive is not an export that can be imported; says where and why. Nothing was written."""
