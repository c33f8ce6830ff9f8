"""Triton's interpreter, mended where its arithmetic is not a GPU's: rounding, bfloat16, integers, NaN."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

from compilefix.cuda_interpreted import libdevice
from compilefix.cuda_interpreted.problems import DeviceAssertError, InterpreterLimitError

Array = Any

TORCH_TYPES = {
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp32": torch.float32,
    "fp64": torch.float64,
    "fp8e5": torch.float8_e5m2,
    "fp8e4nv": torch.float8_e4m3fn,
}
"""Triton's floating types by name, as torch knows them."""

LARGEST = {"fp8e5": 57344.0, "fp8e4nv": 448.0}
"""Finite maxima of the types to which NVIDIA's conversion saturates."""

_NATIVE = frozenset({"fp16", "fp32", "fp64"})
_convert = interpreter._convert_float


def convert(data: Array, source: Any, target: Any, rounding: Any = None) -> Array:
    """
    Return the floating `data` of type `source` as `target`, rounded to nearest even unless `rounding` says otherwise.

    The result is an array of bits for types that NumPy lacks, such as bfloat16. One to 8 bits saturates.
    """
    names = source.name, target.name
    towards_zero = rounding is not None and "RTZ" in str(rounding)
    if towards_zero or any(name not in TORCH_TYPES for name in names):
        return _convert(data, source, target, rounding)
    tensor = torch.from_numpy(np.ascontiguousarray(data)).reshape(np.shape(data))
    if names[0] not in _NATIVE:
        tensor = tensor.view(TORCH_TYPES[names[0]])
    if names[1] in LARGEST:
        tensor = tensor.to(torch.float32).clamp(-LARGEST[names[1]], LARGEST[names[1]])
    out = tensor.to(TORCH_TYPES[names[1]])
    if names[1] in _NATIVE:
        return out.numpy()
    return out.view(torch.int16 if names[1] == "bf16" else torch.uint8).numpy().view(interpreter._get_np_dtype(target))


def _narrow(handle: Any) -> bool:
    return bool(handle.dtype.scalar.is_floating()) and handle.dtype.scalar.name not in _NATIVE


def _widened(handle: Any) -> Any:
    if not _narrow(handle):
        return handle
    scalar = handle.dtype.scalar
    return TensorHandle(convert(handle.data, scalar, tl.float32), tl.float32)


def _again(data: Array, dtype: Any) -> Any:
    """Return `data` as a handle of `dtype`, back from float32 where arithmetic widened it."""
    scalar = tl.int1 if data.dtype == np.bool_ else dtype.scalar
    if not scalar.is_floating() or scalar.name in _NATIVE:
        return TensorHandle(data, scalar)
    return TensorHandle(convert(data.astype(np.float32), tl.float32, scalar), scalar)


_BITWISE = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift)


def binary(self: Any, left: Any, right: Any, function: Callable[..., Array]) -> Any:
    """Return ``function(left, right)``; integers wrap around in the type of `left`."""
    if _narrow(left) or _narrow(right):
        return _again(function(_widened(left).data, _widened(right).data), left.dtype)
    out = function(left.data, right.data)
    if out.dtype == np.bool_:
        return TensorHandle(out, tl.int1)  # of a comparison: a scalar is spread over a block in the type of its handle
    if not isinstance(left.dtype, tl.pointer_type):
        out = out.astype(interpreter._get_np_dtype(left.dtype.scalar), copy=False)
    return TensorHandle(out, left.dtype.scalar)


def unary(self: Any, value: Any, function: Callable[..., Array]) -> Any:
    """Return ``function(value)``, computed in float32 for types that NumPy lacks."""
    return _again(function(_widened(value).data), value.dtype) if _narrow(value) else _plain(value, function)


def _plain(value: Any, function: Callable[..., Array]) -> Any:
    out = function(value.data)
    return TensorHandle(out.astype(value.data.dtype, copy=False), value.dtype.scalar)


def cast(self: Any, source: Any, target: Any) -> Any:
    """Return `source` in the type `target`."""
    source_type, target_type = source.dtype.scalar, target.scalar
    narrow = [t for t in (source_type, target_type) if t.is_floating() and t.name not in _NATIVE]
    if source_type.is_floating() and target_type.is_floating() and narrow:
        return TensorHandle(convert(source.data, source_type, target_type), target_type)
    if narrow:
        through = cast(self, source, tl.float32)
        return cast(self, through, target)
    return TensorHandle(source.data.astype(interpreter._get_np_dtype(target)), target_type)


def fp_to_fp(self: Any, source: Any, target: Any, rounding: Any) -> Any:
    """Return the floating `source` in the floating type `target`."""
    bits = convert(source.data, source.dtype.scalar, target.scalar, rounding)
    return TensorHandle(bits.view(interpreter._get_np_dtype(target)), target.scalar)


