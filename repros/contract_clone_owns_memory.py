"""
Returning x.clone() is told to give the caller memory of its own; the clone can be removed.

Why: the result is copied back into an input, the write happens in the input's buffer, and both the copy and the clone
are dropped as no-ops. The caller gets the input itself.
What to do: clone after the compiled function has returned, or assemble the result with torch.cat.
"""

import torch

from compilefix.issue import Affected, Contract, Symptom, Truth

CONTRACT = Contract(
    statement="A tensor returned as .clone() shares no memory with the inputs.",
    truth=Truth.HOLDS,
    differs=(Affected(first_seen="2.6.0"),),
    symptom=Symptom.WRONG_ALIAS,
    stage="inductor",
    culprit="post_grad_passes/remove_noop_ops",
    ops=("clone", "slice_scatter"),
    references=("https://github.com/pytorch/pytorch/issues/195451",),
    related=("gh195451", "contract-clone-protects-input"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(8.0, device=device), torch.tensor([-5.0, -6.0], device=device)


def program(weights: torch.Tensor, patch: torch.Tensor) -> torch.Tensor:
    patched = torch.slice_scatter(weights, patch, dim=0, start=5, end=7)
    weights.copy_(patched)
    return patched.clone()


def claim(weights: torch.Tensor, patch: torch.Tensor) -> torch.Tensor:
    weights[5:7] = patch
    return torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0, -5.0, -6.0, 7.0], device=weights.device)


def workaround(weights: torch.Tensor, patch: torch.Tensor) -> torch.Tensor:
    patched = torch.cat([weights[:5], patch, weights[7:]])
    weights.copy_(patched)
    return patched
