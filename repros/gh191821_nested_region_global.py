"""
nested_compile_region keeps the first value of a global that is rebound between its calls.

Why: the region is traced once and the result is used again for the following calls; that the global it reads is
another object by then is not checked.
What to do: pass the value to the region as an argument; right again in 2.14.1.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="higher_order_ops/invoke_subgraph",
    devices=("cpu", "cuda"),
    ops=("compiler.nested_compile_region",),
    affected=(Affected(first_seen="2.13.0", last_seen="2.13.0", fixed="2.14.1"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/191821",
        "https://github.com/pytorch/pytorch/pull/192006",
    ),
    requires=("torch.compiler.nested_compile_region",),
)


class Holder:
    def __init__(self, value: torch.Tensor) -> None:
        self.value = value


current = Holder(torch.zeros(2))


def make(device: str) -> Callable[[torch.Tensor], torch.Tensor]:
    @torch.compiler.nested_compile_region
    def double() -> torch.Tensor:
        return current.value * 2.0

    def program(x: torch.Tensor) -> torch.Tensor:
        global current
        for _ in range(3):
            current = Holder(x)
            x = double()
        return x

    return program


def make_workaround(device: str) -> Callable[[torch.Tensor], torch.Tensor]:
    @torch.compiler.nested_compile_region
    def double(value: torch.Tensor) -> torch.Tensor:
        return value * 2.0

    def program(x: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            x = double(x)
        return x

    return program


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, -3.0], device=device),)
