"""Seed every random number generator, and put all of them back afterwards."""

from __future__ import annotations

import importlib.util
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import torch

LARGEST_SEED = 2**32 - 1
"""NumPy takes no greater one."""

CUBLAS = "CUBLAS_WORKSPACE_CONFIG"
STARTED_LATE = ("cuda", "xpu")
"""Devices that start when first used: torch keeps a seed for them until then, and they have no state before."""


@dataclass(frozen=True)
class SeedRestorer:
    """Brings back the random state from before `set_seed`: call it, or leave its ``with`` block."""

    seed: int
    deterministic: bool
    """Whether deterministic algorithms were asked for."""

    _undo: tuple[Callable[[], object], ...] = field(repr=False)

    def __call__(self) -> None:
        """Set all generators and the deterministic settings as they were; can be called again."""
        for step in self._undo:
            step()

    def __enter__(self) -> SeedRestorer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self()


def set_seed(seed: int, *, deterministic: bool = False) -> SeedRestorer:
    """
    Seed Python's `random`, NumPy's global generator where NumPy is installed, and torch on all devices.

    Returns a `SeedRestorer`: call it, or use it as a context manager, to bring every state back (CPU, CUDA, XPU, MPS;
    torch seeds further devices too, but theirs are not brought back). A device that has not started yet is not
    started: it starts with this seed, and after the restore with the one that torch held for it.

    With `deterministic`, torch uses deterministic algorithms and raises `RuntimeError` where there are none, cuDNN
    does not choose by timing, and ``CUBLAS_WORKSPACE_CONFIG`` is ``:4096:8`` unless set (cuBLAS reads it when it
    starts, so seed early). Without it those settings stay as they are.

    Not for the inside of a compiled function. Inductor draws numbers of its own: compiled and plain code agree only
    under ``torch._inductor.config.fallback_random = True``. Generators that were made by hand
    (`torch.Generator`, `numpy.random.default_rng`) are not touched.

    Raises `TypeError` where `seed` is no int, `ValueError` outside 0 to 4294967295.
    """
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"seed must be an int, not {type(seed).__name__}")
    if not 0 <= seed <= LARGEST_SEED:
        raise ValueError(f"seed={seed} must be from 0 to {LARGEST_SEED}")
    undo = [_restore_python(), *_restore_numpy(), *_restore_torch(), _restore_deterministic()]
    random.seed(seed)
    if importlib.util.find_spec("numpy") is not None:
        import numpy

        numpy.random.seed(seed)
    torch.manual_seed(seed)
    if deterministic:
        os.environ.setdefault(CUBLAS, ":4096:8")
        torch.use_deterministic_algorithms(True)
        torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = True, False
    return SeedRestorer(seed, deterministic, tuple(undo))


def _restore_python() -> Callable[[], object]:
    state = random.getstate()
    return lambda: random.setstate(state)


def _restore_numpy() -> list[Callable[[], object]]:
    if importlib.util.find_spec("numpy") is None:
        return []
    import numpy

    state = numpy.random.get_state()
    return [lambda: numpy.random.set_state(state)]


def _restore_torch() -> list[Callable[[], object]]:
    state, earlier = torch.get_rng_state(), torch.initial_seed()
    undo: list[Callable[[], object]] = [lambda: torch.set_rng_state(state)]
    for name in STARTED_LATE:
        device: Any = getattr(torch, name, None)
        if device is not None and device.is_available():
            undo.append(_restore_device(device, earlier))
    if torch.backends.mps.is_available():
        on_mps = torch.mps.get_rng_state()
        undo.append(lambda: torch.mps.set_rng_state(on_mps))
    return undo


def _restore_device(device: Any, earlier: int) -> Callable[[], object]:
    if not device.is_initialized():
        return lambda: device.manual_seed_all(earlier)
    states = device.get_rng_state_all()
    return lambda: device.set_rng_state_all(states)


def _restore_deterministic() -> Callable[[], object]:
    flag, warn_only = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )
    cudnn = torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark
    workspace = os.environ.get(CUBLAS)

    def undo() -> None:
        torch.use_deterministic_algorithms(flag, warn_only=warn_only)
        torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = cudnn
        if workspace is None:
            os.environ.pop(CUBLAS, None)
        else:
            os.environ[CUBLAS] = workspace

    return undo
