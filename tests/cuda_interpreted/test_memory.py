"""What kernels do to memory: bounds, races, poison. Planted faults are found and named."""

from __future__ import annotations

import math

import pytest
import torch

triton = pytest.importorskip("triton")
import triton.language as tl

from compilefix.cuda_interpreted.buffers import laid_out, poisoned
from tests.cuda_interpreted.interpreting import interpreted


@triton.jit
def shift_kernel(x, out, n, shift, BLOCK: tl.constexpr):
    """out[i] = x[i + shift] for i < n."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i + shift, i < n), i < n)


@triton.jit
def unmasked_kernel(x, out, BLOCK: tl.constexpr):
    """out[i] = x[i] for a whole block, whatever the length."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i))


@triton.jit
def count_kernel(x, out, BLOCK: tl.constexpr, ATOMIC: tl.constexpr):
    """out[0] += sum of x, block by block."""
    total = tl.sum(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), 0)
    if ATOMIC:
        tl.atomic_add(out, total, sem="relaxed")
    else:
        tl.store(out, tl.load(out) + total)


@triton.jit
def same_kernel(out, BLOCK: tl.constexpr):
    """Every program writes the same value to the same place."""
    tl.store(out + tl.arange(0, BLOCK), tl.full([BLOCK], 7, tl.int64))


@triton.jit
def own_kernel(out, BLOCK: tl.constexpr):
    """Every program writes its own number to the same place."""
    tl.store(out + tl.arange(0, BLOCK), tl.full([BLOCK], 1, tl.int64) * tl.program_id(0))


def _found() -> list[tuple[str, bool, str]]:
    from compilefix.cuda_interpreted import memory

    found = [(f.what, f.note, str(f)) for f in memory.findings()]
    memory.reset()
    return found


@pytest.mark.slow
@interpreted
def test_a_wrong_mask_is_an_access_out_of_bounds_with_kernel_line_and_element() -> None:
    """A whole block over ten elements: six lanes too many; what lies behind is neither read nor written."""
    around = torch.full((40,), 5.0)
    x = torch.arange(10.0)
    unmasked_kernel[(1,)](x, torch.empty(16), BLOCK=16)
    ((what, note, text),) = _found()
    assert (what, note) == ("out-of-bounds", False)
    assert text == (
        "reads element 10 of x, which has 10 (6 such lanes in one block) in unmasked_kernel, at "
        "tl.store(out + i, tl.load(x + i))"
    )
    unmasked_kernel[(1,)](torch.ones(16), x, BLOCK=16)
    ((_, _, text),) = _found()
    assert text.startswith("writes element 10 of out, which has 10 (6 such lanes in one block)")
    assert x.tolist() == [1.0] * 10
    assert torch.equal(around, torch.full((40,), 5.0))


@pytest.mark.slow
@interpreted
def test_a_negative_index_is_caught_before_it_writes() -> None:
    """Element -3 of x."""
    out = torch.zeros(8)
    shift_kernel[(1,)](torch.arange(8.0), out, 8, -3, BLOCK=8)
    ((what, _, text),) = _found()
    assert what == "out-of-bounds"
    assert "reads element -3 of x, which has 8 (3 such lanes" in text
    assert out.tolist() == [0, 0, 0, 0, 1, 2, 3, 4]


@pytest.mark.slow
@interpreted
def test_views_may_touch_their_whole_storage() -> None:
    """Inductor addresses through views; the storage is the bound."""
    base = torch.arange(20.0)
    out = torch.empty(8)
    shift_kernel[(1,)](base[4:12], out, 8, 3, BLOCK=8)
    assert _found() == []
    assert out.tolist() == [7, 8, 9, 10, 11, 12, 13, 14]


@pytest.mark.slow
@interpreted
def test_writing_in_place_what_another_program_reads_is_a_race() -> None:
    """x[i] = x[i + 4] in blocks of four: each reads what the next writes. Out of place it is none."""
    x = torch.arange(16.0)
    shift_kernel[(3,)](x, x, 12, 4, BLOCK=4)
    ((what, note, text),) = _found()
    assert (what, note) == ("race", False)
    assert text.startswith(
        "program 0 reads byte 16 of x = out, which program 1 writes, in no order; forward and reverse order leave "
        "different results, first at byte 2 of x in shift_kernel, at tl.store("
    )
    shift_kernel[(3,)](x, torch.empty(16), 12, 4, BLOCK=4)
    shift_kernel[(3,)](x, x, 12, 0, BLOCK=4)
    assert _found() == []


