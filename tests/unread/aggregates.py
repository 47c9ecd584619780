"""Finds, in source code, every place that counts messages or activities, or asks whether there are any.

By the chain of calls that begins at the model (also through a name that such a chain was assigned to), and in SQL
written as text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

FACTS = {"Message", "Activity"}
RELATED = {"messages", "activities"}
"""How other rows name them."""
ENDS = {"aggregate", "count", "exists", "contains"}
FUNCTIONS = {"Count", "Sum", "Max", "Min", "Avg", "Exists"}
_SQL_COUNTS = re.compile(r"\b(?:count|sum|min|max|exists)\s*\(", re.IGNORECASE)
_SQL_FACTS = re.compile(r"\b(?:from|join)\s+[`\"]?(?:messages|scope_activity_events)\b", re.IGNORECASE)


def aggregates_in(path: Path) -> list[int]:
    """The lines."""
    tree = ast.parse(path.read_text())
    found = set(_of_sql(tree))
    for function in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))]:
        chains = _assigned(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and _counts(node) and _is_of_facts(node.func, chains):
                found.add(node.lineno)
    return sorted(found)


def _counts(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr in ENDS:
        return True
    named = [*call.args, *(keyword.value for keyword in call.keywords)]
    return call.func.attr in ("annotate", "alias", "filter", "values") and any(
        isinstance(inner, ast.Call) and _name(inner.func) in FUNCTIONS for value in named for inner in ast.walk(value)
    )


def _assigned(function: ast.AST) -> set[str]:
    """Names that hold a queryset of facts, as far as one assignment says so."""
    names: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _is_of_facts(node.value, names):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def _is_of_facts(node: ast.AST, names: set[str]) -> bool:
    """Whether a chain of attributes and calls begins at messages or activities."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        if isinstance(node, ast.Attribute):
            if node.attr in RELATED:
                return True
            node = node.value
        else:
            node = node.func
    return isinstance(node, ast.Name) and (node.id in FACTS or node.id in names)


def _of_sql(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        text = _text(node)
        if text and _SQL_COUNTS.search(text) and _SQL_FACTS.search(text):
            yield node.lineno  # type: ignore[attr-defined]


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "?" for part in node.values)
    return ""


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