def integer_division(self: Any, left: Any, right: Any) -> Any:
    """Return the quotient towards zero; by zero it is all ones, as on NVIDIA's GPUs."""
    a, b = left.data, right.data
    safe = np.where(b == 0, np.ones_like(b), b)
    quotient = ((a - np.fmod(a, safe)) // safe).astype(a.dtype)
    return TensorHandle(np.where(b == 0, np.invert(np.zeros_like(quotient)), quotient), left.dtype.scalar)


def integer_remainder(left: Array, right: Array) -> Array:
    """Return the remainder with the sign of `left`; by zero it is `left`, as on NVIDIA's GPUs."""
    safe = np.where(right == 0, np.ones_like(right), right)
    return np.where(right == 0, left, np.fmod(left, safe))


def fused(self: Any, x: Any, y: Any, z: Any) -> Any:
    """Return ``x * y + z`` rounded once."""
    wide = [_widened(h).data for h in (x, y, z)]
    exact = [a.astype(np.float64) for a in wide] if wide[2].dtype != np.float64 else wide
    return _again((exact[0] * exact[1] + exact[2]).astype(wide[2].dtype), z.dtype)


def clamp(self: Any, value: Any, low: Any, high: Any, propagate: Any) -> Any:
    """Return `value` between `low` and `high`; NaN stays only where `propagate` says so."""
    parts = [_widened(h).data for h in (value, low, high)]
    keeps = "ALL" in str(propagate)
    out = np.clip(*parts) if keeps else np.fmin(np.fmax(parts[0], parts[1]), parts[2])
    return _again(out, value.dtype)


def assertion(self: Any, condition: Any, message: str) -> None:
    """Raise `DeviceAssertError` unless `condition` holds in every lane."""
    if not np.all(condition.data):
        raise DeviceAssertError(f"device-side assert triggered: {message}")


def assumption(self: Any, condition: Any) -> None:
    """Raise `DeviceAssertError` where the kernel assumes what does not hold: compiled code would go anywhere."""
    if not np.all(condition.data):
        raise DeviceAssertError("a tl.assume does not hold")


def extern(self: Any, library: str, path: str, symbol: str, arguments: list[Any], returned: Any, pure: bool) -> Any:
    """Return what the libdevice function `symbol` returns."""
    scalar = returned.scalar
    out = libdevice.call(symbol, [a.data for a in arguments], interpreter._get_np_dtype(scalar))
    return TensorHandle(out, scalar)


ASSEMBLY: dict[str, Callable[..., Array]] = {
    "rcp.approx.ftz.f32 $0, $1;": lambda x: 1 / x,
    "fma.rn.f32 $0, $1, $2, $3;": libdevice.FUNCTIONS["fma"],
}
"""Instructions that Inductor writes itself, exact where the GPU's are approximate."""


@dataclasses.dataclass
class _Results:
    handle: Any

    def get_result(self, index: int) -> Any:
        return self.handle


def inline_assembly(self: Any, text: str, constraints: str, arguments: list[Any], *_: object) -> Any:
    """Return what one of `ASSEMBLY` does; refuse all other PTX, which is below what is interpreted here."""
    if text.strip() in ASSEMBLY:
        out = ASSEMBLY[text.strip()](*(a.data for a in arguments))
        return _Results(TensorHandle(out, arguments[0].dtype.scalar))
    raise InterpreterLimitError(f"inline assembly {text.strip().splitlines()[0] if text.strip() else ''!r}")


def _integer(ty: Any) -> Callable[[Any, int], Any]:
    bits = ty.primitive_bitwidth

    def constant(self: Any, value: int) -> Any:
        wrapped = np.array([int(value) & ((1 << bits) - 1)], dtype=np.uint64)
        return TensorHandle(wrapped.astype(interpreter._get_np_dtype(ty)), ty)

    return constant


def all_ones(self: Any, ty: Any) -> Any:
    """Return the constant of the integer or boolean type `ty` whose bits are all set."""
    numpy_type = interpreter._get_np_dtype(ty)
    return TensorHandle(np.invert(np.zeros(1, dtype=numpy_type)), ty.scalar)


def install() -> None:
    """Mend the interpreter of this process."""
    interpreter._convert_float = convert
    builder = InterpreterBuilder
    builder.binary_op, builder.unary_op, builder.cast_impl = binary, unary, cast
    builder.create_fp_to_fp = fp_to_fp
    builder.create_idiv = integer_division
    builder.get_all_ones_value = all_ones
    builder.get_bf16 = lambda self, x: cast(self, self.get_fp32(x), tl.bfloat16)
    builder.get_int1_ty = lambda self: tl.int1  # missing before Triton 3.3
    for name in ("create_srem", "create_urem"):
        setattr(builder, name, lambda self, a, b: self.binary_op(a, b, integer_remainder))
    for name, function in (("minnumf", np.fmin), ("maxnumf", np.fmax)):
        setattr(builder, f"create_{name}", lambda self, a, b, function=function: self.binary_op(a, b, function))
    builder.create_fneg = lambda self, a: self.unary_op(a, np.negative)
    builder.create_erf = lambda self, a: self.unary_op(a, libdevice.FUNCTIONS["erf"])
    builder.create_rsqrt = lambda self, a: self.unary_op(a, lambda x: 1 / np.sqrt(x))
    builder.create_fma, builder.create_clampf = fused, clamp
    builder.create_assert, builder.create_assume = assertion, assumption
    builder.create_extern_elementwise, builder.create_inline_asm = extern, inline_assembly
    for width in (8, 16, 32, 64):
        for sign in ("", "u"):
            setattr(builder, f"get_{sign}int{width}", _integer(getattr(tl, f"{sign}int{width}")))
    options = dataclasses.replace(interpreter.interpreter_builder.options, debug=True, sanitize_overflow=False)
    interpreter.interpreter_builder.options = options
