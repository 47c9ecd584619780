"""A slow reader's frames: in order, bounded, and a gap instead of the ones that did not fit."""

from __future__ import annotations

import asyncio

from realtime.outbox import GAP, Outbox


async def test_frames_leave_in_the_order_they_came() -> None:
    outbox = Outbox()
    for frame in ("a", "b", "c"):
        assert outbox.put(frame)
    assert [await outbox.take() for _ in range(3)] == ["a", "b", "c"]
    assert (len(outbox), outbox.bytes) == (0, 0)


async def test_a_reader_waits_for_the_next_frame() -> None:
    outbox = Outbox()
    waiting = asyncio.ensure_future(outbox.take())
    await asyncio.sleep(0)
    assert not waiting.done()
    outbox.put("late")
    assert await asyncio.wait_for(waiting, 5) == "late"


async def test_too_many_frames_become_one_gap() -> None:
    outbox = Outbox(max_frames=3)
    assert [outbox.put(str(n)) for n in range(5)] == [True, True, True, False, False]
    assert (len(outbox), outbox.bytes, outbox.gap) == (0, 0, True)
    assert await outbox.take() is GAP
    outbox.put("after")
    assert await outbox.take() == "after"


async def test_too_many_bytes_become_one_gap() -> None:
    outbox = Outbox(max_bytes=10)
    assert outbox.put("12345678")
    assert not outbox.put("abc")
    assert await outbox.take() is GAP


async def test_a_single_frame_over_the_bound_still_goes() -> None:
    outbox = Outbox(max_bytes=10)
    assert outbox.put("x" * 50)
    assert await outbox.take() == "x" * 50


async def test_what_comes_while_a_gap_waits_is_left_out() -> None:
    outbox = Outbox()
    outbox.put("old")
    outbox.leave_out()
    assert not outbox.put("also old once the snapshot is made")
    assert await outbox.take() is GAP
    assert len(outbox) == 0
