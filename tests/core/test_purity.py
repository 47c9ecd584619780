"""The core is the standard library and numpy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_SCRIPT = """
import sys
before = {name.partition(".")[0] for name in sys.modules}
import pkgutil, importlib, unread.core
for module in pkgutil.iter_modules(unread.core.__path__, "unread.core."):
    importlib.import_module(module.name)
gained = {name.partition(".")[0] for name in sys.modules} - before
print(sorted(name for name in gained if name not in sys.stdlib_module_names))
"""


def test_importing_the_core_brings_nothing_in_but_numpy() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", _SCRIPT], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['numpy', 'unread']"
