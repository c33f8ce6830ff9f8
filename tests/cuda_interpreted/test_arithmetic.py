"""The interpreter's arithmetic, in kernels: rounding, bfloat16, integers, NaN, assertions."""

from __future__ import annotations

import pytest
import torch

triton = pytest.importorskip("triton")
import triton.language as tl

from tests.cuda_interpreted.interpreting import interpreted

pytestmark = pytest.mark.slow


@triton.jit
def cast_kernel(x, out, n, BLOCK: tl.constexpr):
    """out = x in the type of out."""
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n).to(out.dtype.element_ty), i < n)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    """out = x + y in the type of x."""
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


@triton.jit
def divide_kernel(x, y, quotient, remainder, n, BLOCK: tl.constexpr):
    """Integer division towards zero."""
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i, i < n), tl.load(y + i, i < n, other=1)
    tl.store(quotient + i, a // b, i < n)
    tl.store(remainder + i, a % b, i < n)


@triton.jit
def logic_kernel(x, out, n, BLOCK: tl.constexpr):
    """`not`, `and` and `or` over a block."""
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, i < n, other=0)
    yes = not ((a > 2 and a < 5) or a == 7)
    tl.store(out + i, yes, i < n)


@triton.jit
def byte_kernel(x, out, n, BLOCK: tl.constexpr):
    """Scalars beyond the range of a byte wrap around."""
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, i < n)
    tl.store(out + i, ~a + tl.full([BLOCK], 200, tl.uint8) * tl.full([BLOCK], 3, tl.uint8), i < n)


@triton.jit
def extremes_kernel(x, y, low, high, n, BLOCK: tl.constexpr):
    """Minimum and maximum that leave NaN out."""
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i, i < n), tl.load(y + i, i < n)
    tl.store(low + i, tl.minimum(a, b), i < n)
    tl.store(high + i, tl.maximum(a, b), i < n)


@triton.jit
def assert_kernel(x, n, BLOCK: tl.constexpr):
    """An assertion over the lanes in range."""
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, i < n, other=-1)
    tl.device_assert((a >= 0) | (i >= n), "negative entry")


@interpreted
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e5m2", "float64"])
def test_a_conversion_from_float32_rounds_to_nearest_even(dtype: str) -> None:
    """All bits as torch's own conversion, halfway cases and subnormals included."""
    kind = getattr(torch, dtype)
    bits = torch.arange(0, 1 << 32, 104729, dtype=torch.int64).to(torch.int32)
    halfway = torch.tensor([1.0 + 2**-8, 1.0 + 3 * 2**-8, 1.0 + 2**-11, 1e-40, -1e-41, 0.0, -0.0])
    x = torch.cat([bits.view(torch.float32), halfway])
    x = x[x.isfinite() & (x.abs() < 5e4)]
    want = x.to(kind)
    out = torch.empty_like(want)
    cast_kernel[(1,)](x, out, x.numel(), BLOCK=1 << (x.numel() - 1).bit_length())
    same = torch.int64 if dtype == "float64" else torch.uint8 if "8" in dtype else torch.int16
    assert torch.equal(out.view(same), want.view(same))


@interpreted
def test_a_conversion_to_eight_bits_saturates_and_keeps_nan() -> None:
    """As NVIDIA's cvt.satfinite; torch's own gives NaN beyond 448."""
    x = torch.tensor([1e6, -1e6, 448.0, float("nan")])
    out = torch.empty(4, dtype=torch.float8_e4m3fn)
    cast_kernel[(1,)](x, out, 4, BLOCK=4)
    assert out.float()[:3].tolist() == [448.0, -448.0, 448.0]
    assert out.float()[3].isnan()


@interpreted
def test_bfloat16_arithmetic_is_not_that_of_its_bits() -> None:
    """1.5 + 2.25 = 3.75."""
    x, y = (torch.tensor([v, -v], dtype=torch.bfloat16) for v in (1.5, 2.25))
    out = torch.empty_like(x)
    add_kernel[(1,)](x, y, out, 2, BLOCK=2)
    assert out.tolist() == [3.75, -3.75]


@interpreted
def test_integer_division_truncates_and_by_zero_gives_all_ones() -> None:
    """-7 / 2 = -3 rest -1; by zero the quotient is -1 and the rest the dividend, and nothing dies."""
    x = torch.tensor([7, -7, 7, -7, 5, 0], dtype=torch.int32)
    y = torch.tensor([2, 2, -2, -2, 0, 0], dtype=torch.int32)
    quotient, remainder = torch.empty_like(x), torch.empty_like(x)
    divide_kernel[(1,)](x, y, quotient, remainder, 6, BLOCK=8)
    assert quotient.tolist() == [3, -3, -3, 3, -1, -1]
    assert remainder.tolist() == [1, -1, 1, -1, 5, 0]


