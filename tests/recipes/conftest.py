"""Compile in this process: one graph or an error, no graph cache, so that every pass really runs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch


@pytest.fixture
def compiled() -> Iterator[Callable[[Any], Any]]:
    """Return the function that compiles for the CPU with Inductor, nothing but one graph allowed."""
    import torch._functorch.config
    import torch._inductor.config

    torch._dynamo.reset()
    inductor = torch._inductor.config.patch(fx_graph_cache=False)
    with inductor, torch._functorch.config.patch(enable_autograd_cache=False):
        yield lambda function, **options: torch.compile(function, fullgraph=True, **options)
    torch._dynamo.reset()


@pytest.fixture
def holds(compiled: Callable[[Any], Any]) -> Callable[..., None]:
    """
    Hold a recipe, plain and compiled, against a naive loop: results, and gradients of all that require them.

    Every call has copies of the inputs of its own.
    """

    def check(recipe: Callable[..., torch.Tensor], naive: Callable[..., torch.Tensor], *inputs: Any) -> None:
        want, wanted = run(naive, inputs)
        for function in (recipe, compiled(recipe)):
            got, grads = run(function, inputs)
            torch.testing.assert_close(got, want, equal_nan=True)
            torch.testing.assert_close(grads, wanted, equal_nan=True)

    return check


def run(function: Callable[..., Any], inputs: tuple[Any, ...]) -> tuple[torch.Tensor, list[Any]]:
    """Return the result of `function` on copies of `inputs`, and the gradients of those that require one."""
    own = copy.deepcopy(inputs)
    result = function(*own)
    flat = [x for value in own for x in (value if isinstance(value, list) else [value]) if isinstance(x, torch.Tensor)]
    leaves = [x for x in flat if x.requires_grad]
    if leaves:
        (result * torch.arange(1.0, result.numel() + 1).reshape(result.shape)).sum().backward()
    return result.detach(), [x.grad for x in leaves]
