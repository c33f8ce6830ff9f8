"""CUDA's Python surface, stubbed while Inductor compiles and as it was before afterwards."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
import torch._dynamo.device_interface as device_interface
import torch._inductor.runtime.triton_helpers as triton_helpers
import torch._subclasses.fake_tensor as fake_tensor
import torch.cuda
import torch.utils._triton as triton_questions

from compilefix.cuda_interpreted.gpus import Gpu

CUDA = torch.device("cuda", 0)

_copy = torch.Tensor.copy_
_getitem = torch.Tensor.__getitem__


def _copy_without_guard(self: Any, source: Any, non_blocking: bool = False) -> Any:
    """``Tensor.copy_`` that asks no device guard, which a build without CUDA does not have."""
    if self.device.type == "cuda":
        return torch.ops.aten.copy_.default(self, source, non_blocking)
    return _copy(self, source, non_blocking)


def _getitem_without_guard(self: Any, index: Any) -> Any:
    """``Tensor.__getitem__`` that asks no device guard for a plain position."""
    if type(index) is int and self.device.type == "cuda":
        return torch.ops.aten.select.int(self, 0, index)
    return _getitem(self, index)


def _zero(*_: object) -> int:
    return 0


def _nothing(*_: object, **__: object) -> None:
    return None


def _yes(*_: object, **__: object) -> bool:
    return True


def torch_cuda(gpu: Gpu) -> dict[str, Callable[..., Any]]:
    """Return the functions of ``torch.cuda`` that compiling may call, as `gpu` answers them."""
    return {
        "is_available": _yes,
        "is_initialized": _yes,
        "is_bf16_supported": _yes,
        "is_current_stream_capturing": lambda: False,
        "device_count": lambda: 1,
        "current_device": _zero,
        "get_device_properties": lambda device=None: gpu,
        "get_device_capability": lambda device=None: gpu.capability,
        "get_device_name": lambda device=None: gpu.name,
        "set_device": _nothing,
        "synchronize": _nothing,
        "_lazy_init": _nothing,
        "_exchange_device": _zero,
        "_maybe_exchange_device": _zero,
        "get_rng_state": lambda device=None: torch.zeros(16, dtype=torch.uint8),
        "set_rng_state": _nothing,
        "mem_get_info": lambda device=None: (gpu.total_memory, gpu.total_memory),
        "memory_allocated": _zero,
        "max_memory_allocated": _zero,
        "reset_peak_memory_stats": _nothing,
    }


def interface(gpu: Gpu) -> type[Any]:
    """Return Dynamo's device interface of a machine with one `gpu`."""
    major, minor = gpu.capability

    class Worker(device_interface.CudaInterface.Worker):
        set_device = staticmethod(_nothing)
        current_device = staticmethod(_zero)
        get_device_properties = staticmethod(lambda device=None: gpu)

    answers: dict[str, Callable[..., Any]] = {
        **{n: f for n, f in torch_cuda(gpu).items() if hasattr(device_interface.CudaInterface, n)},
        "exchange_device": _zero,
        "maybe_exchange_device": _zero,
        "get_raw_stream": _zero,
        "get_compute_capability": lambda device=None: 10 * major + minor,
        "is_triton_capable": _yes,
        "raise_if_triton_unavailable": _nothing,
    }
    members = {name: staticmethod(answer) for name, answer in answers.items()}
    return type("InterpretedInterface", (device_interface.CudaInterface,), members | {"Worker": Worker})


def _forget_answers() -> None:
    """Empty the caches of torch's questions about Triton: their answers differ inside and outside."""
    for question in vars(triton_questions).values():
        if (clear := getattr(question, "cache_clear", None)) is not None:
            clear()


@contextlib.contextmanager
def presented(gpu: Gpu) -> Iterator[None]:
    """
    Present a machine with one `gpu` to whatever asks ``torch.cuda`` inside the block.

    Outside, everything is as it was: no function of ``torch.cuda`` stays replaced, no answer stays cached.
    """
    device_interface.init_device_reg()
    stubs = interface(gpu)
    with contextlib.ExitStack() as stack:

        def patch(owner: Any, name: str, value: Any, *, create: bool = False) -> None:
            stack.enter_context(mock.patch.object(owner, name, value, create=create))

        for name, stub in torch_cuda(gpu).items():
            if hasattr(torch.cuda, name):
                patch(torch.cuda, name, stub)
        patch(triton_helpers, "set_driver_to_gpu", _nothing, create=True)
        patch(torch.Tensor, "copy_", _copy_without_guard)
        patch(torch.Tensor, "__getitem__", _getitem_without_guard)
        patch(fake_tensor, "init_gpu_context", _nothing, create=True)
        if torch.version.cuda is None:
            patch(torch.version, "cuda", "12.8")
        before = dict(device_interface.device_interfaces)
        for key in ("cuda", "cuda:0"):
            device_interface.device_interfaces[key] = stubs
        _forget_answers()
        try:
            yield
        finally:
            device_interface.device_interfaces.clear()
            device_interface.device_interfaces.update(before)
            _forget_answers()
