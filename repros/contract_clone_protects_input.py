"""
A .clone() taken inside the compiled function is told to be a safe snapshot; later in-place writes reach it.

Why: while the graph is functional a clone looks like a no-op and goes. When writes are put in place afterwards, the
snapshot and the tensor that is written are the same buffer.
What to do: clone outside the compiled code, such as in a function under torch.compiler.disable. A graph break right
after the clone does not help.
"""

import torch

from compilefix.issue import Affected, Contract, Symptom, Truth

CONTRACT = Contract(
    statement="A .clone() keeps its values when the original is written later.",
    truth=Truth.HOLDS,
    differs=(Affected(first_seen="2.6.0"),),
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="post_grad_passes/reinplace_inplaceable_ops",
    ops=("clone", "Tensor.index_fill_", "Tensor.clamp_"),
    references=("https://github.com/pytorch/pytorch/issues/198094",),
    related=("gh198094", "gh197829", "gh198031", "contract-clone-owns-memory"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(9.0, device=device), torch.tensor([2, 7], device=device)


def program(levels: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    levels.index_fill_(0, positions, 40.0)
    snapshot = levels.clone()
    levels.clamp_(max=5.0)
    return snapshot


def claim(levels: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    before = torch.tensor([0.0, 1.0, 40.0, 3.0, 4.0, 5.0, 6.0, 40.0, 8.0], device=levels.device)
    levels.copy_(before.clamp(max=5.0))
    return before


@torch.compiler.disable
def copy_of(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def workaround(levels: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    levels.index_fill_(0, positions, 40.0)
    snapshot = copy_of(levels)
    levels.clamp_(max=5.0)
    return snapshot
