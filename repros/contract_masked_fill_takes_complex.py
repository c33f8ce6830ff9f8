"""
masked_fill refuses a value that its dtype cannot hold.

Why: a complex value raises RuntimeError for a real tensor, compiled code TorchRuntimeError; a float for an integer
tensor is truncated.
What to do: torch.where(mask, value, x), which promotes.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="masked_fill takes a value of any dtype.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("Tensor.masked_fill",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill_.html",),
    related=("contract-masked-fill-promotes",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.tensor([4.0, 5.0, 6.0], device=device), torch.tensor([True, False, True], device=device)


def program(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return x.masked_fill(mask, 1j)


def claim(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.tensor([1j, 5.0, 1j], device=x.device)
