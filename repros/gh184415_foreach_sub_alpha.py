"""
torch._foreach_sub forgets alpha.

Why: the lowering passes the two lists on and drops the keyword; the one for _foreach_add does not.
What to do: torch._foreach_add with the negative alpha, or torch 2.13.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    devices=("cpu", "cuda"),
    ops=("_foreach_sub",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.11.0", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/184415",),
)


def inputs(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.arange(4.0, device=device), torch.arange(5.0, 1.0, -1.0, device=device)


def program(a: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    return list(torch._foreach_sub([a], [b], alpha=3.0))


def workaround(a: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    return list(torch._foreach_add([a], [b], alpha=-3.0))
