"""A graph of CPU tensors, moved to CUDA: inputs, metadata, devices in arguments, constants, subgraphs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any
from unittest import mock

import torch
import torch._inductor.graph as inductor_graph
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorConverter, in_kernel_invocation_manager
from torch.fx.node import map_aggregate
from torch.utils._pytree import tree_map

from compilefix.cuda_interpreted.surface import CUDA


class ClaimsCuda(torch.Tensor):
    """A constant of the graph: its data lie on the CPU, and it says that they lie on the GPU."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device that Inductor is to plan for."""
        return CUDA


class Mover:
    """Moves fake CPU tensors to fake CUDA tensors; views of one storage stay views of one storage."""

    def __init__(self) -> None:
        self._moved: dict[int, tuple[Any, Any]] = {}

    def __call__(self, value: Any) -> Any:
        """Return the CUDA twin of `value`, the same one at each call; what is no CPU tensor comes back as it is."""
        if not isinstance(value, FakeTensor) or value.device.type != "cpu":
            return value
        if id(value) not in self._moved:
            self._moved[id(value)] = (value, _twin(value))  # the original is kept, so that its id stays its own
        return self._moved[id(value)][1]


def _twin(fake: Any) -> Any:
    mode = fake.fake_mode
    with in_kernel_invocation_manager(mode):
        meta = torch.ops.aten.alias.default(fake)
    twin = FakeTensor(mode, meta, CUDA)
    twin.requires_grad_(fake.requires_grad)
    return twin


def move(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> list[Any]:
    """
    Move `gm` in place and return its moved example inputs.

    Devices that stand in arguments, by keyword or by position, and the metadata of every node are changed in the graph
    and in all subgraphs. Nothing is executed.
    """
    mover = Mover()
    for graph in (m.graph for m in gm.modules() if isinstance(m, torch.fx.GraphModule)):
        for node in graph.nodes:
            node.args = map_aggregate(node.args, _device)
            node.kwargs = map_aggregate(node.kwargs, _device)
            for key in ("val", "example_value"):
                if key in node.meta:
                    node.meta[key] = tree_map(mover, node.meta[key])
    return [mover(value) for value in inputs]


def _device(argument: Any) -> Any:
    return CUDA if isinstance(argument, torch.device) and argument.type == "cpu" else argument


@contextlib.contextmanager
def constants_on_cuda() -> Iterator[None]:
    """Let real tensors that a graph holds count as CUDA tensors, both faked and as constants of Inductor's graph."""
    from_real = FakeTensorConverter.from_real_tensor
    fetch = inductor_graph.getattr_recursive

    def faked(self: Any, mode: Any, tensor: Any, *args: Any, **kwargs: Any) -> Any:
        fake = from_real(self, mode, tensor, *args, **kwargs)
        if fake.device.type != "cpu":
            return fake
        twin = _twin(fake)
        twin.constant = fake.constant
        self.set_tensor_memo(tensor, twin)
        return twin

    def fetched(module: Any, target: str) -> Any:
        value: Any = fetch(module, target)
        if type(value) in (torch.Tensor, torch.nn.Parameter) and value.device.type == "cpu":
            return torch.Tensor._make_subclass(ClaimsCuda, value.detach())
        return value

    with (
        mock.patch.object(FakeTensorConverter, "from_real_tensor", faked),
        mock.patch.object(inductor_graph, "getattr_recursive", fetched),
    ):
        yield
