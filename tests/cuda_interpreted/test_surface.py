"""CUDA is presented while Inductor compiles, and nothing of it stays."""

from __future__ import annotations

import pytest
import torch

from tests.cuda_interpreted.interpreting import interpreted

pytestmark = pytest.mark.slow


def _state() -> dict[str, object]:
    """Return all that the stub replaces."""
    import torch._dynamo.device_interface as device_interface

    state: dict[str, object] = {f"cuda.{name}": value for name, value in vars(torch.cuda).items() if callable(value)}
    state |= {f"interface {name}": value for name, value in device_interface.device_interfaces.items()}
    state["version"] = torch.version.cuda
    state["copy_"], state["getitem"] = torch.Tensor.copy_, torch.Tensor.__getitem__
    return state


@interpreted
def test_nothing_is_left_after_a_compile() -> None:
    """Functions of torch.cuda, Dynamo's interfaces and torch.Tensor's methods are the very same objects."""
    from torch._inductor.scheduler import has_triton

    before = _state()
    torch.compile(lambda x: x.softmax(-1))(torch.randn(4, 4))
    after = _state()
    assert {name for name in before if before[name] is not after.get(name)} == set()
    assert not torch.cuda.is_available()
    assert not has_triton()


@interpreted
def test_an_error_while_compiling_leaves_nothing_either() -> None:
    """The stub goes on the way out of an exception as well."""
    from compilefix.cuda_interpreted.gpus import gpu
    from compilefix.cuda_interpreted.surface import presented

    def fail() -> None:
        with presented(gpu("t4")):
            assert torch.cuda.is_available()
            assert torch.cuda.get_device_properties().name == "Tesla T4"
            assert torch.cuda.get_device_capability() == (7, 5)
            raise ValueError("inside")

    before = _state()
    with pytest.raises(ValueError, match="inside"):
        fail()
    after = _state()
    assert {name for name in before if before[name] is not after.get(name)} == set()


@interpreted
def test_the_named_gpu_decides() -> None:
    """TMA is offered on an H100 and not on an A100."""
    from torch.utils._triton import has_triton, has_triton_tma_device

    from compilefix.cuda_interpreted.gpus import gpu
    from compilefix.cuda_interpreted.surface import presented

    with presented(gpu("h100")):
        assert has_triton()
        assert has_triton_tma_device()
    with presented(gpu("a100")):
        assert has_triton()
        assert not has_triton_tma_device()
