"""
A scatter result that is also copied back into its input comes back as the input itself.

Why: the scatter is done in the input's buffer and the copy back is dropped as a no-op, so the buffer that is returned
is the one the caller passed in. Writing into the result later changes the input too.
What to do: assemble the result with torch.cat or torch.where instead of a scatter, or clone it outside the compiled
function. A .clone() inside is removed.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_ALIAS,
    stage="inductor",
    culprit="post_grad_passes/reinplace_inplaceable_ops",
    ops=("slice_scatter",),
    affected=(Affected(first_seen="2.6.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/195451",
        "https://github.com/pytorch/pytorch/pull/195484",
    ),
    related=("gh198094", "gh197408", "contract-clone-owns-memory"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(7.0, device=device), torch.tensor([-1.0, -2.0, -3.0], device=device)


def program(weights: torch.Tensor, patch: torch.Tensor) -> torch.Tensor:
    patched = torch.slice_scatter(weights, patch, dim=0, start=1, end=4)
    weights.copy_(patched)
    return patched


def workaround(weights: torch.Tensor, patch: torch.Tensor) -> torch.Tensor:
    patched = torch.cat([weights[:1], patch, weights[4:]])
    weights.copy_(patched)
    return patched
