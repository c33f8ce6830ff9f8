"""
With backend="aot_eager", set_default_dtype inside the function does not change what is made after it.

Why: AOTAutograd traces the graph with the call but keeps ops without a dtype as they are, and runs none of the calls
later. The backends behind it, Inductor among them, write the dtype out and are right.
What to do: name the dtype, as in torch.ones(2, dtype=torch.float64), or set the default outside.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="aot_eager",
    culprit="aot_autograd/set_default_dtype",
    devices=("cpu", "cuda"),
    ops=("set_default_dtype", "ones"),
    affected=(Affected(first_seen="2.4.1"),),
    references=("https://github.com/pytorch/pytorch/issues/184405",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1, 2], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    torch.set_default_dtype(torch.float64)
    wide = torch.ones(2, device=x.device)
    torch.set_default_dtype(torch.float32)
    return x * wide


def workaround(x: torch.Tensor) -> torch.Tensor:
    return x * torch.ones(2, device=x.device, dtype=torch.float64)
