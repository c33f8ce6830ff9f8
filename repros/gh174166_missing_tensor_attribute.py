"""
Catching the AttributeError of an attribute that a tensor lacks fails in compiled code.

Why: Dynamo asked the fake tensor for the attribute, and the AttributeError ended the tracing as an internal error
instead of reaching the except branch of the program.
What to do: upgrade; right in 2.13.0. On an affected release call hasattr first.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="eager",
    culprit="variables/tensor_attribute",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.4.1", last_seen="2.11.0", fixed="2.13.0"),),
    matches=(r"'Tensor' object has no attribute",),
    references=(
        "https://github.com/pytorch/pytorch/issues/174166",
        "https://github.com/pytorch/pytorch/pull/175474",
    ),
    related=("gh153605",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    try:
        scale = x.own_scale
    except AttributeError:
        scale = 3.0
    return x * scale


def workaround(x: torch.Tensor) -> torch.Tensor:
    return x * (x.own_scale if hasattr(x, "own_scale") else 3.0)
