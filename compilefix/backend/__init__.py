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

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast, overload

import torch

from compilefix.backend.checked import CheckedGraph, GraphReport, MismatchError, MismatchWarning
from compilefix.backend.options import GuardOptions, split

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
    checked = CheckedGraph(_plain(graph), guard)
    _GRAPHS.append(checked)
    checked.compile(lambda: _inductor(graph, example_inputs, settings))
    return checked


def _plain(graph: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """Return `graph` as it is now, with the same parameters: Inductor rewrites what it is given."""
    return torch.fx.GraphModule(graph, copy.deepcopy(graph.graph))


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
    guard, settings = split(options, arguments.get("mode"))  # a mistake is said here, not at the first call
    del guard, settings
    if function is None:
        return lambda decorated: guarded(decorated, **options, **arguments)
    mode = arguments.pop("mode", None)

    def backend(graph: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        return compilefix(graph, example_inputs, options=options, mode=mode)

    return torch.compile(function, backend=backend, **arguments)


def reports() -> tuple[GraphReport, ...]:
    """Return how every graph of this process stands, in the order in which they were compiled."""
    return tuple(graph.report for graph in _GRAPHS)
