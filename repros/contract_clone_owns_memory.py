"""
Returning x.clone() is told to give the caller memory of its own; the clone can be removed.

Why: the result is copied back into an input, the write happens in the input's buffer, and both the copy and the clone
are dropped as no-ops. The caller gets the input itself.
What to do: clone after the compiled function has returned, or assemble the result with torch.cat.
"""

import torch

from compilefix.issue import Contract, Symptom

CONTRACT = Contract(
    statement="A tensor returned as .clone() shares no memory with the inputs.",
    holds=False,
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


def workaround(weights: torch.Tensor, patch: torch.Tensor) -> torch.Tensor:
    patched = torch.cat([weights[:5], patch, weights[7:]])
    weights.copy_(patched)
    return patched
