"""
InstanceNorm2d, flatten and BatchNorm1d in one function fail with an AssertionError of the code generator.

Why: the scheduler fuses a loop over rows and columns with one over their product, and the C++ generator then finds a
loop nest other than the one it has opened.
What to do: put torch._dynamo.graph_break() between the two norms.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    culprit="codegen/cpp_loop_nest",
    devices=("cpu",),
    ops=("nn.InstanceNorm2d", "flatten", "nn.BatchNorm1d"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.11.0", fixed="2.13.0"),),
    matches=(r"AssertionError: unexpected group",),
    references=(
        "https://github.com/pytorch/pytorch/issues/183370",
        "https://github.com/pytorch/pytorch/issues/181266",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(31)
    return (
        torch.randn(8, 7, 3, 3, generator=generator).to(device),
        torch.ones(63, device=device, requires_grad=True),
        torch.zeros(63, device=device, requires_grad=True),
    )


def program(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    x = torch.nn.functional.instance_norm(x)
    x = torch.flatten(x, start_dim=1).exp()
    return torch.nn.functional.batch_norm(x, torch.zeros(63), torch.ones(63), weight, bias)


def workaround(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    x = torch.nn.functional.instance_norm(x)
    torch._dynamo.graph_break()
    x = torch.flatten(x, start_dim=1).exp()
    return torch.nn.functional.batch_norm(x, torch.zeros(63), torch.ones(63), weight, bias)
