"""Reductions and scans over whole blocks at once; the interpreter's own go element by element in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import ReduceOps, ScanOps, TensorHandle

Array = Any


def _tensors(op: Any, arrays: list[Array], like: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(op.to_tensor(a, t.dtype) for a, t in zip(arrays, like, strict=True))


def _combined(op: Any, left: list[Array], right: list[Array], like: tuple[Any, ...]) -> list[Array]:
    out = op.combine_fn(*_tensors(op, left, like), *_tensors(op, right, like))
    parts = out if isinstance(out, tuple) else (out,)
    shaped = zip(parts, left, strict=True)
    return [np.broadcast_to(p.handle.data.astype(a.dtype, copy=False), a.shape) for p, a in shaped]


def reduce(self: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """
    Reduce `inputs` along the axis with the combining function, neighbours first.

    Neighbours stay in order, so an associative function gives what a sequential reduction gives, up to rounding.
    """
    whole = self.axis is None
    arrays = [t.handle.data.reshape(-1) if whole else np.moveaxis(t.handle.data, self.axis, 0) for t in inputs]
    shape = inputs[0].handle.data.shape
    while (n := arrays[0].shape[0]) > 1:
        half = n // 2
        pairs = _combined(self, [a[0 : 2 * half : 2] for a in arrays], [a[1 : 2 * half : 2] for a in arrays], inputs)
        arrays = [np.concatenate([p, a[2 * half :]]) for p, a in zip(pairs, arrays, strict=True)]
    out = []
    for array, tensor in zip(arrays, inputs, strict=True):
        value = array[0]
        if self.keep_dims:
            value = value.reshape((1,) * len(shape)) if whole else np.expand_dims(value, self.axis)
        out.append(self.to_tensor(value if np.ndim(value) else value.item(), tensor.dtype))
    return out


def scan(self: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """Scan `inputs` along the axis with the combining function, by doubling the distance."""
    arrays = [np.moveaxis(t.handle.data, self.axis, 0).copy() for t in inputs]
    n, distance = arrays[0].shape[0], 1
    while distance < n:
        shifted = [np.concatenate([a[:distance], a[:-distance]]) for a in arrays]
        both = _combined(self, shifted, arrays, inputs)
        arrays = [np.concatenate([a[:distance], b[distance:]]) for a, b in zip(arrays, both, strict=True)]
        distance *= 2
    return [self.to_tensor(np.moveaxis(a, 0, self.axis), t.dtype) for a, t in zip(arrays, inputs, strict=True)]


def to_tensor(self: Any, value: Any, dtype: Any) -> Any:
    """Return `value`, an array or a number, as a tensor of `dtype`; NumPy's sums of small integers are wider."""
    numpy_type = interpreter._get_np_dtype(dtype)
    if np.ndim(value):
        return tl.tensor(TensorHandle(value.astype(numpy_type), dtype.scalar), tl.block_type(dtype, list(value.shape)))
    return tl.tensor(TensorHandle(np.array([value]).astype(numpy_type), dtype.scalar), dtype)


def apply(self: Any, given: Any) -> Any:
    """Reduce or scan a tensor, or a tuple of them; a list or a single result of older Tritons comes as it went in."""
    parts = given if isinstance(given, tuple) else (given,)
    self.check_tensor(parts)
    found = self.apply_impl(parts)
    results = tuple(found) if isinstance(found, list | tuple) else (found,)
    return results if isinstance(given, tuple) else results[0]


def install() -> None:
    """Replace the slow ways of the interpreter of this process, and those that differ between its versions."""
    ReduceOps.to_tensor = ScanOps.to_tensor = to_tensor
    ReduceOps.apply = ScanOps.apply = apply
    ReduceOps.generic_reduce = reduce
    ScanOps.generic_scan = scan
    interpreter.ReduceOps, interpreter.ScanOps = ReduceOps, ScanOps
