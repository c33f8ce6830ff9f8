"""Stand-ins for libdevice: all that Inductor can emit, and each with the right values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

triton = pytest.importorskip("triton")
import triton.language as tl

from compilefix.cuda_interpreted import libdevice
from tests.cuda_interpreted.interpreting import interpreted


def emitted() -> set[str]:
    """Return the names of all libdevice functions that this torch's Inductor writes into kernels."""
    inductor = Path(torch.__file__).parent / "_inductor"
    texts = [p.read_text() for p in (*inductor.glob("codegen/*.py"), *inductor.glob("runtime/triton_*.py"))]
    texts += [p.read_text() for p in (*inductor.glob("kernel/**/*.py"), *inductor.glob("kernel/**/*.jinja"))]
    return {name for text in texts for name in re.findall(r"\blibdevice\.([a-z]\w+)", text)} - {"is_file"}


def symbols(name: str) -> set[str]:
    """Return the symbols of all overloads of a libdevice function, from Triton's own table."""
    source = (Path(triton.__file__).parent / "language/extra/cuda/libdevice.py").read_text()
    body = re.search(rf"^def {name}\(.*?(?=^@|\Z)", source, re.M | re.S)
    return set(re.findall(r'"(__nv_\w+)"', body[0])) if body else set()


@pytest.mark.parametrize("name", sorted(emitted()))
def test_every_function_that_inductor_emits_has_a_stand_in(name: str) -> None:
    """In all its overloads; what Triton's table does not have cannot be compiled for a GPU either."""
    assert [s for s in symbols(name) if libdevice.function_of(s) is None] == []


def test_the_enumeration_finds_the_usual_ones() -> None:
    """So that an empty set does not pass."""
    assert {"exp", "log1p", "erfinv", "lgamma", "cyl_bessel_i0", "isnan", "pow", "llrint"} <= emitted()
    assert symbols("exp") == {"__nv_expf", "__nv_exp"}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("symbol", "function", "low", "high"),
    [
        ("erfinv", torch.erfinv, -0.99, 0.99),
        ("erfcx", torch.special.erfcx, -3, 8),
        ("lgamma", torch.lgamma, 0.1, 9),
        ("cyl_bessel_i0", torch.special.i0, -4, 4),
        ("cyl_bessel_i1", torch.special.i1, -4, 4),
        ("j0", torch.special.bessel_j0, 0, 9),
        ("j1", torch.special.bessel_j1, 0, 9),
        ("y0", torch.special.bessel_y0, 0.1, 9),
        ("y1", torch.special.bessel_y1, 0.1, 9),
        ("acosh", torch.acosh, 1, 9),
        ("expm1", torch.expm1, -2, 2),
        ("nearbyint", torch.round, -5, 5),
        ("trunc", torch.trunc, -5, 5),
        ("tgamma", lambda x: torch.lgamma(x).exp(), 0.5, 6),
        ("sinpi", lambda x: torch.sin(torch.pi * x), -2, 2),
        ("normcdf", torch.special.ndtr, -3, 3),
        ("rsqrt", torch.rsqrt, 0.1, 9),
    ],
)
def test_values_of_both_precisions(symbol: str, function: object, low: float, high: float, dtype: torch.dtype) -> None:
    """The letter f marks single precision; values and type are torch's."""
    x = torch.linspace(low, high, 37, dtype=dtype)
    name = f"__nv_{symbol}" + ("f" if dtype is torch.float32 else "")
    got = torch.from_numpy(libdevice.call(name, [x.numpy()], x.numpy().dtype))
    torch.testing.assert_close(got, function(x))  # type: ignore[operator]


def test_exact_ones() -> None:
    """Bits, exponents, signs and rounding, worked out by hand."""
    import numpy as np

    single = np.array([1.0, -0.0, 8.0, 0.75], dtype=np.float32)
    ints = np.array([0, 1, -1, 40], dtype=np.int32)
    assert libdevice.call("__nv_ilogbf", [single[2:]], np.int32).tolist() == [3, -1]
    assert libdevice.call("__nv_signbitf", [single], np.int32).tolist() == [0, 1, 0, 0]
    assert libdevice.call("__nv_clz", [ints], np.int32).tolist() == [32, 31, 0, 26]
    assert libdevice.call("__nv_popc", [ints], np.int32).tolist() == [0, 1, 32, 2]
    assert libdevice.call("__nv_ffs", [ints], np.int32).tolist() == [0, 1, 1, 4]
    halves = np.array([0.5, 1.5, -2.5, 2.4], dtype=np.float32)
    assert libdevice.call("__nv_float2int_rn", [halves], np.int32).tolist() == [0, 2, -2, 2]
    assert libdevice.call("__nv_float2int_rz", [halves], np.int32).tolist() == [0, 1, -2, 2]
    assert libdevice.call("__nv_llroundf", [halves], np.int64).tolist() == [1, 2, -3, 2]
    assert libdevice.call("__nv_fmaf", [single, single, single], np.float32).tolist() == [2.0, 0.0, 72.0, 1.3125]


def test_an_unknown_symbol_is_a_limit() -> None:
    """It is named, and no value is made up."""
    from compilefix.cuda_interpreted.problems import InterpreterLimitError

    with pytest.raises(InterpreterLimitError, match="libdevice function __nv_fadd_rd"):
        libdevice.call("__nv_fadd_rd", [], "float32")


@triton.jit
def erf_kernel(x, out, BLOCK: tl.constexpr):
    """out = erf(x) by libdevice, in the type of x."""
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.extra.libdevice.erf(tl.load(x + i)))


@pytest.mark.slow
@interpreted
def test_there_is_no_overload_for_half_types() -> None:
    """As on a GPU: libdevice knows single and double precision, and a half type is an error of the kernel."""
    x = torch.linspace(-2, 2, 8)
    out = torch.empty(8)
    erf_kernel[(1,)](x, out, BLOCK=8)
    torch.testing.assert_close(out, torch.erf(x))
    with pytest.raises(KeyError, match="bfloat16"):
        erf_kernel[(1,)](x.bfloat16(), out.bfloat16(), BLOCK=8)
