"""
A compiled kernel that reads a ZeroTensor, such as the gradient of sgn, dies of SIGSEGV.

Why: autograd represents some zero gradients by a tensor without memory. The generated C++ kernel takes its data
pointer, which is null.
What to do: give the tensor memory before the compiled call, for instance by adding torch.zeros(()) to it.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.CRASH,
    stage="inductor",
    culprit="codegen/zero_tensor_input",
    devices=("cpu",),
    ops=("sgn", "autograd.grad"),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/197067",),
)


def zero_gradient() -> torch.Tensor:
    x = torch.linspace(-2.0, 2.0, 5, requires_grad=True)
    return torch.autograd.grad(torch.sgn(x).sum(), x)[0]


def program(gradient: torch.Tensor) -> torch.Tensor:
    return gradient.cos() - gradient


def drive(f: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    return f(zero_gradient())


def drive_workaround(f: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    return f(zero_gradient() + torch.zeros(()))
