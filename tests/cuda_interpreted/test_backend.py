"""Whole programs compiled for CUDA and interpreted: as plain eager, where Inductor is right."""

from __future__ import annotations

import pytest
import torch
import torch._inductor.config as inductor_config

from compilefix.cuda_interpreted import backend, memory
from compilefix.cuda_interpreted.problems import limit_of
from tests.cuda_interpreted.interpreting import interpreted
from tests.cuda_interpreted.programs import agrees, twice

triton = pytest.importorskip("triton")
import triton.language as tl

pytestmark = pytest.mark.slow


@triton.jit
def user_kernel(x, out, n, BLOCK: tl.constexpr):
    """out[i] = 2 * x[i] for i < n."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) * 2, i < n)


@interpreted
def test_a_pointwise_program_becomes_a_triton_kernel() -> None:
    """Inductor writes Triton, not C++, and plans for the GPU that was named."""
    from torch._inductor.utils import run_and_get_code

    _, (code,) = run_and_get_code(torch.compile(lambda x: x.sin() + 1), torch.randn(10))
    assert "@triton_heuristics.pointwise" in code
    assert "multi_processor_count=132, cc=90" in code
    assert "cpp_fused" not in code


@interpreted
def test_backward_and_modules() -> None:
    """Gradients of parameters and inputs are those of the plain module."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.LayerNorm(5), torch.nn.GELU(), torch.nn.Linear(5, 1))

    def step(module: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
        x = x.requires_grad_()
        loss = (module(x) ** 2).mean()
        loss.backward()
        return loss.detach()

    torch._dynamo.reset()
    x = torch.randn(7, 6)
    want = step(model, x.clone())
    gradients = [p.grad.clone() for p in model.parameters()]  # type: ignore[union-attr]
    model.zero_grad()
    got = step(torch.compile(model), x.clone())  # type: ignore[arg-type]
    torch.testing.assert_close(got, want)
    torch.testing.assert_close([p.grad for p in model.parameters()], gradients)
    assert memory.WATCH.kernels >= 2


@interpreted
def test_dynamic_shapes_and_several_calls() -> None:
    """One compiled function serves two sizes."""
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: x * x.shape[0] + x.sum(0), dynamic=True)
    for rows in (3, 9):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(compiled(x), x * rows + x.sum(0))


@interpreted
def test_several_graphs() -> None:
    """A graph break leaves two graphs, both compiled for CUDA."""

    def program(x: torch.Tensor) -> torch.Tensor:
        y = x.cos()
        torch._dynamo.graph_break()
        return y * 2 + x

    agrees(program, torch.randn(5), kernels=2)


@interpreted
def test_mutation_and_views_of_one_storage() -> None:
    """Inputs that are written in place come out written, through every view."""

    def program(x: torch.Tensor) -> torch.Tensor:
        x[1:3].mul_(2)
        return x.view(-1)[::2] + 1

    agrees(program, torch.arange(12.0).reshape(4, 3))


@interpreted
@pytest.mark.parametrize("accumulate", [False, True])
def test_functional_scatters(accumulate: bool) -> None:
    """slice_scatter, select_scatter, index_put and scatter_add, with the gradient."""

    def program(x: torch.Tensor, s: torch.Tensor, i: torch.Tensor) -> tuple[torch.Tensor, ...]:
        a = torch.slice_scatter(x, s, 0, 1, 3)
        b = torch.select_scatter(x, s[0], 0, 2)
        c = torch.index_put(x, (i,), s, accumulate=accumulate)
        d = torch.scatter_add(x, 0, i[:, None].expand(2, 4), s)
        return a, b, c, d, torch.autograd.grad((a * b * c * d).sum(), (x, s))[0]

    x = torch.randn(5, 4, requires_grad=True)
    agrees(program, x, torch.randn(2, 4, requires_grad=True), torch.tensor([3, 0]))


@interpreted
def test_a_custom_op_runs_its_cpu_kernel() -> None:
    """A custom operator in the graph is called as it is."""

    @torch.library.custom_op("compilefix_tests::triple", mutates_args=())
    def triple(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    @triple.register_fake
    def _(x: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x)

    agrees(lambda x: triple(x + 1).relu(), torch.randn(6))


@interpreted
def test_fallbacks_and_extern_kernels() -> None:
    """Operators without a lowering, and matrix products, run as ATen's."""
    agrees(lambda x: torch.linalg.qr(x @ x.mT)[1].abs() + 1, torch.randn(4, 4))


@interpreted
def test_a_convolution_keeps_the_layout_that_cuda_plans_for() -> None:
    """The CPU's kernel returns another layout than the GPU's would be; what is planned holds, and so do the values."""
    agrees(lambda x, w: torch.conv2d(x, w).relu(), torch.randn(2, 3, 8, 8), torch.randn(4, 3, 3, 3))


@interpreted
def test_constants_of_the_graph() -> None:
    """Tensor literals: inlined where they are short, kept where they are long."""
    long = [float(i * i) for i in range(40)]
    agrees(lambda x: x + torch.tensor([1.0, 2.0, 4.0]), torch.randn(2, 3))
    agrees(lambda x: x + torch.tensor(long), torch.randn(2, 40))


@interpreted
def test_graphs_without_a_tensor_input() -> None:
    """A graph that takes nothing, and one that takes a size."""
    agrees(lambda: torch.arange(5) * 2)
    agrees(lambda n: torch.ones(n).cumsum(0) * n, 7, dynamic=True)


@interpreted
def test_random_numbers_are_drawn_and_differ() -> None:
    """Inductor's philox: in range, no two alike, other ones at the next call."""
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: torch.rand_like(x))
    first, second = compiled(torch.empty(64)), compiled(torch.empty(64))
    for drawn in (first, second):
        assert drawn.min() >= 0
        assert drawn.max() < 1
        assert drawn.unique().numel() > 60
    assert not torch.equal(first, second)


