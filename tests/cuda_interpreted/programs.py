"""Run a program compiled for CUDA and hold it against plain eager."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch

from compilefix.cuda_interpreted import memory


def twice(function: Callable[..., Any], *inputs: Any, **compile: Any) -> tuple[Any, Any]:
    """Return what the plain `function` gives for copies of `inputs`, and what the compiled one gives."""
    torch._dynamo.reset()
    memory.reset()
    plain, compiled = copy.deepcopy(inputs), copy.deepcopy(inputs)
    want = function(*plain), plain
    return want, (torch.compile(function, **compile)(*compiled), compiled)


def agrees(function: Callable[..., Any], *inputs: Any, kernels: int = 1, **compile: Any) -> None:
    """Assert that results and inputs come out as in plain eager, that kernels ran, and that none broke a rule."""
    want, got = twice(function, *inputs, **compile)
    torch.testing.assert_close(got, want, equal_nan=True)
    assert memory.WATCH.kernels >= kernels
    assert [str(f) for f in memory.findings() if not f.note] == []
