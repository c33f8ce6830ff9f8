"""
add_ through an expanded tensor raises; compiled code adds every element to the one place.

Why: several elements share a place, so the kernel raises RuntimeError. AOTAutograd makes the write functional and
sums over the expanded dimension: 1, 2 and 3 give 6.
What to do: clone before writing: x.expand(3).clone(). Do not rely on the error.
"""

import torch

from compilefix.issue import Affected, Contract, Symptom, Truth

CONTRACT = Contract(
    statement="An in-place write through an expanded tensor raises.",
    truth=Truth.HOLDS,
    differs=(Affected(first_seen="2.6.0"),),
    symptom=Symptom.MISSING_ERROR,
    stage="aot_eager",
    ops=("Tensor.expand", "Tensor.add_"),
    references=(
        "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.expand.html",
        "https://github.com/pytorch/pytorch/pull/114538",
    ),
    related=("contract-expanded-fill-refused", "gh183986"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.zeros(1, device=device), torch.tensor([1.0, 2.0, 3.0], device=device)


def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    wide = x.expand(3)
    wide.add_(y)
    return wide.clone()


def claim(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("more than one element of the written-to tensor refers to a single memory location")
