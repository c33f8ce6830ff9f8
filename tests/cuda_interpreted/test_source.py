"""What the text of a kernel says about its accesses."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.cuda_interpreted import source

KERNEL = """
@triton.jit
def triton_red_fused(in_ptr0, in_ptr1, out_ptr0, xnumel, r0_numel, XBLOCK: tl.constexpr, R0_BLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    x0 = xoffset + tl.arange(0, XBLOCK)[:, None]
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_1 = r0_offset + tl.arange(0, R0_BLOCK)[None, :]
        tmp0 = tl.load(in_ptr0 + (r0_1 + r0_numel*x0), None)
        base = in_ptr1 + x0
        tmp1 = tl.load(base, None)
    tmp2 = tmp1 + 3
    tl.store(out_ptr0 + (x0), tmp0, None)
    tl.atomic_add(out_ptr0 + (tmp2 + x0), tmp0, None)
    block = tl.make_block_ptr(in_ptr1, shape=[4])
    tl.store(block, tmp0)
"""


@pytest.fixture
def told(tmp_path: Path) -> source.Source:
    """The kernel, read from a file."""
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL)
    return source.read(str(file), "triton_red_fused")


def line(text: str) -> int:
    """Return the number of the line of the kernel that has `text`."""
    return next(i for i, row in enumerate(KERNEL.splitlines(), 1) if text in row)


def test_pointers_are_followed_through_names(told: source.Source) -> None:
    """Through a sum and through a block pointer."""
    assert told.pointers(line("tl.load(in_ptr0")) == {"in_ptr0"}
    assert told.pointers(line("tl.load(base")) == {"in_ptr1"}
    assert told.pointers(line("tl.store(block")) == {"in_ptr1"}


def test_an_address_made_of_what_was_loaded_is_indirect(told: source.Source) -> None:
    """Whatever is done to it in between."""
    assert told.indirect(line("tl.atomic_add"))
    assert not told.indirect(line("tl.store(out_ptr0"))
    assert not told.indirect(line("tl.load(base"))


def test_loops_count(told: source.Source) -> None:
    """Two loads in ten turns, and three stores; a loop of unknown length counts once."""
    assert told.trips({"r0_numel": 1000, "R0_BLOCK": 100}) == 23
    assert told.trips({}) == 5


def test_a_kernel_that_cannot_be_read_says_nothing() -> None:
    """No file, no function."""
    assert source.read("/no/such/file.py", "k") == source.Source()
    assert source.Source().trips({}) == 0


def test_helpers_that_wait_are_seen(tmp_path: Path) -> None:
    """A scan looks back to the programs before; those run forward only."""
    file = tmp_path / "scan.py"
    file.write_text("def k(x):\n    triton_helpers.exclusive_scan_decoupled_lookback(x)\n")
    assert source.read(str(file), "k").waits
