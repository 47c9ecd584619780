"""Watches the statements of a block: none of them may be unread SQL.

Unread SQL is any statement on the snapshot table, and any aggregate or EXISTS over messages or activities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

_SNAPSHOTS = "member_scope_unread_runtime_snapshots"
_FACTS = re.compile(r"\b(?:from|join)\s+[`\"]?(?:messages|scope_activity_events)\b", re.IGNORECASE)
_SELECT = re.compile(r"\bselect\b", re.IGNORECASE)
_COUNTS = re.compile(r"\b(?:count|sum|min|max)\s*\(|^\s*(?:1\b|%s\s+as\b)", re.IGNORECASE)
"""The last is how Django asks whether there is a row."""


class UnreadSqlError(AssertionError):
    """A guarded block ran unread SQL."""


class Statements(list[str]):
    """What ran, in order. Calling it is Django's execute wrapper; it fails at the first unread SQL.

    What runs it may be written to survive any failure, as hooks after a commit are: so it is also kept in `unread`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.unread: list[str] = []

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if is_unread_sql(sql):
            self.unread.append(sql)
            raise UnreadSqlError(sql)
        self.append(sql)
        return execute(sql, params, many, context)


def is_unread_sql(sql: str) -> bool:
    return _SNAPSHOTS in sql or any(_counts_facts(select) for select in _SELECT.split(sql)[1:])


def _counts_facts(select: str) -> bool:
    """One SELECT, up to the next: its list aggregates or only asks whether there is a row, and it reads facts."""
    listed = re.split(r"\bfrom\b", select, maxsplit=1, flags=re.IGNORECASE)[0]
    return bool(_COUNTS.search(listed) and _FACTS.search(select))


@contextmanager
def no_unread_sql() -> Iterator[Statements]:
    """For what this thread does in the block; `connection` is the thread's own."""
    statements = Statements()
    with connection.execute_wrapper(statements):
        yield statements
    if statements.unread:
        raise UnreadSqlError(statements.unread)
