"""
Hostile patterns: small programs around one op in which Inductor is known to put a write in the wrong place.

Each takes the op `f`, called as ``f(base)`` or ``f(base, source)``, a base tensor and a source tensor (None where the
op takes none). Their reference is the same program with upstream's op, outside of the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from compilefix import ops
from compilefix.ops.drop_in import DropIn, build

Tensor = torch.Tensor
Op = Callable[..., Tensor]
Pattern = Callable[..., Any]
FILL = -5


@torch.library.custom_op("compilefix::negate_", mutates_args=("x",))
def negate_(x: torch.Tensor) -> None:
    """Negate `x` in place, unseen by the compiler."""
    x.neg_()


@torch.library.custom_op("compilefix::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    """Return twice `x`, unseen by the compiler."""
    return x * 2


@doubled.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def result(f: Op, x: Tensor, s: Any) -> Any:
    """Nothing happens afterwards."""
    return f(x, s)


def overwritten(f: Op, x: Tensor, s: Any) -> Any:
    """The input is filled after the result was taken."""
    out = f(x, s)
    x.fill_(FILL)
    return out


def copied_back(f: Op, x: Tensor, s: Any) -> Any:
    """The result is copied into the input, and returned."""
    out = f(x, s)
    x.copy_(out)
    return out


def copied_back_cloned(f: Op, x: Tensor, s: Any) -> Any:
    """As `copied_back`, returned as a clone."""
    out = f(x, s)
    x.copy_(out)
    return out.clone()


def shifted(f: Op, x: Tensor, s: Any, source: Callable[[Tensor], Tensor]) -> Any:
    """The source is an overlapping view of the input, the result copied back."""
    out = f(x, source(x))
    x.copy_(out)
    return out + 0


def shifted_cloned(f: Op, x: Tensor, s: Any, source: Callable[[Tensor], Tensor]) -> Any:
    """Twice in turn, with a clone of the view."""
    x.copy_(f(x, source(x).clone()))
    x.mul_(2)
    x.copy_(f(x, source(x).clone()))


def intermediate(f: Op, x: Tensor, s: Any) -> Any:
    """The input is an intermediate that is changed later and returned as well."""
    y = x + 1
    out = f(y, s)
    y.mul_(2)
    return y, out


def beside_output(f: Op, x: Tensor, s: Any) -> Any:
    """Input and result are both outputs."""
    y = x + 1
    return y, f(y, s)


def custom_operand(f: Op, x: Tensor, s: Any) -> Any:
    """A custom op changes the input afterwards."""
    out = f(x, s)
    negate_(x)
    return out


def custom_result(f: Op, x: Tensor, s: Any) -> Any:
    """A custom op changes the result."""
    out = f(x, s)
    negate_(out)
    return out


def custom_clone(f: Op, x: Tensor, s: Any) -> Any:
    """A custom op reads a clone of what is then emptied."""
    x.copy_(f(x, s))
    out = doubled(x.clone())
    x.zero_()
    return out


def expanded(f: Op, x: Tensor, s: Any) -> Any:
    """The base is expanded."""
    out = f(x[:1].expand(x.shape), s)
    x.fill_(FILL)
    return out


def transposed(f: Op, x: Tensor, s: Any) -> Any:
    """The base is transposed."""
    out = f(x.t(), s)
    x.fill_(FILL)
    return out


def dtype_viewed(f: Op, x: Tensor, s: Any) -> Any:
    """The base is seen as integers."""
    out = f(x.view(torch.int32), None if s is None else s.view(torch.int32))
    x.fill_(FILL)
    return out


def loop_kept(f: Op, x: Tensor, s: Any) -> Any:
    """Every step of a loop is kept, the input goes on."""
    kept = []
    for step in range(3):
        out = f(x, None if s is None else s + step)
        kept.append(out)
        x.copy_(out * 2)
    return kept


def loop_carried(f: Op, x: Tensor, s: Any) -> Any:
    """The input is updated in a loop."""
    for step in range(3):
        x.copy_(f(x, None if s is None else s + step))
    return x.sum(0)


def written_before(f: Op, x: Tensor, s: Any) -> Any:
    """The input is written before and after."""
    x.index_fill_(0, torch.tensor([1], device=x.device), 7)
    out = f(x, s)
    x.fill_(FILL)
    return out


def source_overwritten(f: Op, x: Tensor, s: Any) -> Any:
    """The source is filled afterwards."""
    out = f(x, s)
    s.fill_(FILL)
    return out


def twice(f: Op, x: Tensor, s: Any) -> Any:
    """Two results of two states of one input."""
    first = f(x, s)
    x.fill_(FILL)
    second = f(x, s)
    x.copy_(second + 1)
    return first, second


def gradient(f: Op, x: Tensor, s: Any) -> Any:
    """Backward through input and source."""
    out = f(x * 2, None if s is None else s * 3)
    return out * out


def gradient_overwritten(f: Op, x: Tensor, s: Any) -> Any:
    """Backward, the input changed afterwards."""
    h = x * 2
    out = f(h, None if s is None else s * 3)
    h.mul_(2)
    return out, h


def at_edge(f: Op, x: Tensor, s: Any) -> Any:
    """Arguments at the edge of what upstream takes: compiled code must give, or refuse, what plain code does."""
    return f(x, s)


FUNCTIONAL: tuple[Pattern, ...] = (
    *(overwritten, copied_back, shifted, expanded, at_edge, result, copied_back_cloned, shifted_cloned, intermediate),
    *(beside_output, custom_operand, custom_result, custom_clone, transposed, dtype_viewed, loop_kept, loop_carried),
    *(written_before, source_overwritten, twice, gradient, gradient_overwritten),
)
"""Those that find most come first: a strategy that fails them is not put to the others."""

FIRST = 4
"""How many patterns are the sieve."""


def on_input(f: Op, x: Tensor, s: Any) -> Any:
    """Write into the input."""
    f(x, s)
    return x.sum(0)


def on_clone(f: Op, x: Tensor, s: Any) -> Any:
    """Write into a clone, the input is filled afterwards."""
    y = x.clone()
    f(y, s)
    x.fill_(FILL)
    return y


def on_transposed(f: Op, x: Tensor, s: Any) -> Any:
    """Write through a transposed view."""
    f(x.t(), s)
    return x + 0


def on_dtype_view(f: Op, x: Tensor, s: Any) -> Any:
    """Write through a view of another dtype."""
    f(x.view(torch.int32), None if s is None else s.view(torch.int32))
    return x.sum(0)


def on_shifted(f: Op, x: Tensor, s: Any, source: Callable[[Tensor], Tensor]) -> Any:
    """The source is a clone of a view of what is written."""
    f(x, source(x).clone())
    return x + 0


def then_flipped(f: Op, x: Tensor, s: Any) -> Any:
    """What was written is read in reverse and added."""
    f(x, s)
    x.add_(x.flip(0))


def then_custom(f: Op, x: Tensor, s: Any) -> Any:
    """A custom op reads a clone of what was written, which is then emptied."""
    f(x, s)
    out = doubled(x.clone())
    x.zero_()
    return out


def in_loop(f: Op, x: Tensor, s: Any) -> Any:
    """Write in a loop."""
    for step in range(3):
        f(x, None if s is None else s + step)
        x.mul_(2)
    return x.sum(0)


def on_intermediate_gradient(f: Op, x: Tensor, s: Any) -> Any:
    """Backward through a write into an intermediate."""
    h = x * 2
    f(h, None if s is None else s * 3)
    return h * h


IN_PLACE: tuple[Pattern, ...] = (
    *(on_clone, then_flipped, on_input, then_custom, at_edge, on_transposed, on_dtype_view, on_shifted, in_loop),
    on_intermediate_gradient,
)
_WITH_SOURCE = (shifted, shifted_cloned, on_shifted)
_GRADIENT = (gradient, gradient_overwritten, on_intermediate_gradient)
_VIEWED = (expanded, transposed, dtype_viewed, on_transposed, on_dtype_view)


def patterns(drop_in: DropIn) -> tuple[str, ...]:
    """Return the names of the patterns that make sense for one op."""
    sample = drop_in.sample
    chosen = IN_PLACE if drop_in.name.endswith("_") else FUNCTIONAL
    names = [p.__name__ for p in chosen if sample.source is not None or p not in (*_WITH_SOURCE, source_overwritten)]
    if sample.base is not None:
        names = [n for n in names if n not in {p.__name__ for p in _VIEWED}]
    if sample.edge is None:
        names.remove(at_edge.__name__)
    return tuple(n for n in names if not sample.patterns or n in (*sample.patterns, at_edge.__name__))


def case(name: str, strategy: str, pattern: str) -> tuple[Callable[[str], tuple[Any, ...]], Callable[..., Any]]:
    """Return the ``inputs`` and ``program`` of one repro: an op with one strategy in one pattern."""
    drop_in = ops.spec(name)
    sample, op = drop_in.sample, build(drop_in, strategy)
    body = next(p for p in (*FUNCTIONAL, *IN_PLACE) if p.__name__ == pattern)
    differentiable, edge = body in _GRADIENT, sample.edge

    def inputs(device: str) -> tuple[Any, ...]:
        base = sample.base() if sample.base is not None else torch.arange(1.0, 37.0).reshape(6, 6)
        source = None if sample.source is None else -sample.source(base).clone()
        tensors = [t if t is None else t.to(device) for t in (base, source)]
        if differentiable:
            tensors = [t.requires_grad_() if t is not None and t.is_floating_point() else t for t in tensors]
        return tuple(tensors)

    def f(x: Tensor, s: Any) -> Tensor:
        args, kwargs = (edge if body is at_edge and edge is not None else sample.arguments)(x if s is None else s)
        out: Tensor = op(x, *args, **kwargs)
        return out

    def program(x: Tensor, s: Any) -> Any:
        if body in _WITH_SOURCE:
            return body(f, x, s, sample.source)
        return body(f, x, s)

    return inputs, program
