"""
With the reinplacing pass turned off a snapshot taken inside the compiled function is safe.

Why: a clone or a scatter result changes afterwards because Inductor moves later writes into the same buffer. Without
that pass each of them has a buffer of its own, at the price of one copy.
What to do: set torch._inductor.config.disabled_passes to "reinplace_inplaceable_ops" (from 2.13.0 on).
"""

import torch

from compilefix.issue import Contract, Symptom, Truth

CONTRACT = Contract(
    statement="With reinplace_inplaceable_ops disabled, snapshots inside the compiled function keep their values.",
    truth=Truth.HOLDS,
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="post_grad_passes/reinplace_inplaceable_ops",
    ops=("clone", "select_scatter"),
    config={"torch._inductor.config.disabled_passes": "reinplace_inplaceable_ops"},
    related=("gh198094", "gh195451", "gh197829", "contract-clone-protects-input"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    table = torch.arange(12.0, device=device).reshape(4, 3)
    return table, torch.tensor([90.0, 91.0, 92.0], device=device), torch.tensor([3], device=device)


def program(table: torch.Tensor, row: torch.Tensor, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    edited = torch.select_scatter(table, row, dim=0, index=1)
    table.index_fill_(0, positions, -1.0)
    snapshot = table.clone()
    table.zero_()
    return edited, snapshot


def claim(table: torch.Tensor, row: torch.Tensor, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    edited = torch.cat([table[:1], row[None], table[2:]])
    snapshot = torch.cat([table[:3], table.new_full((1, 3), -1.0)])
    table.zero_()
    return edited, snapshot
