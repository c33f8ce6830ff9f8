"""Graphs moved to CUDA: every device in them, and views of one storage."""

from __future__ import annotations

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from compilefix.cuda_interpreted import graphs


def _traced(function: object, *inputs: torch.Tensor) -> tuple[torch.fx.GraphModule, list[torch.Tensor]]:
    gm = make_fx(function, tracing_mode="fake")(*inputs)  # type: ignore[arg-type]
    return gm, [n.meta["val"] for n in gm.graph.nodes if n.op == "placeholder"]


def test_devices_by_keyword_and_by_position_and_in_metadata() -> None:
    """arange by keyword; a node whose device is a plain argument."""
    gm, fakes = _traced(lambda x: x + torch.arange(3, device="cpu"), torch.ones(3))
    first = next(iter(gm.graph.nodes))
    with gm.graph.inserting_after(first):
        moved = gm.graph.call_function(torch.ops.prims.device_put.default, (first, torch.device("cpu")))
    inputs = graphs.move(gm, fakes)
    assert [x.device for x in inputs] == [graphs.CUDA]
    assert moved.args == (first, graphs.CUDA)
    arange = next(n for n in gm.graph.nodes if n.target is torch.ops.aten.arange.default)
    assert arange.kwargs["device"] == graphs.CUDA
    values = [n.meta["val"] for n in gm.graph.nodes if isinstance(n.meta.get("val"), torch.Tensor)]
    assert {v.device for v in values} == {graphs.CUDA}


def test_views_of_one_storage_stay_views_of_one_storage() -> None:
    """Offset and strides are kept, and the pass that writes in place still sees the alias."""
    mode = FakeTensorMode()
    base = mode.from_tensor(torch.ones(4, 6))
    view = base[1:, ::2]
    mover = graphs.Mover()
    moved, part = mover(base), mover(view)
    assert (part.storage_offset(), part.stride(), part.shape) == (6, (6, 2), (3, 3))
    assert part.untyped_storage()._cdata == moved.untyped_storage()._cdata
    assert mover(base) is moved
    assert (moved.dtype, moved.requires_grad, moved.device) == (torch.float32, False, graphs.CUDA)


def test_subgraphs_are_moved_as_well() -> None:
    """A graph inside the graph has its devices changed."""
    inner, _ = _traced(lambda x: x + torch.zeros(3, device="cpu"), torch.ones(3))
    outer, fakes = _traced(lambda x: x * 2, torch.ones(3))
    outer.add_submodule("branch", inner)
    graphs.move(outer, fakes)
    zeros = next(n for n in inner.graph.nodes if n.target is torch.ops.aten.zeros.default)
    assert zeros.kwargs["device"] == graphs.CUDA


@pytest.mark.parametrize("value", [3, None, torch.ones(2), "cpu"])
def test_what_is_no_fake_tensor_comes_back_as_it_is(value: object) -> None:
    """Sizes and plain values are not touched."""
    assert graphs.Mover()(value) is value
