from __future__ import annotations

from io import StringIO

from django.core.management import call_command

from conversations.ids import new_id
from conversations.ownership import LeaseStore


def test_no_migration_is_missing() -> None:
    call_command("makemigrations", check=True, dry_run=True, stdout=StringIO())


def test_ids_grow_past_a_given_one_even_when_the_clock_ran_backwards() -> None:
    future = new_id(ms=2**47)
    assert new_id(after=future) > future
    assert new_id(after=future).version == 7


def test_an_epoch_rises_with_every_acquisition() -> None:
    resource = f"test/{new_id()}"
    first = LeaseStore("a|b|1|1|x", ttl_s=60)
    assert [first.acquire(resource), first.acquire(resource)] == [1, 2]
