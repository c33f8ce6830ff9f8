"""
Stand-ins for the functions of CUDA's libdevice, by symbol (``__nv_expf``).

Triton's own table of overloads chooses the symbol, so an overload that libdevice does not have (no half types at all)
raises here as it does in a real compile. Values come from NumPy and, for special functions, from torch: that is the
rounding of the CPU, not of libdevice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from compilefix.cuda_interpreted.problems import InterpreterLimitError

Array = Any
Function = Callable[..., Array]


def _torch(function: Callable[..., torch.Tensor]) -> Function:
    def call(*arrays: Array) -> Array:
        tensors = (torch.from_numpy(np.array(a)) for a in np.broadcast_arrays(*arrays))
        return function(*tensors).numpy()

    return call


def _wide(function: Function) -> Function:
    """Compute in float64 and round once, as a fused operation does; float64 itself is not widened."""

    def call(*arrays: Array) -> Array:
        return function(*(np.asarray(a).astype(np.float64) for a in arrays)).astype(arrays[0].dtype)

    return call


def _ilogb(x: Array) -> Array:
    exponent = np.frexp(x)[1] - 1
    exponent = np.where(x == 0, np.iinfo(np.int32).min, exponent)
    return np.where(np.isfinite(x), exponent, np.where(np.isnan(x), np.iinfo(np.int32).min, np.iinfo(np.int32).max))


def _away(x: Array) -> Array:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _remainder(x: Array, y: Array) -> Array:
    return x - np.rint(x / y) * y


def _norm(*parts: Array) -> Array:
    return np.sqrt(sum(p * p for p in parts))


def _saturate(x: Array) -> Array:
    return np.clip(np.where(np.isnan(x), 0, x), 0, 1)


ROUNDED: dict[str, Function] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "rcp": np.reciprocal,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}
"""Arithmetic in round-to-nearest, ``__nv_fadd_rn`` and ``__nv_dadd_rn``."""

FUNCTIONS: dict[str, Function] = {
    **{n: getattr(np, n) for n in ("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sqrt", "sin", "cos")},
    **{n: getattr(np, n) for n in ("tan", "tanh", "sinh", "cosh", "floor", "ceil", "trunc", "rint", "cbrt", "fmod")},
    **{n: getattr(np, n) for n in ("copysign", "hypot", "nextafter", "ldexp", "fmin", "fmax")},
    "exp10": lambda x: np.power(np.asarray(10, x.dtype), x),
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "acosh": np.arccosh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "nearbyint": np.rint,
    "round": _away,
    "llrint": np.rint,
    "llround": _away,
    "fabs": np.abs,
    "abs": np.abs,
    "llabs": np.abs,
    "pow": np.power,
    "powi": lambda x, n: np.power(x, n.astype(x.dtype)),
    "fma": _wide(lambda a, b, c: a * b + c),
    "fma_rn": _wide(lambda a, b, c: a * b + c),
    "fdim": lambda x, y: np.where(np.isnan(x) | np.isnan(y), x + y, np.maximum(x - y, 0)),
    "scalbn": np.ldexp,
    "logb": np.vectorize(lambda x: np.frexp(x)[1] - 1.0),
    "ilogb": _ilogb,
    "remainder": _remainder,
    "sinpi": _wide(lambda x: np.sin(np.pi * np.fmod(x, 2.0))),
    "cospi": _wide(lambda x: np.cos(np.pi * np.fmod(x, 2.0))),
    "saturate": _saturate,
    "norm3d": _norm,
    "norm4d": _norm,
    "rnorm3d": lambda *parts: 1 / _norm(*parts),
    "rnorm4d": lambda *parts: 1 / _norm(*parts),
    "erf": _torch(torch.erf),
    "erfc": _torch(torch.erfc),
    "erfcx": _torch(torch.special.erfcx),
    "erfinv": _torch(torch.erfinv),
    "erfcinv": _torch(lambda x: torch.erfinv(1 - x)),
    "normcdf": _torch(torch.special.ndtr),
    "normcdfinv": _torch(torch.special.ndtri),
    "lgamma": _torch(torch.lgamma),
    "tgamma": _torch(lambda x: torch.where(x > 0, 1.0, torch.cos(torch.pi * torch.floor(x))) * torch.lgamma(x).exp()),
    "cyl_bessel_i0": _torch(torch.special.i0),
    "cyl_bessel_i1": _torch(torch.special.i1),
    "j0": _torch(torch.special.bessel_j0),
    "j1": _torch(torch.special.bessel_j1),
    "y0": _torch(torch.special.bessel_y0),
    "y1": _torch(torch.special.bessel_y1),
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "finite": np.isfinite,
    "signbit": np.signbit,
    "clz": lambda x: _bits(x, lambda b: len(b) - len(b.lstrip("0"))),
    "popc": lambda x: _bits(x, lambda b: b.count("1")),
    "brev": lambda x: _bits(x, lambda b: int(b[::-1], 2)),
    "ffs": lambda x: _bits(x, lambda b: (len(b) - b.rfind("1")) if "1" in b else 0),
    "mulhi": lambda a, b: (a.astype(np.int64) * b.astype(np.int64)) >> 32,
    "umulhi": lambda a, b: (a.astype(np.uint64) * b.astype(np.uint64)) >> np.uint64(32),
    "float_as_int": lambda x: x.view(np.int32),
    "float_as_uint": lambda x: x.view(np.uint32),
    "int_as_float": lambda x: x.view(np.float32),
    "uint_as_float": lambda x: x.view(np.float32),
    "double_as_longlong": lambda x: x.view(np.int64),
    "longlong_as_double": lambda x: x.view(np.float64),
}
"""By name without the prefix ``__nv_`` and without the letter of the type."""

_ROUNDED = re.compile(r"[fd](?P<what>add|sub|mul|div|rcp|sqrt|rsqrt)_rn")
_FAST = re.compile(r"fast_(?P<what>\w+)f")
_CONVERT = re.compile(r"(float|double|int|uint|ll|ull)2(float|double|int|uint|ll|ull)_(?P<round>r[nzud])")
_TO_INTEGER = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}


def _bits(x: Array, function: Callable[[str], int]) -> Array:
    width = x.dtype.itemsize * 8
    flat = [function(format(int(v) & ((1 << width) - 1), f"0{width}b")) for v in np.ravel(x)]
    wrapped = np.array(flat, dtype=np.uint64).astype(x.dtype)
    return wrapped.reshape(np.shape(x))


def function_of(symbol: str) -> Function | None:
    """Return the stand-in of the libdevice `symbol`, or None where there is none."""
    name = symbol.removeprefix("__nv_")
    if found := _ROUNDED.fullmatch(name):
        return ROUNDED[found["what"]]
    if name == "fast_fdividef":
        return np.divide
    if found := _FAST.fullmatch(name):
        name = found["what"]
    if (found := _CONVERT.fullmatch(name)) and not found[2].startswith(("float", "double")):
        return _TO_INTEGER[found["round"]]
    if found and found["round"] == "rn":
        return lambda x: x
    for candidate in (name, name.removesuffix("f"), name.removesuffix("d"), name.removesuffix("ll")):
        if candidate in FUNCTIONS:
            return FUNCTIONS[candidate]
    fused = re.fullmatch(r"fmaf?_rn", name)
    return FUNCTIONS["fma"] if fused else None


def call(symbol: str, arrays: Sequence[Array], dtype: Any) -> Array:
    """
    Return ``symbol(*arrays)`` as an array of the NumPy `dtype`.

    Raises `InterpreterLimitError` for a symbol that has no stand-in.
    """
    function = function_of(symbol)
    if function is None:
        raise InterpreterLimitError(f"libdevice function {symbol}")
    with np.errstate(all="ignore"):
        return np.asarray(function(*arrays)).astype(dtype)
