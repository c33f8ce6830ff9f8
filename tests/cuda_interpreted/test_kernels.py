"""Kernels read from the text of a wrapper."""

from __future__ import annotations

from compilefix.cuda_interpreted.kernels import externs_of, kernels_of

WRAPPER = '''
import triton

# kernel path: x.py
# Topologically Sorted Source Nodes: [y, z], Original ATen: [aten.sin, aten.add]
k0 = async_compile.triton('triton_poi_fused_add_sin_0', """
import triton

@triton_heuristics.pointwise(inductor_meta={'mutated_arg_names': ['in_out_ptr0']})
@triton.jit
def triton_poi_fused_add_sin_0(in_out_ptr0, in_ptr1, out_ptr2, xnumel):
    tmp0 = tl.load(in_out_ptr0 + (4*x0), xmask)
    tmp1 = tl.load(in_ptr1, None)
    tl.store(in_out_ptr0 + (4*x0), tmp0 + tmp1, xmask)
    tl.atomic_add(out_ptr2 + x1, tmp1, xmask, sem='relaxed')
""", device_str='cuda')

# Topologically Sorted Source Nodes: [w], Original ATen: []
# Comes from: {"lines": ["model.py:3 w = 1"], "ops": ["aten.full"]}
k1 = async_compile.triton('triton_poi_fused_1', """
def triton_poi_fused_1(out_ptr0):
    tl.store(out_ptr0 + (x0), 1.0, xmask)
""", device_str='cuda')


def call(args):
    k0.run(a, b, c, 4, stream=0)
    k0.run(a, b, c, 4, stream=0)
    k1.run(a, stream=0)
    extern_kernels.mm(a, b, out=c)
'''


def test_names_origins_accesses_and_launches() -> None:
    """Lines count from the first line of the kernel's own source."""
    first, second = kernels_of(WRAPPER)
    assert (first.name, first.ops, first.launches) == ("triton_poi_fused_add_sin_0", ["aten.sin", "aten.add"], 2)
    assert first.in_place == ["in_out_ptr0"]
    assert [(a["line"], a["does"], a["argument"], a["index"]) for a in first.accesses] == [
        (6, "load", "in_out_ptr0", "4 * x0"),
        (7, "load", "in_ptr1", "0"),
        (8, "store", "in_out_ptr0", "4 * x0"),
        (9, "atomic_add", "out_ptr2", "x1"),
    ]
    assert first.given == {"in_out_ptr0": "a", "in_ptr1": "b", "out_ptr2": "c"}
    assert (second.name, second.ops, second.launches, second.in_place) == ("triton_poi_fused_1", ["aten.full"], 1, [])
    assert second.lines == ["model.py:3 w = 1"]


def test_calls_of_no_generated_kernel() -> None:
    """Matrix products and fallbacks run as ATen's."""
    assert externs_of(WRAPPER) == ["extern_kernels.mm"]
    assert externs_of("a = torch.ops.aten.sort.default(x)\n") == ["torch.ops.aten.sort.default"]


def test_a_wrapper_without_kernels_has_none() -> None:
    """Only extern kernels."""
    assert kernels_of("def call(args):\n    extern_kernels.mm(a, b, out=c)\n") == []
