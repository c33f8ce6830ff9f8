"""Freshly allocated buffers, filled with a pattern, so that reading what nothing wrote is seen and named."""

from __future__ import annotations

import linecache
import re
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef

Array = Any

BYTE = 0xA5
_NAN = {
    torch.float16: (2, 0x7FA5),
    torch.bfloat16: (2, 0x7FE5),
    torch.float32: (4, 0x7FC5A5A5),
    torch.float64: (8, 0x7FF8A5A5A5A5A5A5),
    torch.complex64: (4, 0x7FC5A5A5),
    torch.complex128: (8, 0x7FF8A5A5A5A5A5A5),
}
"""Bytes and bits of a quiet NaN with a payload that no arithmetic makes, by type."""

_ASSIGNED = re.compile(r"\s*(\w+)\s*=[^=]")


@dataclass
class Buffer:
    """One buffer that was filled."""

    name: str
    """Its name in the wrapper, such as ``buf3``."""

    start: int
    pattern: Array
    """The bytes of one element."""

    written: Array
    """For every byte whether a kernel has stored there."""

    storage: Any
    """A weak reference."""

    def untouched(self, pointers: Array, data: Array) -> Array:
        """Tell for each of `data`, loaded at `pointers`, whether it is the pattern and no kernel has stored there."""
        size = data.dtype.itemsize
        if size != len(self.pattern) or data.dtype.kind not in "biufc":
            return np.zeros(len(data), dtype=bool)
        at = (pointers - np.uint64(self.start)).astype(np.int64)
        want = self.pattern.view(f"u{size}")[0]
        return ~self.written[at] & (np.ascontiguousarray(data).view(f"u{size}") == want)

    def wrote(self, pointers: Array, size: int) -> None:
        """Note that a kernel stores `size` bytes at each of `pointers`."""
        at = (pointers - np.uint64(self.start)).astype(np.int64)
        for byte in range(size):
            self.written[at + byte] = True


BUFFERS: dict[int, Buffer] = {}
"""Live buffers by the address at which they begin."""


def fill(tensor: torch.Tensor, name: str) -> None:
    """Fill the whole storage of the new `tensor` and keep an eye on it."""
    storage = tensor.untyped_storage()
    size, bits = _NAN.get(tensor.dtype, (tensor.element_size(), 0))
    pattern = np.frombuffer(bits.to_bytes(size, sys.byteorder) if bits else bytes([BYTE] * size), dtype=np.uint8)
    if storage.nbytes() == 0:
        return
    whole = torch.empty(0, dtype=torch.uint8).set_(storage, 0, (storage.nbytes(),), (1,))
    whole.numpy()[:] = np.tile(pattern, storage.nbytes() // size)
    _forget_dead()
    written = np.zeros(storage.nbytes(), dtype=bool)
    BUFFERS[storage.data_ptr()] = Buffer(name, storage.data_ptr(), pattern, written, StorageWeakRef(storage))  # type: ignore[no-untyped-call]


def _forget_dead() -> None:
    for start in [start for start, buffer in BUFFERS.items() if buffer.storage.expired()]:
        del BUFFERS[start]


def alive(start: int) -> Buffer | None:
    """Return the buffer that begins at the address `start`, where it is still there."""
    buffer = BUFFERS.get(start)
    return buffer if buffer is not None and not buffer.storage.expired() else None


def name_of_caller(depth: int) -> str:
    """Return the name that the line of the wrapper which is `depth` calls up assigns to."""
    frame = sys._getframe(depth)
    found = _ASSIGNED.match(linecache.getline(frame.f_code.co_filename, frame.f_lineno))
    return found[1] if found else "a buffer"