@pytest.mark.slow
@interpreted
def test_a_dropped_atomic_is_a_race_and_an_atomic_is_none() -> None:
    """The sum comes out right in a row of programs; on a GPU it would not."""
    x = torch.ones(32, dtype=torch.int64)
    for atomic in (True, False):
        out = torch.zeros(1, dtype=torch.int64)
        count_kernel[(4,)](x, out, BLOCK=8, ATOMIC=atomic)
        assert out.item() == 32
        assert {what for what, note, _ in _found() if not note} == (set() if atomic else {"race"})


@triton.jit
def scatter_kernel(x, index, out, BLOCK: tl.constexpr):
    """out[index] += x, atomically."""
    i = tl.arange(0, BLOCK)
    tl.atomic_add(out + tl.load(index + i), tl.load(x + i), i < 3, sem="relaxed")


@pytest.mark.slow
@interpreted
def test_atomic_additions_in_bfloat16() -> None:
    """Twice to one place, once to another; the masked lane adds nothing."""
    out = torch.tensor([1.0, 10.0], dtype=torch.bfloat16)
    x = torch.tensor([0.5, 2.0, 0.25, 100.0], dtype=torch.bfloat16)
    scatter_kernel[(1,)](x, torch.tensor([0, 1, 0, 1]), out, BLOCK=4)
    assert out.tolist() == [1.75, 12.0]


@triton.jit
def ones_kernel(index, out, BLOCK: tl.constexpr):
    """out[index] += 1, with one value for all lanes."""
    i = tl.arange(0, BLOCK)
    tl.atomic_add(out + tl.load(index + i), tl.full([1], 1.0, tl.float32), i < 3, sem="relaxed")


@pytest.mark.slow
@interpreted
def test_one_value_for_all_lanes_is_added_by_each() -> None:
    """It comes as a view of stride zero, behind which lies other memory."""
    out = torch.zeros(2)
    ones_kernel[(1,)](torch.tensor([0, 1, 0, 1]), out, BLOCK=4)
    assert out.tolist() == [2.0, 1.0]


@pytest.mark.slow
@interpreted
def test_two_writes_are_a_race_where_they_differ() -> None:
    """Programs that write the same value do no harm in any order."""
    out = torch.empty(4, dtype=torch.int64)
    same_kernel[(3,)](out, BLOCK=4)
    assert _found() == []
    own_kernel[(3,)](out, BLOCK=4)
    ((what, note, text),) = _found()
    assert (what, note) == ("race", False)
    assert text == (
        "program 1 writes byte 0 of out, which program 0 writes, in no order; forward and reverse order leave "
        "different results, first at byte 0 of out in own_kernel, at "
        "tl.store(out + tl.arange(0, BLOCK), tl.full([BLOCK], 1, tl.int64) * tl.program_id(0))"
    )
    assert out.tolist() == [2] * 4


