"""
The second forward-mode derivative of a function with trace(m) * eye(n) dies of SIGSEGV when compiled.

Why: forward-mode autograd represents a tangent that is zero by a tensor without memory. The generated code keeps it as
a buffer (_efficientzerotensor) and its next kernel works on the null pointer.
What to do: upgrade; right in 2.14.1. On an affected release keep the derivative out of the compiled region with
torch.compiler.disable; rewriting the trace does not help.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.CRASH,
    stage="inductor",
    culprit="codegen/efficientzerotensor",
    devices=("cpu",),
    ops=("func.jacfwd", "trace", "eye"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.13.0", fixed="2.14.1"),),
    references=("https://github.com/pytorch/pytorch/issues/190856",),
    related=("gh197067",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([[2.0, 0.5], [0.25, 3.0]], device=device),)


def shifted(m: torch.Tensor) -> torch.Tensor:
    return (m + torch.trace(m) * torch.eye(2, device=m.device)).reciprocal().sum()


def program(m: torch.Tensor) -> torch.Tensor:
    return torch.func.jacfwd(torch.func.jacfwd(shifted))(m)


def workaround(m: torch.Tensor) -> torch.Tensor:
    return torch.compiler.disable(torch.func.jacfwd(torch.func.jacfwd(shifted)))(m)
