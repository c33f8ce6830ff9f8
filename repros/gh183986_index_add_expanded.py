"""
index_add on an expanded tensor adds every row into the one that is shared.

Why: the indexed write is done in place although all rows of an expanded tensor are the same memory, so what was meant
for one row appears in all of them.
What to do: call .contiguous() on the expanded tensor before the indexed op; right again in 2.14.1.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="post_grad_passes/reinplace_inplaceable_ops",
    devices=("cpu", "cuda"),
    ops=("index_add", "index_copy", "index_fill", "index_put"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.13.0", fixed="2.14.1"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/183986",
        "https://github.com/pytorch/pytorch/pull/184488",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.tensor([2, 0], device=device), torch.tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]], device=device)


def program(rows: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    base = torch.zeros(1, 3, device=values.device).expand(4, 3)
    return base.index_add(0, rows, values)


def workaround(rows: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    base = torch.zeros(1, 3, device=values.device).expand(4, 3).contiguous()
    return base.index_add(0, rows, values)
