"""Rows of one scope on either side of a seq, read through narrow windows of seqs.

Seqs are dense but for what was removed, so a window as wide as the page usually holds it: one statement. Open ranges
would do on paper; some optimizers then prefer to walk the index from the scope's end, or the primary key past every
other scope. Where rows are missing the window doubles, so even a desert costs a logarithm of statements.
"""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)


def rows_after(rows: QuerySet[Row], *, after: int, upto: int, count: int) -> list[Row]:
    """The first `count` rows with `after` < seq <= `upto`, ascending. `rows`: of one scope, in no order."""
    found: list[Row] = []
    width = count
    while after < upto and len(found) < count:
        end = min(after + width, upto)
        found += rows.filter(seq__gt=after, seq__lte=end).order_by("seq")[: count - len(found)]
        after, width = end, 2 * width
    return found


def rows_before(rows: QuerySet[Row], *, before: int, count: int) -> list[Row]:
    """The last `count` rows with seq < `before`, descending."""
    found: list[Row] = []
    width = count
    while before > 1 and len(found) < count:
        start = max(before - width, 1)
        found += rows.filter(seq__gte=start, seq__lt=before).order_by("-seq")[: count - len(found)]
        before, width = start, 2 * width
    return found
