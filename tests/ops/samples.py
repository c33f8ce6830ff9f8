"""Torch's own samples for the drop-in ops, and how a strategy is held against torch's op on one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pytest
import torch
from torch.utils._pytree import tree_flatten, tree_map

from compilefix.ops.drop_in import PLAIN, DropIn

# Importing them would forbid this process to set torch.backends' flags, for all other tests as well.
with mock.patch.object(torch.backends, "disable_global_flags"):
    invocations = pytest.importorskip(
        "torch.testing._internal.common_methods_invocations", reason="this torch comes without its OpInfo samples"
    )
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.bool, torch.complex64)
Function = Callable[..., Any]


def infos(drop_in: DropIn) -> list[Any]:
    """Return torch's descriptions of one op; in-place forms share those of the functional one."""
    name = drop_in.name.removesuffix("_")
    return [info for info in invocations.op_db if info.name.rpartition(".")[2] == name]


def own_strategies(drop_in: DropIn) -> dict[str, Function]:
    """Return the strategies that are ours and can be held against upstream outside of the compiler."""
    return {n: f for n, f in drop_in.strategies.items() if n not in (PLAIN, "disable")}


def calls(info: Any, dtype: torch.dtype, **options: Any) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Yield the arguments of torch's samples, in float32 also with gaps between the elements in memory."""
    for sample in info.sample_inputs("cpu", dtype, **options):
        yield (sample.input, *sample.args), sample.kwargs
        if dtype == torch.float32 and not options:
            apart = sample.noncontiguous()
            yield (apart.input, *apart.args), apart.kwargs


def attempt(f: Function, drop_in: DropIn, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of a call with a seed of its own, or what it raised; in-place forms get a clone."""
    if drop_in.name.endswith("_"):
        args = (args[0].clone(), *args[1:])
    if "out" in kwargs:
        kwargs = kwargs | {"out": tree_map(lambda t: t.clone() if isinstance(t, torch.Tensor) else t, kwargs["out"])}
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*args, **kwargs)
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError) as error:
            return error


def same(got: Any, want: Any) -> None:
    """Assert that two results, or two errors, are the same: values, dtypes and shapes, or the error's class."""
    if isinstance(want, Exception) or isinstance(got, Exception):
        assert type(got) is type(want), f"{got!r} is not {want!r}"
        return
    torch.testing.assert_close(got, want, equal_nan=True)


def derivatives(f: Function, drop_in: DropIn, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
    """Return first and second derivatives by all leaves; None where the call or its derivative does not exist."""
    leaves = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor) and x.requires_grad]
    result = attempt(f, drop_in, args, kwargs)
    outputs = [x for x in tree_flatten(result)[0] if isinstance(x, torch.Tensor) and x.requires_grad]
    if not leaves or not outputs:
        return None
    weighted = sum((x * torch.linspace(1.0, 2.0, x.numel(), dtype=x.dtype).reshape(x.shape)).sum() for x in outputs)
    first = torch.autograd.grad(weighted, leaves, create_graph=True, allow_unused=True)
    again = [x for x in first if x is not None and x.requires_grad]
    if not again:
        return [*first]
    second = torch.autograd.grad(sum((x * x).sum() for x in again), leaves, allow_unused=True)
    return [*first, *second]
