"""
An operator that has to resize its out= tensor breaks the graph, also where the tensor is made inside the function.

Why: since 2.6.0 Dynamo leaves every out= call that changes the shape of its target to plain Python, because it cannot
update all references to the old shape. With fullgraph=True that is an error.
What to do: use what the operator returns, or give out= a tensor of the right shape.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.GRAPH_BREAK,
    stage="eager",
    culprit="graph_break/out_resize",
    devices=("cpu", "cuda"),
    ops=("all",),
    affected=(Affected(introduced="2.6.0"),),
    expects={"graph_breaks": 0},
    references=(
        "https://github.com/pytorch/pytorch/issues/145220",
        "https://github.com/pytorch/pytorch/pull/140202",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([[True, True, False], [True, True, True]], device=device),)


def program(mask: torch.Tensor) -> torch.Tensor:
    whole = torch.empty(0, dtype=torch.bool, device=mask.device)
    torch.all(mask, dim=1, out=whole)
    return ~whole


def workaround(mask: torch.Tensor) -> torch.Tensor:
    whole = torch.empty(2, dtype=torch.bool, device=mask.device)
    torch.all(mask, dim=1, out=whole)
    return ~whole
