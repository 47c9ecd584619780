"""`import_slack`: check the whole archive, take the workspace's lease, then write in bounded transactions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO
from uuid import UUID

from ..errors import Misdirected
from ..models import Workspace
from ..ownership import current_owner
from .archive import Archive
from .channels import import_channel
from .entries import Translator
from .errors import BrokenExport
from .history import History
from .inspection import Export, inspect
from .people import Person, import_people
from .progress import Progress
from .report import Report
from .text import Names


class WorkspaceBusy(Exception):
    """Another process owns the workspace; names it."""


def import_slack(path: Path, slug: str, output: TextIO) -> Report:
    """Import an export into the workspace of that slug, which is made where it is missing. Progress goes to `output`.

    Running it again, also after an interruption, adds what is missing and nothing twice. Raises `BrokenExport` before
    the first write, and `WorkspaceBusy`.
    """
    with Archive(path) as archive:
        export = inspected(archive, output)
        report = Report(notes=export.notes)
        workspace = _workspace(slug, report)
        with _owned(workspace.id):
            people = import_people(workspace, export, report)
            _import_history(workspace, archive, export, people, report, output)
    return report


def inspected(archive: Archive, output: TextIO) -> Export:
    """The checked archive, with a bar for the checking."""
    progress = Progress("Checking", len(archive.names()), output)
    export = inspect(archive, lambda: progress.advance(1))
    progress.close()
    return export


def _import_history(
    workspace: Workspace,
    archive: Archive,
    export: Export,
    people: dict[str, Person],
    report: Report,
    output: TextIO,
) -> None:
    translator = Translator(
        people,
        Names(
            people={slack_id: person.username for slack_id, person in people.items()},
            channels={place.channel.id: place.channel.name for place in export.places},
        ),
        {slack_id: str(person.member_id) for slack_id, person in people.items()},
    )
    progress = Progress("Importing", export.messages, output)
    renewed_at = time.monotonic()

    def beat(read: int) -> None:
        nonlocal renewed_at
        progress.advance(read)
        if time.monotonic() - renewed_at > current_owner().leases.ttl_s / 4:
            current_owner().renew()
            renewed_at = time.monotonic()

    for place in export.places:
        beat(0)
        scope_id = import_channel(workspace, place, people, report)
        History(archive, place, workspace.id, scope_id, translator, report, beat).run()
    progress.close()


def _workspace(slug: str, report: Report) -> Workspace:
    workspace, made = Workspace.objects.get_or_create(slug=slug, defaults={"name": slug})
    if made:
        report.notes[f"the workspace {slug} was made"] += 1
    return workspace


@contextmanager
def _owned(workspace_id: UUID) -> Iterator[None]:
    owner = current_owner()
    try:
        owner.require(workspace_id)
    except Misdirected as refused:
        holder = refused.fields.get("owner")
        why = f"{holder} owns it; stop that process first" if holder else "this process may not own it (LOOPD_PROFILE)"
        raise WorkspaceBusy(f"The workspace cannot be written to: {why}.") from None
    try:
        yield
    finally:
        owner.release(workspace_id)


__all__ = ["BrokenExport", "WorkspaceBusy", "import_slack"]
