"""
Operators with an overload for dimension names.

Why: named tensors were taken out between 2.11 and 2.13, with every overload that took a name. Code that names such an
overload, as back ends do to register a kernel for it, fails when it is imported.
What to do: ask first, as in getattr(torch.ops.aten.prod, "dim_Dimname", None), or drop the name.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="torch.ops.aten.prod has an overload dim_Dimname.",
    truth=Truth.DOES_NOT_HOLD,
    since="2.13.0",
    devices=("cpu", "cuda"),
    ops=("prod",),
    references=("https://github.com/vllm-project/tpu-inference/pull/3311",),
)


def names() -> bool:
    return "dim_Dimname" in torch.ops.aten.prod.overloads()


NAMED = names()


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(2, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x * 3.0 if NAMED else x


def claim(x: torch.Tensor) -> torch.Tensor:
    return x * 3.0
