# SPDX-License-Identifier: MIT
"""tools/walk.py finds calls, returns and ends of walks in the blocks that QEMU says it executes."""

import sys

import pytest

import cairn_boot as cb

OUTER = ("outer", "kernel/sched/wait.c")
SWITCH = ("switch_to", "kernel/sched/sched.c")
HOOK = ("kswitch_out", "kernel/tracepoint/switch.c")
PUT = ("put", "trace/hub.c")
AWAY = ("away", "arch/switch.asm")


@pytest.fixture(name="walk")
def fixture_walk(monkeypatch):
    monkeypatch.syspath_prepend(cb.ROOT / "tools")
    import walk  # pylint: disable=import-outside-toplevel
    return walk


class Functions:
    """Each has 16 bytes."""
    def of(self, pc):
        return [OUTER, SWITCH, HOOK, PUT, AWAY][pc // 16], pc % 16 == 0


def lines(*addresses):
    return ["not of a block", *(f"Trace 0: 0x7f1234567890 [00000000/{pc:016x}/00c0b3/ff000000] " for pc in addresses)]


def walked(walk, *addresses):
    found = walk.Walk("switch_to")
    walk.follow(lines(*addresses), Functions(), [found])
    return found


def test_a_walk_ends_where_it_was_called_from(walk):
    found = walked(walk, 4, 16, 16, 32, 36, 48, 40, 20, 64, 24, 8, 48)  # a block that is begun twice is one
    assert found.done == [((SWITCH, HOOK), (HOOK, PUT), (SWITCH, AWAY))]


def test_a_jump_to_a_function_is_a_call_and_returns_to_the_caller(walk):
    assert walked(walk, 4, 16, 32, 48, 20, 4).done == [((SWITCH, HOOK), (HOOK, PUT))]


def test_what_does_not_return_is_no_walk(walk):
    assert not walked(walk, 4, 16, 64, 0, 4, 16, 32).done


def test_the_usual_way_is_told(walk, capsys):
    found = walked(walk, *3 * [4, 16, 32, 48, 36, 20, 4], 16, 64, 20, 4)
    assert len(found.done) == 4
    walk.tell(found, walk.Rooms(cb.ROOT), True)
    one, all_of_them, *tree = capsys.readouterr().out.splitlines()
    assert one == "switch_to, one walk: 3 files, 3 rooms, 0 climbs in 2 calls; with repetitions 0 in 2"
    assert all_of_them == "switch_to, all 4: 4 files, 4 rooms, 0 climbs in 3 calls; with repetitions 0 in 7"
    assert tree[1] == "    kswitch_out (kernel/tracepoint/switch.c) -> put (trace/hub.c)"


def test_a_climb_is_marked(walk, capsys):
    found = walk.Walk("put")
    walk.follow(lines(4, 48, 32, 52, 4), Functions(), [found])
    walk.tell(found, walk.Rooms(cb.ROOT), True)
    one, _, call = capsys.readouterr().out.splitlines()
    assert "1 climbs in 1 calls" in one and call.startswith("  ^ put (trace/hub.c) -> kswitch_out")
