"""Every construct of a CUDA wrapper, moved back to the CPU."""

from __future__ import annotations

import ast

import pytest

pytest.importorskip("torch")

from compilefix.cuda_interpreted.problems import InterpreterLimitError
from compilefix.cuda_interpreted.wrapper import moved_back

POISONED = '__import__("compilefix.cuda_interpreted.buffers", fromlist=["poisoned"]).poisoned'
LAID_OUT = '__import__("compilefix.cuda_interpreted.buffers", fromlist=["laid_out"]).laid_out'


@pytest.mark.parametrize(
    ("cuda", "cpu"),
    [
        ("with torch.cuda._DeviceGuard(0):\n    x = 1\n", "with __import__('contextlib').nullcontext():\n    x = 1\n"),
        ("with torch.cuda.stream(s):\n    x = 1\n", "with __import__('contextlib').nullcontext():\n    x = 1\n"),
        ("torch.cuda.set_device(0)\n", "pass\n"),
        ("torch.cuda.synchronize()\n", "pass\n"),
        ("from torch._C import _cuda_getCurrentRawStream as get_raw_stream\n", "pass\n"),
        ("stream0 = get_raw_stream(0)\n", "stream0 = 0\n"),
        ("empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda\n", f"empty_strided_cuda = {POISONED}\n"),
        ("x = f(device=device(type='cuda', index=0))\n", "x = f(device=torch.device('cpu'))\n"),
        ("x = f(torch.device('cuda', 0), pin_memory=False)\n", "x = f(torch.device('cpu'), pin_memory=False)\n"),
        ("x = f(device='cuda:0')\n", "x = f(device='cpu')\n"),
        ("x = rand((2,), (1,), device='cuda', dtype=d)\n", "x = rand((2,), (1,), device='cpu', dtype=d)\n"),
        (
            "k = async_compile.triton('k', '''DeviceProperties(type='cuda')''', device_str='cuda')\n",
            "k = async_compile.triton('k', '''DeviceProperties(type='cuda')''', device_str='cuda')\n",
        ),
        ("extern_kernels.mm(a, b, out=buf0)\n", "extern_kernels.mm(a, b, out=buf0)\n"),
        ("kernel.run(a, b, 4, stream=stream0)\n", "kernel.run(a, b, 4, stream=stream0)\n"),
        ("# cuda:0 in a comment\nx = 'cudagraphs'\n", "x = 'cudagraphs'\n"),
    ],
)  # fmt: skip
def test_construct(cuda: str, cpu: str) -> None:
    """The moved text parses to what is expected, whatever its quotes."""
    assert ast.dump(ast.parse(moved_back(cuda))) == ast.dump(ast.parse(cpu))


def test_assertions_on_what_a_call_returned_become_layouts_and_those_on_inputs_stay() -> None:
    """An input in a wrong layout is the caller's mistake; a result in the CPU's layout is laid out as the GPU's."""
    moved = moved_back(
        "def call(args):\n"
        "    arg0_1, = args\n"
        "    arg0_1 = copy_if_misaligned(arg0_1)\n"
        "    assert_size_stride(arg0_1, (2, 2), (2, 1))\n"
        "    buf0 = extern_kernels.convolution(arg0_1)\n"
        "    assert_size_stride(buf0, (2, 2), (1, 2))\n"
        "    buf1 = buf0[0]\n"
        "    assert_size_stride(buf1, (2,), (1,))\n"
    )
    assert "    assert_size_stride(arg0_1, (2, 2), (2, 1))\n" in moved
    assert f"    buf0 = {LAID_OUT}(buf0, (2, 2), (1, 2))\n" in moved
    assert f"    buf1 = {LAID_OUT}(buf1, (2,), (1,))\n" in moved


def test_line_numbers_stay() -> None:
    """Tracebacks and Inductor's line map refer to the lines as they were generated."""
    code = "x = device(\n    type='cuda',\n    index=0,\n)\nraise_here = 1\n"
    assert moved_back(code).splitlines()[4] == "raise_here = 1"


def test_names_outside_ascii_do_not_shift_an_edit() -> None:
    """Columns are counted in bytes."""
    assert moved_back("é = f('é', 'cuda:0')\n") == "é = f('é', \"cpu\")\n"


@pytest.mark.parametrize(
    ("left", "name"),
    [
        ("torch.cuda.nvtx.range_push('x')\n", "torch.cuda.nvtx.range_push"),
        ("e = torch.cuda.Event()\n", "torch.cuda.Event"),
    ],
)
def test_what_is_not_known_is_a_limit_that_is_named(left: str, name: str) -> None:
    """Nothing of CUDA is left in by luck."""
    with pytest.raises(InterpreterLimitError, match=f"the wrapper uses {name}"):
        moved_back(left)
