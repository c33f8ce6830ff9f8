"""Inductor for CUDA without one: ``torch.compile(…, backend="inductor")`` of this process compiles for a named GPU."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any
from unittest import mock

import torch
import torch._inductor.config as inductor_config
import torch._inductor.graph as inductor_graph
from torch._inductor import compile_fx
from triton.runtime.driver import driver

from compilefix.cuda_interpreted import (
    arithmetic,
    blocks,
    graphs,
    language,
    launch,
    memory,
    padding,
    reductions,
    user_kernels,
)
from compilefix.cuda_interpreted.driver import driver_of
from compilefix.cuda_interpreted.gpus import Gpu
from compilefix.cuda_interpreted.problems import InterpreterLimitError
from compilefix.cuda_interpreted.surface import presented
from compilefix.cuda_interpreted.wrapper import moved_back

SKIPPED = {
    "max_autotune": False,
    "max_autotune_pointwise": False,
    "max_autotune_gemm": False,
    "coordinate_descent_tuning": False,
    "benchmark_kernel": False,
    "triton.cudagraphs": False,
    "triton.multi_kernel": 0,
    "triton.autotune_at_compile_time": False,
    "compile_threads": 1,
}
"""Settings that are not followed: nothing is timed here, and no CUDA graph is recorded."""

NOT_FOLLOWED: set[str] = set()
"""Settings of `SKIPPED` that a program of this process asked for."""

WRAPPERS: list[str] = []
"""Text of every wrapper of this process, moved back to the CPU."""

_NO_DEVICE = (
    "Torch not compiled with CUDA",
    "NVIDIA driver",
    "CUDA driver",
    "not linked with support for cuda",
    "arguments from the 'CUDA' backend",
)


def install(gpu: Gpu) -> None:
    """
    Make this process compile for `gpu` and interpret the kernels. It cannot be undone.

    ``TRITON_INTERPRET=1`` must have been set before Triton was imported.
    """
    for module in (arithmetic, reductions, language, launch, memory, blocks, padding, user_kernels):
        module.install()
    driver.set_active(driver_of(gpu))
    whole = compile_fx.compile_fx
    inner = compile_fx.compile_fx_inner

    @functools.wraps(whole)
    def for_cuda(model: Any, inputs: Any, inner_compile: Any = inner, **kwargs: Any) -> Any:
        if inner_compile is inner:
            inner_compile = functools.partial(compile_inner, gpu, inner)
        return whole(model, inputs, inner_compile=inner_compile, **kwargs)

    setattr(compile_fx, "compile_fx", for_cuda)  # noqa: B010  (its declared type is narrower)


def compile_inner(gpu: Gpu, inner: Any, gm: torch.fx.GraphModule, inputs: Sequence[Any], **kwargs: Any) -> Any:
    """Compile the graph `gm` of CPU tensors for `gpu`; what comes back runs on CPU tensors."""
    if inductor_config.cpp_wrapper or kwargs.get("cpp_wrapper"):
        raise InterpreterLimitError("the setting cpp_wrapper")
    if "cudagraphs" in kwargs:
        kwargs["cudagraphs"] = type(kwargs["cudagraphs"])(False)
    settings = {name: value for name, value in SKIPPED.items() if _has(name)}
    NOT_FOLLOWED.update(name for name, value in settings.items() if not value and _value(name))
    with (
        presented(gpu),
        graphs.constants_on_cuda(),
        inductor_config.patch(settings),
        mock.patch.object(inductor_graph.GraphLowering, "codegen", _codegen(inductor_graph.GraphLowering.codegen)),
    ):
        try:
            return inner(gm, graphs.move(gm, inputs), **kwargs)
        except Exception as error:
            if any(words in str(error) for words in _NO_DEVICE):
                raise InterpreterLimitError(
                    f"compiling asks the device itself: {str(error).splitlines()[0]}"
                ) from error
            raise


def _value(name: str) -> Any:
    return functools.reduce(getattr, name.split("."), inductor_config)


def _has(name: str) -> bool:
    owner: Any = inductor_config
    for part in name.split("."):
        if not hasattr(owner, part):
            return False
        owner = getattr(owner, part)
    return True


def _codegen(codegen: Any) -> Any:
    def generate(self: Any) -> Any:
        result = codegen(self)
        wrapper, *rest = result
        moved = moved_back(wrapper if isinstance(wrapper, str) else wrapper.value)
        WRAPPERS.append(moved)
        if isinstance(wrapper, str):
            return (moved, *rest)
        wrapper.value = moved
        return result

    return generate
