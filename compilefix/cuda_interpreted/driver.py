"""What Triton asks of its GPU driver, answered without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from compilefix.cuda_interpreted.gpus import Gpu


def driver_of(gpu: Gpu) -> Any:
    """Return a driver whose one device is `gpu`; tensors that it hands out lie on the CPU, and it times nothing."""

    class InterpretedDriver(DriverBase):  # type: ignore[misc]
        def __init__(self) -> None:
            self.get_current_stream = lambda device=0: 0

        @classmethod
        def is_active(cls) -> bool:
            return True

        def get_current_target(self) -> Any:
            return GPUTarget("cuda", 10 * gpu.major + gpu.minor, gpu.warp_size)

        def get_active_torch_device(self) -> torch.device:
            return torch.device("cpu")

        def get_current_device(self) -> int:
            return 0

        def set_current_device(self, device: int) -> None:
            pass

        def map_python_to_cpp_type(self, ty: str) -> str:
            return ty

        def get_device_interface(self) -> Any:
            return torch.cpu

        def get_empty_cache_for_benchmark(self) -> torch.Tensor:
            return torch.empty(1)

        def clear_cache(self, cache: torch.Tensor) -> None:
            pass

        def get_benchmarker(self) -> Callable[..., list[float]]:
            return lambda function, *, quantiles=None, **_: [0.0] * len(quantiles or [1])

    return InterpretedDriver()
