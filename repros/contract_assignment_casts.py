"""
x[index] = values wants values of x's dtype; compiled code converts them.

Why: index_put raises RuntimeError for another dtype. Inductor lowers it to a store, which converts. A slice, x[:2] =
values, is a copy_, which converts.
What to do: values.to(x.dtype). Code that only ever ran compiled raises when it runs plainly.
"""

import torch

from compilefix.issue import Affected, Contract, Symptom, Truth

CONTRACT = Contract(
    statement="x[index] = values casts values of another dtype.",
    truth=Truth.DOES_NOT_HOLD,
    differs=(Affected(first_seen="2.6.0"),),
    symptom=Symptom.MISSING_ERROR,
    ops=("Tensor.__setitem__",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html",),
    related=("contract-scatter-casts-src",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (
        torch.zeros(3, device=device),
        torch.tensor([2, 0], device=device),
        torch.tensor([1.5, 2.5], dtype=torch.float64, device=device),
    )


def program(x: torch.Tensor, index: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    x[index] = values
    return x + 1.0


def claim(x: torch.Tensor, index: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    x.copy_(torch.tensor([2.5, 0.0, 1.5], device=x.device))
    return x + 1.0
