"""
``torch.compile(model, backend="compilefix")``: Inductor, with every graph held against plain eager while it runs.

Each graph that Dynamo hands over is compiled by Inductor and, on its first calls and then now and again, run beside the
plain graph on copies of the real inputs, forward and backward. A graph that differs is kept with its inputs, said once,
and runs plainly from then on.

Seen is what one graph computes: values, masks, shapes, mutation, aliasing, gradients, exceptions. Not seen is what
Dynamo itself gets wrong (a stale guard, a lost side effect), which `compilefix diagnose` looks for, and the values of
graphs that draw random numbers, whose streams differ by design.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast, overload

import torch

from compilefix.backend.checked import CheckedGraph, GraphReport, MismatchError, MismatchWarning
from compilefix.backend.options import GuardOptions, split
from compilefix.oracle.twins import twin_of

__all__ = ["GraphReport", "GuardOptions", "MismatchError", "MismatchWarning", "compilefix", "guarded", "reports"]

F = TypeVar("F", bound=Callable[..., Any])

_GRAPHS: list[CheckedGraph] = []


def compilefix(
    graph: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
    **_: Any,
) -> Callable[..., Any]:
    """
    Compile one graph of Dynamo's; the backend that ``torch.compile(backend="compilefix")`` finds by entry point.

    Args:
        graph: what Dynamo captured.
        example_inputs: fake tensors and symbols, one a placeholder.
        options: fields of `GuardOptions`; every other name is a setting of Inductor's.
        mode: a mode of Inductor's, such as ``max-autotune``.

    Raises:
        UsageError: an option has a value that it cannot have.

    """
    guard, settings = split(options or {}, mode)
    return _checked(graph, example_inputs, guard, settings)


def _checked(
    graph: torch.fx.GraphModule, example_inputs: Sequence[Any], guard: GuardOptions, settings: dict[str, Any]
) -> CheckedGraph:
    checked = CheckedGraph(twin_of(graph), guard)
    _GRAPHS.append(checked)
    checked.compile(lambda: _inductor(graph, example_inputs, settings))
    return checked


def _inductor(
    graph: torch.fx.GraphModule, example_inputs: Sequence[Any], settings: dict[str, Any]
) -> Callable[..., Any]:
    from torch._inductor.compile_fx import compile_fx

    return cast("Callable[..., Any]", compile_fx(graph, list(example_inputs), config_patches=settings or None))


@overload
def guarded(function: F, /, **options: Any) -> F: ...


@overload
def guarded(**options: Any) -> Callable[[F], F]: ...


def guarded(function: Any = None, /, **options: Any) -> Any:
    """
    Compile `function` (or a module) with this backend; also a decorator, with or without options.

    `options` are those of `GuardOptions` and settings of Inductor's; ``dynamic`` and ``fullgraph`` go to
    `torch.compile`. Raises `UsageError` for an option with a value that it cannot have.
    """
    arguments = {name: options.pop(name) for name in ("dynamic", "fullgraph", "mode") if name in options}
    guard, settings = split(options, arguments.pop("mode", None))  # a mistake is said here, not at the first call

    def backend(graph: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        return _checked(graph, example_inputs, guard, settings)

    compile = partial(torch.compile, backend=backend, **arguments)
    return compile if function is None else compile(function)


def reports() -> tuple[GraphReport, ...]:
    """Return how every graph of this process stands, in the order in which they were compiled."""
    return tuple(graph.report for graph in _GRAPHS)
