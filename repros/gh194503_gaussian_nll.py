"""
gaussian_nll_loss cannot be captured in one graph.

Why: it validates its variance with a Python branch on a tensor, which Dynamo cannot trace; with fullgraph=True that is
an error.
What to do: write the loss out, with the variance clamped; see the workaround.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.GRAPH_BREAK,
    stage="eager",
    culprit="graph_break/data_dependent_branch",
    devices=("cpu", "cuda"),
    ops=("nn.functional.gaussian_nll_loss",),
    affected=(Affected(first_seen="2.6.0"),),
    expects={"graph_breaks": 0},
    references=("https://github.com/pytorch/pytorch/issues/194503",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    mean = torch.linspace(-1.0, 1.0, 6, device=device)
    return mean, mean.flip(0), torch.full((6,), 0.5, device=device)


def program(mean: torch.Tensor, target: torch.Tensor, variance: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.gaussian_nll_loss(mean, target, variance)


def workaround(mean: torch.Tensor, target: torch.Tensor, variance: torch.Tensor) -> torch.Tensor:
    variance = variance.clamp(min=1e-6)
    return 0.5 * (variance.log() + (mean - target) ** 2 / variance).mean()