@triton.jit
def put_kernel(index, x, out, BLOCK: tl.constexpr):
    """out[index] = x."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    where = tl.load(index + i)
    tl.store(out + (where + 0), tl.load(x + i))


@pytest.mark.slow
@interpreted
def test_two_writes_where_an_index_occurs_twice_are_a_note() -> None:
    """The program itself asks for them: which value stays is undefined on a GPU without a compiler as well."""
    put_kernel[(2,)](torch.tensor([0, 1, 1, 2]), torch.arange(4.0), torch.zeros(3), BLOCK=2)
    ((what, note, text),) = _found()
    assert (what, note) == ("race", True)
    assert text.startswith("program 1 writes byte 4 of out, which program 0 writes, in no order in put_kernel")


@pytest.mark.slow
@interpreted
@pytest.mark.parametrize(("order", "left"), [("forward", 3), ("reverse", 0), ("shuffle:2", None)])
def test_the_grid_runs_in_the_order_that_is_asked_for(order: str, left: int | None) -> None:
    """The last one wins; whichever order is asked for, the others are tried as well."""
    from compilefix.cuda_interpreted import launch, orders

    asked = orders.parse(order)
    launch.ORDER[:] = [asked]
    out = torch.empty(4, dtype=torch.int64)
    own_kernel[(4,)](out, BLOCK=4)
    assert out.tolist() == [asked.positions(4)[-1] if left is None else left] * 4
    ((_, _, text),) = _found()
    assert f"; {order} and " in text


@triton.jit
def barrier_kernel(x, BLOCK: tl.constexpr, BARRIER: tl.constexpr):
    """x[i] = x[i] + x[0]."""
    i = tl.arange(0, BLOCK)
    first = tl.load(x)
    value = tl.load(x + i)
    if BARRIER:
        tl.debug_barrier()
    tl.store(x + i, value + first)


@pytest.mark.slow
@interpreted
def test_a_store_to_what_other_threads_of_the_program_still_load_needs_a_barrier() -> None:
    """Every thread loads x[0]; the one that owns it may store before the others have it."""
    for barrier in (True, False):
        barrier_kernel[(1,)](torch.arange(64.0), BLOCK=64, BARRIER=barrier)
        found = _found()
        assert len(found) == (not barrier)
    assert found[0][:2] == ("race", False)
    barrier_kernel[(1,)](torch.arange(8.0), BLOCK=8, BARRIER=False)
    assert [note for _, note, _ in _found()] == [True]  # one warp
    assert found[0][2] == (
        "program 0 stores to byte 0 of x, which other threads of it load at first = tl.load(x), with no barrier "
        "between in barrier_kernel, at tl.store(x + i, value + first)"
    )


@triton.jit
def wait_kernel(flag, BLOCK: tl.constexpr):
    """Waits until the other program has come."""
    tl.atomic_add(flag, 1, sem="release")
    while tl.atomic_add(flag, 0, sem="acquire") < 2:
        pass


@pytest.mark.slow
@interpreted
def test_programs_that_wait_for_each_other_are_a_limit() -> None:
    """They run one after the other here; that is said, and nothing hangs."""
    from compilefix.cuda_interpreted.problems import InterpreterLimitError

    with pytest.raises(InterpreterLimitError, match="programs that wait for each other"):
        wait_kernel[(2,)](torch.zeros(1, dtype=torch.int32), BLOCK=1)


@pytest.mark.slow
@interpreted
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64, torch.int64, torch.int32, torch.bool])
def test_reading_what_nothing_has_written_is_named(dtype: torch.dtype) -> None:
    """Half of the buffer is stored to; the other half is read as it was allocated."""
    buf0 = poisoned((8,), (1,), dtype)
    x, out = torch.zeros(4, dtype=dtype), torch.zeros(8, dtype=dtype)
    shift_kernel[(1,)](x, buf0, 4, 0, BLOCK=4)
    shift_kernel[(1,)](buf0, out, 4, 0, BLOCK=8)
    assert _found() == []
    shift_kernel[(1,)](buf0, out, 8, 0, BLOCK=8)
    ((what, note, text),) = _found()
    assert (what, note) == ("uninitialised", False)
    assert text.startswith("reads element 4 of x (buf0), which nothing has written in shift_kernel, at tl.store(")


@pytest.mark.slow
@interpreted
def test_a_tensor_without_memory_is_an_illegal_access() -> None:
    """Not a segmentation fault."""
    from compilefix.cuda_interpreted.problems import IllegalAccessError

    with pytest.raises(IllegalAccessError, match="argument x of shift_kernel has no memory"):
        shift_kernel[(1,)](torch._efficientzerotensor(4), torch.empty(4), 4, 0, BLOCK=4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64, torch.int32, torch.bool])
def test_poison_is_everywhere_in_the_storage(dtype: torch.dtype) -> None:
    """Padding between rows included."""
    out = poisoned((3, 2), (4, 1), dtype)
    assert (out.shape, out.stride(), out.dtype) == ((3, 2), (4, 1), dtype)
    whole = out.as_strided((10,), (1,))
    if dtype.is_floating_point or dtype.is_complex:
        assert whole.isnan().all()
    else:
        assert whole.tolist() == [True if dtype is torch.bool else -1515870811] * 10


def test_empty_buffers_need_no_poison() -> None:
    """No element, no fill."""
    assert poisoned((0, 3), (3, 1), torch.float32).shape == (0, 3)


def test_laid_out_changes_strides_and_never_sizes() -> None:
    """A result in the right layout is the same object; sizes of one count for nothing."""
    x = torch.arange(6.0).reshape(2, 3)
    assert laid_out(x, (2, 3), (3, 1)) is x
    assert laid_out(x[:, None], (2, 1, 3), (3, 99, 1)).stride() == (3, 3, 1)
    turned = laid_out(x, (2, 3), (1, 2))
    assert turned.stride() == (1, 2)
    assert torch.equal(turned, x)
    assert math.isnan(laid_out(float("nan"), (1,), (1,)))
    with pytest.raises(AssertionError, match=r"\(2, 3\), expected \(3, 2\)"):
        laid_out(x, (3, 2), (2, 1))
