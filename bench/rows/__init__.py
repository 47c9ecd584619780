"""The rows of the table, one a module: `run(scale)` measures and answers its lines."""

from __future__ import annotations
