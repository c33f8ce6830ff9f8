"""Gradients, torch.func, autocast, meta and fake tensors, other modes."""

from __future__ import annotations

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode

from compilefix.validation import IndexFault, validate
from compilefix.validation.call import Call, bind
from compilefix.validation.kinds import same_device
from compilefix.validation.table import SPECS
from tests.validation.calls import faults, t, x


def test_gradients_are_unchanged() -> None:
    """Of the target, of the source, and of a weight."""

    def gradients() -> list[torch.Tensor]:
        target, source, weight = (x().requires_grad_() for _ in range(3))
        out = target.index_add(0, t(1, 3), source[:2]) * 2
        out[t(0), t(1)] = weight[2, 3]
        out = out + torch.nn.functional.embedding(t(0, 3, 3, 1), weight)
        out.square().sum().backward()
        return [found.grad for found in (target, source, weight) if found.grad is not None]

    want = gradients()
    with validate("error"):
        got = gradients()
    assert len(got) == 3
    assert all(map(torch.equal, got, want))


def test_vmap() -> None:
    """The sample is named; a shared index, a nested vmap and valid calls work."""
    pick = torch.vmap(lambda table, index: table.index_select(0, index))
    shared = torch.vmap(torch.vmap(lambda table, index: table[index], in_dims=(None, 0)), in_dims=(0, None))
    assert faults(lambda: pick(x(2, 4), t([0, 1], [2, 7]))) == (
        "index_select: sample 1: index[1] = 7 is outside [0, 4) of dim 0 of input (4,)",
    )
    assert faults(lambda: shared(x(2, 4), t([0, 1], [2, -5]))) == (
        "x[...]: sample 1: index[1] = -5 is outside [-4, 4) of dim 0 of input (4,)",
    )
    with validate("error"):
        assert pick(x(2, 4), t([0, 1], [2, 3])).tolist() == [[0.0, 1.0], [6.0, 7.0]]
        assert shared(x(2, 4), t([0, 1], [2, 3])).shape == (2, 2, 2)


def test_vmap_finds_duplicates_within_a_sample_only() -> None:
    """Two samples may write to one place, each has its own."""
    write = torch.vmap(lambda table, index, rows: table.index_copy(0, index, rows))
    assert faults(lambda: write(x(2, 4), t([0, 1], [0, 1]), x(2, 2)), "error") == ()
    assert faults(lambda: write(x(2, 4), t([0, 1], [3, 3]), x(2, 2)), "error") == (
        "index_copy: sample 1: index[0] and index[1] write different values to input[3] of (4,)"
        "; which one stays is undefined",
    )


def test_functional_gradients() -> None:
    """torch.func.grad and jvp, alone and under vmap."""
    grad = torch.func.grad(lambda table, index: (table[index] * table[index]).sum())
    with validate():
        assert grad(x(4), t(1, 1)).tolist() == [0.0, 4.0, 0.0, 0.0]
        out, tangent = torch.func.jvp(lambda table: table.gather(0, t(2, 0)), (x(4),), (torch.ones(4),))
        assert (out.tolist(), tangent.tolist()) == ([2.0, 0.0], [1.0, 1.0])
        assert torch.vmap(grad, in_dims=(0, None))(x(2, 4), t(1)).tolist() == [[0, 2, 0, 0], [0, 10, 0, 0]]
    line = "x[...]: index[1] = 4 is outside [-4, 4) of dim 0 of input (4,)"
    assert faults(lambda: grad(x(4), t(0, 4))) == (line,)
    assert faults(lambda: torch.vmap(grad, in_dims=(0, None))(x(2, 4), t(0, 4))) == (line,)


def test_autocast_may_promote() -> None:
    """On the CPU index_copy is promoted, index_add is not."""
    low = x().bfloat16()
    with torch.autocast("cpu", dtype=torch.bfloat16), validate():
        assert low.index_copy(0, t(1), torch.ones(1, 5)).dtype == torch.float32
        with pytest.raises(IndexFault, match="source is float32, must be bfloat16 like input"):
            low.index_add(0, t(1), torch.ones(1, 5))
    assert faults(lambda: low.index_copy(0, t(1), torch.ones(1, 5))) == (
        "index_copy: source is float32, must be bfloat16 like input",
    )


@pytest.mark.parametrize("mode", ["meta", "fake"])
def test_tensors_without_values(mode: str) -> None:
    """Shapes are checked, values cannot be."""
    with FakeTensorMode() if mode == "fake" else torch.device("meta"):
        target, index, rows = torch.empty(4, 5), torch.full((2,), 9), torch.empty(2, 4)
        assert faults(lambda: target.index_add(0, index, rows)) == (
            "index_add: source.size(1) = 4 must be input.size(1) = 5 (dim is 0)",
        )
        with validate("error"):
            assert target.index_select(0, index).shape == (2, 5)
            target.index_copy_(0, index, torch.empty(2, 5))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_other_layouts_are_left_to_torch() -> None:
    """Nested tensors have no sizes to check, sparse ones are checked by torch."""
    nested = torch.nested.nested_tensor([x(2, 3), x(1, 3)])
    with validate("error"):
        assert nested[1].tolist() == [[0.0, 1.0, 2.0]]
        assert torch.eye(3).to_sparse().index_select(0, t(2, 0)).to_dense().tolist() == [[0, 0, 1], [1, 0, 0]]


def devices(key: str, *args: object) -> list[str]:
    """Return the faults of a call's devices."""
    call = bind(SPECS[key], key, False, args, {})
    assert isinstance(call, Call)
    return list(same_device(call))


def test_devices() -> None:
    """Indices between brackets and single values may stay on the CPU, everything else may not."""
    with FakeTensorMode():
        target = torch.empty(4, 5, device="cuda")
        index, values = torch.zeros(2, dtype=torch.int64), torch.empty(2, 5)
    assert devices("index_select", target, 0, index) == ["index is on cpu, must be on cuda:0 like input"]
    assert devices("x[...]", target, index) == []
    assert devices("x[...] = v", target, index, values) == ["value is on cpu, must be on cuda:0 like input"]
    assert devices("x[...] = v", target, index, values[0, 0]) == []
    assert devices("index_add", target, 0, index, values) == [
        "index is on cpu, must be on cuda:0 like input",
        "source is on cpu, must be on cuda:0 like input",
    ]


def test_another_mode_sees_the_call() -> None:
    """Modes outside and inside validated mode get the user's calls; the checks themselves are not seen."""

    class Record(TorchFunctionMode):
        def __init__(self) -> None:
            super().__init__()
            self.names: list[str] = []

        def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            self.names.append(func.__name__)
            return func(*args, **(kwargs or {}))

    inner = Record()
    with validate(), inner:
        x().index_select(0, t(0))
    assert "index_select" in inner.names
    assert not {"lt", "ge", "unique", "nonzero"} & set(inner.names)
    with Record() as outer, validate(), pytest.raises(IndexFault):
        x().index_select(0, t(9))
    assert "index_select" not in outer.names
    with Record() as outer, validate():
        x().index_select(0, t(0))
    assert "index_select" in outer.names
    assert not {"lt", "ge", "unique", "nonzero"} & set(outer.names)
