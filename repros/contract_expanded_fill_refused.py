"""
fill_ through an expanded tensor is allowed; compiled code writes the sum.

Why: filling several elements that share a place has one result, so fill_ and zero_ check nothing. AOTAutograd makes
the write functional and sums over the expanded dimension: 4 becomes 12.
What to do: fill the tensor that was expanded, or clone before writing.
"""

import torch

from compilefix.issue import Affected, Contract, Symptom, Truth

CONTRACT = Contract(
    statement="fill_ through an expanded tensor raises, as add_ does.",
    truth=Truth.DOES_NOT_HOLD,
    differs=(Affected(first_seen="2.6.0"),),
    symptom=Symptom.WRONG_RESULT,
    stage="aot_eager",
    ops=("Tensor.expand", "Tensor.fill_"),
    references=(
        "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.expand.html",
        "https://github.com/pytorch/pytorch/issues/197448",
    ),
    related=("contract-expanded-write-refused", "gh183986"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.zeros(1, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    wide = x.expand(3)
    wide.fill_(4.0)
    return wide.clone()


def claim(x: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("more than one element of the written-to tensor refers to a single memory location")


def workaround(x: torch.Tensor) -> torch.Tensor:
    x.fill_(4.0)
    return x.expand(3).clone()
