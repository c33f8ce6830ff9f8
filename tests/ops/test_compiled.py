"""Strategies inside the compiler: one graph, dynamic shapes, vmap, meta tensors, autocast, double backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend
from torch._dynamo.utils import counters

from compilefix import ops
from compilefix.ops.clones import fused_clone, opaque_clone
from compilefix.ops.drop_in import PLAIN, DropIn, build

WRITES = ("slice_scatter", "select_scatter", "diagonal_scatter", "as_strided_scatter", "masked_fill", "masked_scatter")
REWRITES = ("clone", "interpolate", "sinh", "avg_pool1d", "avg_pool2d", "gaussian_nll_loss")
IN_PLACE = ("masked_fill_", "masked_scatter_", "sinh_")


def cases(*names: str) -> list[Any]:
    """Return op and strategy for all own strategies that can stand inside a graph."""
    pairs = [(n, s) for n in names for s in ops.spec(n).strategies if s not in (PLAIN, "disable")]
    return [pytest.param(*pair, id="-".join(pair)) for pair in pairs]


def call(drop_in: DropIn, f: Callable[..., Any]) -> Callable[..., Any]:
    """Return `f` on a base and a source with the further arguments of the op's sample."""

    def program(x: torch.Tensor, s: torch.Tensor | None) -> Any:
        args, kwargs = drop_in.sample.arguments(x if s is None else s)
        return f(x, *args, **kwargs)

    return program


