"""Probabilities are checked in compiled code as well."""

from __future__ import annotations

import pytest
import torch

from compilefix import ops

CHECKED = ops.spec("bernoulli").strategies["checked"]


@pytest.mark.parametrize("wrong", [1.5, -0.25, float("nan")])
def test_a_probability_out_of_range_is_an_error(wrong: float) -> None:
    """With upstream's message, compiled and not."""
    p = torch.tensor([0.25, wrong])
    torch._dynamo.reset()
    for op in (torch.bernoulli, CHECKED, torch.compile(CHECKED, backend="aot_eager", fullgraph=True)):
        with pytest.raises(RuntimeError, match="p_in >= 0 && p_in <= 1"):
            op(p)


@pytest.mark.slow
def test_inductor_keeps_the_check() -> None:
    """Although nothing is done with the probabilities afterwards."""
    torch._dynamo.reset()
    compiled = torch.compile(lambda p: CHECKED(p) + 1, fullgraph=True)
    assert compiled(torch.tensor([0.0, 1.0])).tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError):
        compiled(torch.tensor([0.0, 1.5]))


def test_draws_are_those_of_upstream() -> None:
    """The same random numbers are used, with a tensor and with a number."""
    p = torch.full((100,), 0.5, dtype=torch.float64)
    for arguments in ((p,), (p, 0.25)):
        torch.manual_seed(3)
        want = torch.bernoulli(*arguments)
        torch.manual_seed(3)
        got = CHECKED(*arguments)
        assert torch.equal(got, want)
        assert got.dtype == torch.float64


def test_integers_are_refused() -> None:
    """As upstream does outside of compiled code."""
    for op in (torch.bernoulli, CHECKED):
        with pytest.raises(RuntimeError):
            op(torch.zeros(2, dtype=torch.int64))


def test_the_gradient_is_zero() -> None:
    """Plainly, by `torch.func.grad`, in compiled code and for a batch."""
    p = torch.tensor([0.0, 1.0], requires_grad=True)
    CHECKED(p).sum().backward()
    assert p.grad is not None
    assert p.grad.tolist() == [0.0, 0.0]

    def gradient(x: torch.Tensor) -> torch.Tensor:
        return torch.func.grad(lambda y: CHECKED(y).sum())(x)

    torch._dynamo.reset()
    for f in (gradient, torch.compile(gradient, backend="aot_eager", fullgraph=True)):
        assert f(p.detach()).tolist() == [0.0, 0.0]
    mapped = torch.vmap(CHECKED, randomness="different")
    assert mapped(torch.eye(2)).tolist() == [[1.0, 0.0], [0.0, 1.0]]
