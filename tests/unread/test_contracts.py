"""No serving module can reach repair or an aggregate over messages; the contracts that say so leave none out."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.unread.aggregates import aggregates_in

PROJECT = Path(__file__).parents[2]
PACKAGES = ("loopd", "conversations", "unread", "realtime")
REPAIR, AGGREGATE = "unread.repair", "conversations.actions.summary"
NOT_SERVING = {
    "unread": {"repair", "migrations", "management", "admin", "models", "apps"},
    "conversations": {
        *("migrations", "management", "admin", "models", "apps", "importing"),
        *("errors", "events", "ids", "locking", "publish", "transactions", "connections", "periodic", "backpressure"),
        *("unread_port", "visibility", "activity_types", "agentue", "emoji", "pacing", "markdown"),
    },
}
"""Commands, tables, operators' pages, and what knows no query of its own."""
MAY_AGGREGATE = ("conversations/actions/summary.py", "unread/repair/")
MAY_NAME_THE_TABLE = ("unread/store.py", "unread/models.py", "unread/migrations/", "unread/repair/", "unread/admin")


def contracts(forbidden: str) -> list[dict[str, Any]]:
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    found = settings["tool"]["importlinter"]["contracts"]
    return [contract for contract in found if forbidden in contract["forbidden_modules"]]


@pytest.mark.parametrize("forbidden", [REPAIR, AGGREGATE])
def test_every_serving_module_is_bound(forbidden: str) -> None:
    [contract] = contracts(forbidden)
    bound = {name.removesuffix(".*") for name in contract["source_modules"]}
    assert "realtime" in bound
    assert {"loopd.asgi", "loopd.server", "loopd.pages"} <= bound
    for package, exempt in NOT_SERVING.items():
        modules = {path.stem for path in (PROJECT / package).iterdir() if _is_module(path)}
        assert {f"{package}.{name}" for name in modules - exempt} - bound == set()


def _is_module(path: Path) -> bool:
    return (path.suffix == ".py" and path.stem != "__init__") or (path / "__init__.py").exists()


def test_only_the_rewind_may_recompute() -> None:
    [contract] = contracts(AGGREGATE)
    allowed = {each.split(" -> ")[0] for each in contract["ignore_imports"]}
    users = {
        str(path.relative_to(PROJECT).with_suffix("")).replace("/", ".")
        for path in _sources()
        if "recompute_visible_summary" in path.read_text() and not _within(path, MAY_AGGREGATE)
    }
    assert users == {"conversations.actions.removing"} <= allowed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "planted"),
    [
        ("unread/api.py", "import unread.repair"),
        ("realtime/commands.py", "from unread import repair"),
        ("conversations/queries/sidebar.py", "from conversations.actions import summary"),
        ("unread/rosters.py", "from conversations.actions.summary import recompute_visible_summary"),
    ],
)
def test_a_planted_import_breaks_a_contract(tmp_path: Path, module: str, planted: str) -> None:
    for package in PACKAGES:
        shutil.copytree(PROJECT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PROJECT / "pyproject.toml", tmp_path)
    with (tmp_path / module).open("a") as source:
        source.write(f"\n{planted}\n")
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint, "--no-cache", "--no-logo"], cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, "1 broken" in done.stdout) == (1, True), done.stdout + done.stderr


def test_nothing_counts_messages_but_the_summary_and_repair() -> None:
    found = {str(path.relative_to(PROJECT)): aggregates_in(path) for path in _sources()}
    outside = {name: lines for name, lines in found.items() if lines and not name.startswith(MAY_AGGREGATE)}
    assert outside == {}
    assert found["conversations/actions/summary.py"]


def test_the_premise_that_aggregates_are_found(tmp_path: Path) -> None:
    source = tmp_path / "planted.py"
    source.write_text(
        "def f(scope):\n"
        "    Message.objects.filter(scope=scope).count()\n"
        "    scope.messages.exists()\n"
        "    rows = Activity.objects.filter(scope=scope)\n"
        "    rows.aggregate(n=Max('seq'))\n"
        "    Message.objects.values('scope').annotate(n=models.Count('id'))\n"
        "    cursor.execute(f'SELECT scope_id, COUNT(*) FROM messages WHERE {x} GROUP BY 1')\n"
        "    Scope.objects.filter(name='x').count()\n"
        "    'one two'.count('o')\n"
        "    Message.objects.filter(id=1).first()\n"
    )
    assert aggregates_in(source) == [2, 3, 5, 6, 7]


def test_nothing_but_the_store_names_the_snapshot_table() -> None:
    names = ("member_scope_unread_runtime_snapshots", "MemberScopeUnreadRuntimeSnapshot")
    named = {str(path.relative_to(PROJECT)) for path in _sources() if any(name in path.read_text() for name in names)}
    assert {name for name in named if not name.startswith(MAY_NAME_THE_TABLE)} == set()


def _sources() -> list[Path]:
    return [path for package in PACKAGES for path in (PROJECT / package).rglob("*.py")]


def _within(path: Path, places: tuple[str, ...]) -> bool:
    return str(path.relative_to(PROJECT)).startswith(places)