def tensors(drop_in: DropIn, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return a base and a source as the op's sample has them."""
    base = drop_in.sample.base() if drop_in.sample.base else torch.arange(1.0, 37.0).reshape(6, 6)
    base = base.to(dtype)
    return base, None if drop_in.sample.source is None else -drop_in.sample.source(base).clone()


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    torch._dynamo.reset()
    counters.clear()
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize(("name", "strategy"), cases(*WRITES, *REWRITES, *IN_PLACE))
def test_one_graph_and_no_recompile(name: str, strategy: str) -> None:
    """The public form makes one graph, is not compiled again for new values, and gives upstream's result."""
    drop_in = ops.spec(name)
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(call(drop_in, build(drop_in, strategy)), backend=counter, fullgraph=True)
    for shift in (0.0, 1.0, 2.0):
        x, s = tensors(drop_in, torch.float32)
        want = call(drop_in, drop_in.upstream)(x.clone() + shift, s)
        torch.testing.assert_close(compiled(x + shift, s), want)
    assert counter.frame_count == 1
    assert not counters["graph_break"]


@pytest.mark.parametrize(("name", "strategy"), cases(*WRITES, "clone", "sinh"))
def test_dynamic_shapes_compile_once(name: str, strategy: str) -> None:
    """With ``dynamic=True`` other sizes of a batch dimension are neither wrong nor compiled again."""
    drop_in = ops.spec(name)
    f = build(drop_in, strategy)
    sized: dict[str, Callable[..., Any]] = {
        "slice_scatter": lambda op, x: op(x, -x[:, 1:3], 1, 1, 3),
        "select_scatter": lambda op, x: op(x, -x[:, 0], 1, -1),
        "diagonal_scatter": lambda op, x: op(x, -x[0], -1),
        "as_strided_scatter": lambda op, x: op(x, -x[0], (6,), (1,), 6),
        "masked_fill": lambda op, x: op(x, x > 9, 0.5),
        "masked_scatter": lambda op, x: op(x, x > 9, -x),
        "clone": lambda op, x: op(x),
        "sinh": lambda op, x: op(x / 10),
    }
    program = sized[name]
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(lambda x: program(f, x), backend=counter, dynamic=True, fullgraph=True)
    for rows in (7, 9, 12):
        x = torch.arange(1.0, 1.0 + rows * 6).reshape(rows, 6)
        torch.testing.assert_close(compiled(x), program(drop_in.upstream, x))
    assert counter.frame_count == 1


BATCHED = tuple(n for n in (*WRITES, *REWRITES) if n not in ("as_strided_scatter", "gaussian_nll_loss"))


@pytest.mark.parametrize(("name", "strategy"), cases(*BATCHED))
def test_vmap_inside_of_the_graph(name: str, strategy: str) -> None:
    """Mapped over a batch it does what a loop over upstream's op does."""
    drop_in = ops.spec(name)
    x, s = tensors(drop_in, torch.float32)
    batch = torch.stack([x, x + 1, x * 2])
    if s is None:
        mapped: Any = torch.vmap(lambda x: call(drop_in, build(drop_in, strategy))(x, None))
        want = torch.stack([call(drop_in, drop_in.upstream)(each, None) for each in batch])
        got = torch.compile(mapped, backend="aot_eager", fullgraph=True)(batch)
    else:
        sources = torch.stack([s, s - 1, s * 3])
        want = torch.stack([call(drop_in, drop_in.upstream)(*each) for each in zip(batch, sources, strict=True)])
        mapped = torch.vmap(call(drop_in, build(drop_in, strategy)))
        got = torch.compile(mapped, backend="aot_eager", fullgraph=True)(batch, sources)
    torch.testing.assert_close(got, want)


@pytest.mark.parametrize(("name", "strategy"), cases(*WRITES, *REWRITES))
def test_double_backward_through_compiled_code(name: str, strategy: str) -> None:
    """The penalty of a ``torch.func.grad`` is differentiated once more, all inside of the graph."""
    drop_in = ops.spec(name)

    def penalty(f: Callable[..., Any]) -> Callable[..., Any]:
        def inner(x: torch.Tensor) -> torch.Tensor:
            s = tensors(drop_in)[1]
            return (call(drop_in, f)(x * x, s) ** 2).sum()

        return torch.func.grad(lambda x: (torch.func.grad(inner)(x) ** 2).sum())

    x, _ = tensors(drop_in)
    x = x / x.abs().max()
    own = build(drop_in, strategy)
    if drop_in.notes.get(strategy, "").startswith("true gradient"):
        want = penalty(_region)(x)
    else:
        want = penalty(drop_in.upstream)(x)
    got = torch.compile(penalty(own), backend="aot_eager", fullgraph=True)(x)
    torch.testing.assert_close(got, want)


def _region(x: torch.Tensor, s: torch.Tensor, *_: Any) -> torch.Tensor:
    """The sample of as_strided_scatter put together: rows 1 and 2, columns 0 to 2."""
    return torch.cat([x[:1], torch.cat([s, x[1:3, 3:]], 1), x[3:]])


@pytest.mark.parametrize(("name", "strategy"), cases(*WRITES, *REWRITES[:-1]))
def test_meta_tensors(name: str, strategy: str) -> None:
    """Without data it gives upstream's shape and dtype."""
    drop_in = ops.spec(name)
    x, s = (None if t is None else t.to("meta") for t in tensors(drop_in))
    with torch.device("meta"):
        want = call(drop_in, drop_in.upstream)(x, s)
        got = call(drop_in, drop_in.strategies[strategy])(x, s)
    assert (got.shape, got.dtype, got.device.type) == (want.shape, want.dtype, "meta")


@pytest.mark.parametrize(("name", "strategy"), cases(*WRITES, *REWRITES, "linear"))
def test_autocast(name: str, strategy: str) -> None:
    """Under autocast values and dtypes are upstream's."""
    drop_in = ops.spec(name)
    x, s = tensors(drop_in, torch.float16 if name == "linear" else torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        want = call(drop_in, drop_in.upstream)(x, s)
        got = torch.compile(call(drop_in, build(drop_in, strategy)), backend="aot_eager", fullgraph=True)(x, s)
    assert got.dtype == want.dtype
    torch.testing.assert_close(got, want)


def test_linear_of_two_dtypes_under_autocast() -> None:
    """Autocast evens the dtypes out, so nothing is refused: 0.5 times 2 is 1, in bfloat16."""
    f = build(ops.spec("linear"), "checked-dtype")
    with torch.autocast("cpu", torch.bfloat16):
        x, weight = torch.full((1, 1), 0.5, dtype=torch.float16), torch.full((1, 1), 2.0)
        got = torch.compile(f, backend="aot_eager", fullgraph=True)(x, weight)
    assert (got.item(), got.dtype) == (1.0, torch.bfloat16)


@pytest.mark.parametrize("fullgraph", [True, False])
def test_misuse_raises_in_compiled_code(fullgraph: bool) -> None:
    """What upstream lets pass when compiled raises RuntimeError; a wrong dimension is an IndexError, as upstream's."""
    for name, strategy in (("smooth_l1_loss", "checked-beta"), ("linear", "checked-dtype")):
        sample, f = ops.spec(name).sample, build(ops.spec(name), strategy)
        assert sample.base is not None
        assert sample.edge is not None
        x = sample.base()
        args, kwargs = sample.edge(x)
        with pytest.raises(RuntimeError):
            torch.compile(lambda x, f=f, a=args, k=kwargs: f(x, *a, **k), backend="aot_eager", fullgraph=fullgraph)(x)
    for name, strategy in (("slice_scatter", s) for s in ("where", "cat", "assign", "index-put", "fused-clone")):
        f = build(ops.spec(name), strategy)
        with pytest.raises(IndexError):
            torch.compile(lambda x, f=f: f(x, x, 7), backend="aot_eager", fullgraph=fullgraph)(torch.ones(3, 3))


def test_variance_below_zero_is_refused_at_run_time() -> None:
    """The assertion of gaussian_nll_loss stays in the graph: same graph, other values, RuntimeError."""
    loss = torch.compile(build(ops.spec("gaussian_nll_loss"), "asserted"), backend="aot_eager", fullgraph=True)
    x, var = torch.zeros(3), torch.ones(3)
    assert torch.isfinite(loss(x, x, var))
    with pytest.raises(RuntimeError, match="negative"):
        loss(x, x, -var)


@pytest.mark.parametrize(("var", "full"), [((4, 5), False), ((4, 1), True), ((4,), True)])
def test_gaussian_nll_loss_by_hand(var: tuple[int, ...], full: bool) -> None:
    """Zero and infinite variances, those of one entry a row: values and gradients are upstream's."""
    drop_in = ops.spec("gaussian_nll_loss")
    given = torch.linspace(0.0, 2.0, torch.Size(var).numel(), dtype=torch.float64).reshape(var)
    given.view(-1)[-1] = torch.inf
    results = []
    for f in (drop_in.upstream, torch.compile(drop_in.strategies["asserted"], backend="aot_eager", fullgraph=True)):
        x, v = torch.ones(4, 5, dtype=torch.float64, requires_grad=True), given.clone().requires_grad_()
        loss = f(x, torch.zeros_like(x), v, full=full, reduction="none")
        loss[torch.isfinite(loss)].sum().backward()
        results.append((loss.detach(), x.grad, v.grad))
    torch.testing.assert_close(results[1], results[0], equal_nan=True)


@pytest.mark.parametrize("copy", [opaque_clone, fused_clone])
def test_derivatives_of_clones(copy: Callable[..., Any]) -> None:
    """By hand, of the sum of x**4 at 0 to 5: forward along x 4 * 979, twice backward through the squared gradient."""
    x = torch.arange(6.0).reshape(2, 3)

    def fourth(x: torch.Tensor) -> torch.Tensor:
        return (copy(x * x) ** 2).sum()

    def penalty(x: torch.Tensor) -> torch.Tensor:
        return (torch.func.grad(fourth)(x) ** 2).sum()

    def compiled(f: Callable[..., Any]) -> Callable[..., Any]:
        return torch.compile(f, backend="aot_eager", fullgraph=True)

    assert compiled(torch.func.grad(fourth))(x).sum() == 4 * (1 + 8 + 27 + 64 + 125)
    assert compiled(torch.func.grad(penalty))(x).sum() == 96 * (1 + 32 + 243 + 1024 + 3125)
    assert compiled(lambda x: torch.func.jvp(fourth, (x,), (x,))[1])(x) == 4 * (1 + 16 + 81 + 256 + 625)
    assert torch.equal(compiled(torch.vmap(torch.func.grad(fourth)))(x), 4 * x**3)


def test_numpys_names_are_accepted() -> None:
    """Built-in functions take ``axis`` for ``dim`` and ``x`` for ``input``; so do the drop-ins when compiled."""
    f = build(ops.spec("slice_scatter"), "where")
    x, s = torch.zeros(4, 4), torch.ones(4, 2)
    compiled = torch.compile(lambda x, s: f(x=x, src=s, axis=1, start=-2), backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(x, s), torch.slice_scatter(x, s, 1, 2))