@interpreted
def test_dropout_keeps_and_scales() -> None:
    """What dropout keeps is scaled, and its gradient falls on the same elements."""
    torch._dynamo.reset()
    x = torch.ones(256, requires_grad=True)
    out = torch.compile(lambda x: torch.nn.functional.dropout(x, 0.5))(x)
    out.sum().backward()
    assert set(out.detach().unique().tolist()) == {0.0, 2.0}
    torch.testing.assert_close(x.grad, out.detach())


@interpreted
def test_control_flow_and_unbacked_sizes() -> None:
    """torch.cond becomes a subgraph of the wrapper; nonzero gives a size that is known only at run time."""

    def branch(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos() * 2, (x,))

    agrees(branch, torch.ones(4))
    agrees(branch, -torch.ones(4))
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        agrees(lambda x: x.nonzero() * 2, torch.tensor([0, 1, 0, 3]))


@interpreted
def test_modes_that_time_kernels_are_run_untimed() -> None:
    """max-autotune compiles: nothing is benchmarked, and no CUDA graph is recorded."""
    agrees(lambda x: (x @ x).relu(), torch.randn(8, 8), mode="max-autotune")
    assert {"max_autotune", "triton.cudagraphs"} <= backend.NOT_FOLLOWED
    agrees(lambda x: x.softmax(-1), torch.randn(8, 8), mode="reduce-overhead")


@interpreted
def test_pytorch_198280_at_its_trigger_and_with_its_cure() -> None:
    """x.copy_(x.mT * 2) reads what another program writes, unless loops are not reordered after fusion."""

    def program(x: torch.Tensor) -> torch.Tensor:
        x.copy_(x.mT * 2.0)
        return x

    x = torch.randn(40, 5, 5)
    want, got = twice(program, x)
    broken = torch.__version__ >= "2.13"
    assert torch.equal(got[0], want[0]) is not broken
    assert {f.what for f in memory.findings() if not f.note} == ({"race"} if broken else set())
    assert any("different results" in str(f) for f in memory.findings()) is broken
    with inductor_config.patch(loop_ordering_after_fusion=False):
        agrees(program, x)


@interpreted
def test_a_kernel_of_the_users_own() -> None:
    """In one graph with what surrounds it; launched plainly it is interpreted too, and watched."""

    def program(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        user_kernel[(triton.cdiv(x.numel(), 32),)](x, out, x.numel(), BLOCK=32)
        return out + 1

    agrees(program, torch.randn(100), kernels=2, fullgraph=True)
    assert "user_kernel" in backend.WRAPPERS[-1]


@interpreted
def test_graph_partition_and_several_outputs() -> None:
    """A wrapper that may have partitions, with views, scalars and a fallback among its outputs."""

    def program(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x.sin()
        return y + 1, torch.linalg.qr(y)[1].abs() * 2, y.sum(), y.view(-1)[3:]

    with inductor_config.patch({"graph_partition": True} if hasattr(inductor_config, "graph_partition") else {}):
        agrees(program, torch.randn(6, 6))


@interpreted
def test_reductions_that_many_programs_share_and_scans_over_many() -> None:
    """Cooperative reductions meet at a barrier of the grid; split scans look back to the programs before."""
    x = torch.arange(10000.0).reshape(2, 5000) % 3
    with inductor_config.patch({"triton.force_cooperative_reductions": True}):
        agrees(lambda x: (x.sum(-1), x.amax(-1)), x)
    agrees(lambda x: x.cumsum(0), torch.arange(20000) % 5)


@interpreted
def test_an_input_in_another_layout_stays_asserted() -> None:
    """What the caller passes is never copied into another layout: a write into it would be lost."""
    torch._dynamo.reset()
    torch.compile(lambda x: x.mul_(2))(torch.ones(4, 4))
    layouts = [line for line in backend.WRAPPERS[-1].splitlines() if "laid_out(arg" in line]
    assert layouts == []


@interpreted
def test_cpp_wrapper_is_a_limit_and_says_so() -> None:
    """A C++ wrapper cannot be moved back to the CPU."""
    torch._dynamo.reset()
    with inductor_config.patch(cpp_wrapper=True), pytest.raises(Exception, match="cpp_wrapper") as raised:
        torch.compile(lambda x: x + 1)(torch.ones(3))
    assert limit_of(str(raised.value)) == "beyond the interpreter: the setting cpp_wrapper"


def test_settings_that_are_not_followed_exist() -> None:
    """Each name in the table is one of Inductor's, so that none is skipped by a slip of the pen."""
    assert [name for name in backend.SKIPPED if not backend._has(name)] == []
