"""
The gradient of slice_scatter(...).sum(dim) is zero where it should be one.

Why: the incoming gradient is expanded, its copy was described with the expanded strides, and Inductor trusted that
description and left out the loop over the expanded dimension.
What to do: upgrade; right in 2.13.0. On an affected release put the pieces together with torch.cat.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_GRADIENT,
    stage="inductor",
    culprit="meta_registrations/slice_scatter",
    devices=("cpu", "cuda"),
    ops=("slice_scatter",),
    affected=(Affected(first_seen="2.9.1", last_seen="2.9.1", fixed="2.13.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/180164",
        "https://github.com/pytorch/pytorch/pull/180166",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    base = torch.arange(20.0, device=device).reshape(2, 5, 2)
    return base.requires_grad_(), torch.ones(2, 2, 2, device=device, requires_grad=True)


def program(base: torch.Tensor, patch: torch.Tensor) -> torch.Tensor:
    return torch.slice_scatter(base, patch, dim=1, start=1, end=3).sum(1)


def workaround(base: torch.Tensor, patch: torch.Tensor) -> torch.Tensor:
    return torch.cat([base[:, :1], patch, base[:, 3:]], 1).sum(1)
