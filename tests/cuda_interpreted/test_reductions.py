"""Reductions and scans of whole blocks: as element by element."""

from __future__ import annotations

import pytest
import torch

triton = pytest.importorskip("triton")
import triton.language as tl

from tests.cuda_interpreted.interpreting import interpreted
from tests.cuda_interpreted.programs import agrees

pytestmark = pytest.mark.slow


@triton.jit
def last_set(a, b):
    """Associative, not commutative: the right one that is not zero, else the left."""
    return tl.where(b != 0, b, a)


@triton.jit
def last_kernel(x, reduced, scanned, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Reduce and scan rows by `last_set`."""
    rows, columns = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    block = tl.load(x + rows * COLUMNS + columns)
    tl.store(reduced + tl.arange(0, ROWS), tl.reduce(block, 1, last_set))
    tl.store(scanned + rows * COLUMNS + columns, tl.associative_scan(block, 1, last_set))


@interpreted
def test_a_combination_that_does_not_commute_keeps_its_order() -> None:
    """By hand: the last entry that is not zero, up to each place."""
    x = torch.tensor([[0, 3, 0, 5, 0, 0, 2, 0], [1, 0, 0, 0, 0, 0, 0, 0]])
    reduced, scanned = torch.empty(2, dtype=x.dtype), torch.empty_like(x)
    last_kernel[(1,)](x, reduced, scanned, ROWS=2, COLUMNS=8)
    assert reduced.tolist() == [2, 1]
    assert scanned.tolist() == [[0, 3, 3, 5, 5, 5, 2, 2], [1] * 8]


@interpreted
def test_indices_of_extremes_with_ties_and_nan() -> None:
    """The first of equal ones; NaN wins."""
    x = torch.tensor([[1.0, 5.0, 5.0, 2.0], [3.0, float("nan"), 9.0, float("nan")], [-0.0, 0.0, -0.0, 0.0]])
    agrees(lambda x: (x.argmax(-1), x.argmin(-1), x.max(-1), x.min(-1), x.amax(0)), x)


@interpreted
def test_moments_products_scans_and_sorts() -> None:
    """Welford, any, prod, cumulative operations and a stable sort over an odd width."""

    def program(x: torch.Tensor) -> tuple[object, ...]:
        moments = torch.var_mean(x, -1)
        scans = (x.cumsum(-1), x.cumprod(-1), x.logcumsumexp(-1), x.cummax(-1))
        return moments, (x > 2).any(-1), (x * 0.5 + 1).prod(-1), scans, torch.sort(x, dim=-1, stable=True)

    torch.manual_seed(3)
    agrees(program, torch.randn(5, 37))


@interpreted
def test_a_scan_alone_and_one_split_over_blocks() -> None:
    """One tensor in, one tensor out; the split one hands its totals from block to block."""
    x = torch.arange(2 * 8200, dtype=torch.int64).reshape(2, 8200)
    agrees(lambda x: x.cumsum(-1), x % 7)
    agrees(lambda x: x.cumsum(-1), (x % 5).float())
    agrees(lambda x: x.cumsum(0), torch.arange(3000) % 11)
    agrees(lambda x: x.cumsum(0), (torch.arange(3000) % 11 - 4.0))


@interpreted
def test_maxima_products_and_truths_along_and_over_all() -> None:
    """A reduction of one tensor gives one, of which the kernel takes a slice; each by itself."""
    torch.manual_seed(5)
    x = torch.randn(5, 37)
    for program in (lambda x: x.amax(-1), lambda x: x.prod(-1), lambda x: (x > 2).any(-1), lambda x: x.argmin(-1)):
        agrees(program, x)
    agrees(lambda x: (x.amax(), x.argmax(), (x / 2 + 1).prod()), torch.rand(3, 5000))


@interpreted
def test_sorted_rows_whose_width_is_no_power_of_two() -> None:
    """The sort adds up bits in a small integer type, which must not widen."""
    rows = torch.tensor([[1, 7, 3, 2, 0], [5, 4, 9, 200, 1]])
    for dtype in (torch.uint8, torch.int16, torch.float32, torch.bfloat16):
        agrees(lambda x: torch.sort(x, dim=-1, stable=True), rows.to(dtype))


@interpreted
def test_a_number_against_a_block() -> None:
    """A comparison of a scalar is a truth value also when it is spread over a block; NaN wins."""
    x = torch.tensor([-1.5, 0.0, 2.0, float("nan"), float("-inf")])
    agrees(torch.nn.functional.logsigmoid, x)
    agrees(lambda x: (x.clamp(min=0.5), x.minimum(x.new_tensor(1.0))), x)
    agrees(lambda x: x.logcumsumexp(0), x[:3])


@interpreted
def test_a_reduction_in_a_loop() -> None:
    """A row wider than a block, with the mask of its end."""
    torch.manual_seed(4)
    agrees(lambda x: (torch.nn.functional.layer_norm(x, (3001,)), x.softmax(-1), x.sum(0)), torch.randn(6, 3001))
