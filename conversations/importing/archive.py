"""A zip archive from somebody else: opened, measured and read in memory, with a bound on everything; never unpacked."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from typing import Any

from .errors import BrokenExport

MAX_ARCHIVE_BYTES = 2 * 1024**3
MAX_ENTRIES = 300_000
MAX_FILE_BYTES = 64 * 1024**2
"""One JSON file, unpacked."""
MAX_TOTAL_BYTES = 8 * 1024**3
"""All files, unpacked."""

_SYMLINK = 0o120000
_FORMAT_BITS = 0o170000
_ENCRYPTED = 0x1
_IGNORED = ("__MACOSX/", ".DS_Store", "Thumbs.db")
_DRIVE = re.compile(r"[A-Za-z]:")


class Archive:
    """JSON files by name, the folder that all of them may lie in taken off."""

    def __init__(self, path: Path) -> None:
        try:
            size = path.stat().st_size
            if not path.is_file():
                raise BrokenExport(f"{path} is not a file.")
            if size > MAX_ARCHIVE_BYTES:
                raise BrokenExport(f"{path} has {size} bytes; at most {MAX_ARCHIVE_BYTES} are read.")
            self._zip = zipfile.ZipFile(path)
        except OSError as error:
            raise BrokenExport(f"{path} cannot be read: {error.strerror or error}.") from None
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise BrokenExport(f"{path} is not a zip archive that can be read: {error}.") from None
        try:
            self._entries = self._measured()
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def names(self) -> list[str]:
        return list(self._entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str) -> Any:
        """The JSON value of one file. Raises `BrokenExport` naming the file."""
        entry = self._entries[name]
        try:
            with self._zip.open(entry) as handle:
                raw = handle.read(MAX_FILE_BYTES + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
            raise BrokenExport(f"{name} is damaged: {error}.") from None
        if len(raw) > MAX_FILE_BYTES:
            raise BrokenExport(f"{name} unpacks to more than {MAX_FILE_BYTES} bytes.")
        try:
            return json.loads(raw, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise BrokenExport(f"{name} is not JSON: {error}.") from None

    def _measured(self) -> dict[str, zipfile.ZipInfo]:
        entries = self._zip.infolist()
        if len(entries) > MAX_ENTRIES:
            raise BrokenExport(f"The archive has {len(entries)} entries; at most {MAX_ENTRIES} are read.")
        total = 0
        found: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            _refuse_tricks(entry)
            if entry.is_dir() or entry.filename.startswith(_IGNORED[0]) or entry.filename.endswith(_IGNORED[1:]):
                continue
            total += entry.file_size
            if entry.filename in found:
                raise BrokenExport(f"The archive has {entry.filename!r} twice.")
            if entry.file_size > MAX_FILE_BYTES and entry.filename.endswith(".json"):
                raise BrokenExport(f"{entry.filename} unpacks to {entry.file_size} bytes; at most {MAX_FILE_BYTES}.")
            found[entry.filename] = entry
        if total > MAX_TOTAL_BYTES:
            raise BrokenExport(f"The archive unpacks to {total} bytes; at most {MAX_TOTAL_BYTES} are read.")
        return _without_top_folder(found)


def _refuse_tricks(entry: zipfile.ZipInfo) -> None:
    """Nothing is unpacked, so such names would do no harm; but no export has them, so something is wrong."""
    name = entry.orig_filename
    parts = name.split("/")
    if "\0" in name or "\\" in name or name.startswith("/") or ".." in parts or _DRIVE.match(name) or not name:
        raise BrokenExport(f"The archive has an entry with the path {name!r}, which no export has.")
    if entry.external_attr >> 16 & _FORMAT_BITS == _SYMLINK:
        raise BrokenExport(f"The archive has a symbolic link, {name!r}, which no export has.")
    if entry.flag_bits & _ENCRYPTED:
        raise BrokenExport(f"{name!r} is encrypted; unpack the export and zip it again without a password.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BrokenExport(f"{name!r} is compressed in a way that exports are not.")


def _without_top_folder(entries: dict[str, zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    """Whoever zips an unpacked export again often zips its folder."""
    if "users.json" in entries:
        return entries
    tops = {name.split("/", 1)[0] for name in entries}
    if len(tops) == 1 and f"{(top := next(iter(tops)))}/users.json" in entries:
        return {name[len(top) + 1 :]: entry for name, entry in entries.items()}
    return entries


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
