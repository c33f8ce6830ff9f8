"""What a drop-in op is: upstream's function, ways of doing the same safely, and how they are put to the test."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType, MappingProxyType
from typing import Any

import torch

from compilefix.ops.clones import fused_clone, opaque_clone
from compilefix.ops.dtypes import castable

Op = Callable[..., Any]
PLAIN = "plain"
"""The strategy that is upstream's own function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Arguments on which the hostile patterns call an op whose first argument is a tensor."""

    arguments: Callable[[torch.Tensor | None], tuple[tuple[Any, ...], dict[str, Any]]]
    """Source tensor (the first argument where the op takes none) to the other arguments, by position and keyword."""

    source: Callable[[torch.Tensor], torch.Tensor] | None = None
    """
    View of a base tensor that has the shape of a source; None for an op that takes no source.

    It overlaps with what the op writes at `arguments`, so that an op done in place reads what it has overwritten.
    """

    base: Callable[[], torch.Tensor] | None = None
    """First argument; default: floats of shape (6, 6)."""

    edge: Callable[[torch.Tensor | None], tuple[tuple[Any, ...], dict[str, Any]]] | None = None
    """Like `arguments`, where a record shows that no pattern shows; upstream's outcome, maybe an error, is right."""

    patterns: tuple[str, ...] = ()
    """Names of the patterns that make sense; empty: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropIn:
    """One op that can be imported in the place of upstream's."""

    name: str
    """Name in `compilefix.ops`; in-place forms end in ``_``."""

    upstream: Op
    documented: Op
    """Carries signature and docstring for people; never called."""

    strategies: Mapping[str, Op]
    """Ways of doing it, the cheapest first; `PLAIN` is added in front."""

    records: tuple[str, ...]
    """Ids of the issues that this op avoids. It is on where one of them may affect the running torch."""

    sample: Sample
    also: tuple[Op, ...] = ()
    """Other functions by which torch calls upstream's, such as an operator's method."""

    notes: Mapping[str, str] = field(default_factory=dict)
    """Strategy to what the reader must know of it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "strategies", MappingProxyType({PLAIN: self.upstream, **self.strategies}))


def build(drop_in: DropIn, strategy: str) -> Op:
    """
    Return the function to import for `strategy`; for `PLAIN` it is upstream's own.

    Outside of compiled code it calls upstream. Which one is meant is folded by Dynamo: no guard, no graph break.
    """
    if strategy == PLAIN:
        return drop_in.upstream
    upstream, rewritten = drop_in.upstream, drop_in.strategies[strategy]
    builtin = not isinstance(upstream, FunctionType)

    @functools.wraps(drop_in.documented)
    def op(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return rewritten(*args, **(numpy_names(kwargs) if builtin else kwargs))
        return upstream(*args, **kwargs)

    op.__name__ = op.__qualname__ = drop_in.name
    op.strategy = strategy  # type: ignore[attr-defined]
    op.strategies = tuple(drop_in.strategies)  # type: ignore[attr-defined]
    return op


def numpy_names(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return keyword arguments by torch's names where they have NumPy's, which all built-in functions accept."""
    if "axis" in kwargs:
        kwargs = {"dim": kwargs["axis"], **{k: v for k, v in kwargs.items() if k != "axis"}}
    for name in ("x", "a", "x1"):
        if name in kwargs:
            kwargs = {"input": kwargs[name], **{k: v for k, v in kwargs.items() if k != name}}
    return kwargs


def protect(upstream: Op, copy: Callable[[torch.Tensor], torch.Tensor], *, sources: bool = False) -> Op:
    """
    Return `upstream` working on a copy of its first argument.

    With `sources`, other tensors of the same dtype are copied as well: they may be views of the first.
    """

    def protected(*args: Any, **kwargs: Any) -> Any:
        base: torch.Tensor
        rest: tuple[Any, ...]
        base, *others = args or (kwargs.pop("input"),)
        rest = tuple(others)
        if sources:
            rest = tuple(copy(a) if _alike(a, base) else a for a in rest)
            kwargs = {k: copy(v) if _alike(v, base) else v for k, v in kwargs.items()}
        return upstream(copy(base), *rest, **kwargs)

    return protected


def _alike(value: Any, base: torch.Tensor) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype == base.dtype


def island(upstream: Op) -> Op:
    """Return `upstream` outside of the graph: it breaks the graph and is refused under ``fullgraph=True``."""

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def apart(*args: Any, **kwargs: Any) -> Any:
        return upstream(*args, **kwargs)

    return apart  # type: ignore[no-any-return]


def functional_strategies(upstream: Op, order: Sequence[str] = (), **own: Op) -> dict[str, Op]:
    """
    Return the strategies that any functional write can take, with an op's `own` among them.

    `order` names strategies from the cheapest on; those that it leaves out follow: the clones, then `own` as given,
    then the opaque clone and the island, which are always last. An own ``clone``, ``fused_clone`` or ``opaque_clone``
    replaces the general one. Raises `ValueError` where `order` names a strategy that does not exist.
    """
    general = {"clone": protect(upstream, torch.clone), "fused-clone": protect(upstream, fused_clone)}
    last = {"opaque-clone": protect(upstream, opaque_clone, sources=True), "disable": island(upstream)}
    given = {name.replace("_", "-"): op for name, op in own.items()}
    found = {**general, **given, **{name: given.get(name, op) for name, op in last.items()}}
    if unknown := [name for name in order if name not in found]:
        raise ValueError(f"no strategy {', '.join(unknown)}; there are {', '.join(found)}")
    first = [name for name in order if name not in last]
    middle = [name for name in found if name not in first and name not in last]
    return {name: found[name] for name in (*first, *middle, *last)}


def in_place_strategies(functional: Mapping[str, Op], upstream: Op, *, saved: bool = False) -> dict[str, Op]:
    """
    Return the in-place twins of functional strategies: computed aside, then copied into the first argument.

    Where the result does not fit into that, `upstream` is left to say so. With `saved`, the backward needs the values
    that were there before.
    """

    def twin(strategy: Op) -> Op:
        def in_place(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
            result = strategy(self.clone() if saved else self, *args, **kwargs)
            if result.shape != self.shape or not castable(result.dtype, self.dtype):
                return upstream(self, *args, **kwargs)  # type: ignore[no-any-return]
            return self.copy_(result)

        return in_place

    own = {name: twin(op) for name, op in functional.items() if name not in (PLAIN, "disable")}
    return {**own, "disable": island(upstream)}