@interpreted
def test_not_and_or_work_lane_by_lane() -> None:
    """Python would decide once for the whole block."""
    x = torch.arange(8)
    out = torch.empty(8, dtype=torch.bool)
    logic_kernel[(1,)](x, out, 8, BLOCK=8)
    assert out.tolist() == [True, True, True, False, False, True, True, False]


@interpreted
def test_bytes_wrap_around() -> None:
    """~5 + 200 * 3 modulo 256 = 250 + 88 - 256."""
    x = torch.tensor([5, 0], dtype=torch.uint8)
    out = torch.empty_like(x)
    byte_kernel[(1,)](x, out, 2, BLOCK=2)
    assert out.tolist() == [82, 87]


@interpreted
def test_minimum_and_maximum_leave_nan_out() -> None:
    """As the PTX instructions behind them."""
    x = torch.tensor([float("nan"), 1.0, 2.0, float("nan")])
    y = torch.tensor([3.0, float("nan"), -2.0, float("nan")])
    low, high = torch.empty(4), torch.empty(4)
    extremes_kernel[(1,)](x, y, low, high, 4, BLOCK=4)
    assert low.tolist()[:3] == [3.0, 1.0, -2.0]
    assert high.tolist()[:3] == [3.0, 1.0, 2.0]
    assert low[3].isnan()


@interpreted
def test_a_failing_assertion_raises_with_kernel_and_line() -> None:
    """Lanes out of range do not count; one lane in range does."""
    from compilefix.cuda_interpreted.problems import DeviceAssertError

    assert_kernel[(1,)](torch.tensor([0, 1, 2]), 3, BLOCK=4)
    with pytest.raises(DeviceAssertError, match=r"device-side assert triggered: negative entry \(assert_kernel, at tl"):
        assert_kernel[(1,)](torch.tensor([0, -1, 2]), 3, BLOCK=4)


@triton.jit
def assembly_kernel(x, out, BLOCK: tl.constexpr, TEXT: tl.constexpr):
    """One instruction of PTX."""
    i = tl.arange(0, BLOCK)
    tl.store(
        out + i, tl.inline_asm_elementwise(TEXT, "=f, f", [tl.load(x + i)], dtype=tl.float32, is_pure=True, pack=1)
    )


@interpreted
def test_assembly_that_inductor_writes_is_computed_and_all_other_refused() -> None:
    """A reciprocal; a warp shuffle is beyond what runs here, and is named."""
    from compilefix.cuda_interpreted.problems import InterpreterLimitError

    x = torch.tensor([0.5, 4.0])
    out = torch.empty(2)
    assembly_kernel[(1,)](x, out, BLOCK=2, TEXT="rcp.approx.ftz.f32 $0, $1;")
    assert out.tolist() == [2.0, 0.25]
    with pytest.raises(InterpreterLimitError, match=r"inline assembly 'ex2.approx.f32 \$0, \$1;'"):
        assembly_kernel[(1,)](x, out, BLOCK=2, TEXT="ex2.approx.f32 $0, $1;")


@triton.jit
def descriptor_kernel(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    """Copy a tile of rows through tensor descriptors."""
    source = tl.make_tensor_descriptor(x, shape=[ROWS, COLUMNS], strides=[COLUMNS, 1], block_shape=[BLOCK, COLUMNS])
    target = tl.make_tensor_descriptor(out, shape=[ROWS, COLUMNS], strides=[COLUMNS, 1], block_shape=[BLOCK, COLUMNS])
    target.store([tl.program_id(0) * BLOCK, 0], source.load([tl.program_id(0) * BLOCK, 0]))


@interpreted
def test_tensor_descriptors_load_and_store() -> None:
    """Rows beyond the shape are neither read nor written."""
    x = torch.arange(24.0).reshape(6, 4)
    out = torch.zeros(6, 4)
    descriptor_kernel[(2,)](x, out, ROWS=6, COLUMNS=4, BLOCK=4)
    assert torch.equal(out, x)


@triton.jit
def constant_kernel(out, BLOCK: tl.constexpr):
    """A bfloat16 constant."""
    tl.store(out + tl.arange(0, BLOCK), tl.full([BLOCK], 1.5, tl.bfloat16))


@interpreted
def test_a_bfloat16_constant() -> None:
    """1.5."""
    out = torch.empty(2, dtype=torch.bfloat16)
    constant_kernel[(1,)](out, BLOCK=2)
    assert out.tolist() == [1.5, 1.5]
