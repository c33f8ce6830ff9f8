"""
A gradient hook on an intermediate result that crosses a graph break does not work.

Why: the outputs of one compiled graph are siblings to autograd, so the intermediate is no longer on the path from the
result to the input, and its hook gets None. A fix was proposed; no release measured so far behaves differently.
What to do: compute the intermediate and what depends on it outside the compiled region, or register the hook before
the value is used.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="aot_eager",
    culprit="aot_autograd/sibling_outputs",
    devices=("cpu", "cuda"),
    ops=("Tensor.register_hook",),
    affected=(Affected(first_seen="2.9.1"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/91468",
        "https://github.com/pytorch/pytorch/pull/186554",
    ),
    matches=(r"unsupported operand type\(s\) for \*: 'NoneType'",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 3.0], device=device, requires_grad=True),)


def program(x: torch.Tensor) -> torch.Tensor:
    middle = x.exp()
    result = middle * x
    torch._dynamo.graph_break()
    middle.register_hook(lambda gradient: gradient * 0.5)
    return result


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor | None:
    f(x).sum().backward()
    return x.grad
