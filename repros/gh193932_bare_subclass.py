"""
An operator on a bare subclass of Tensor raises TypeError.

Why: a dispatch mode of AOTAutograd leaves every class that it does not know to that class's own __torch_dispatch__. A
subclass that only adds a name or attributes has none, and nobody is left to run the operator.
What to do: upgrade; right in 2.15.0. On an affected release take the plain tensor, x.as_subclass(torch.Tensor), first.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="aot_eager",
    culprit="custom_op_analysis/not_implemented",
    devices=("cpu", "cuda"),
    ops=("Tensor.as_subclass", "mm"),
    affected=(Affected(first_seen="2.11.0", last_seen="2.14.1", fixed="2.15.0"),),
    matches=(r"Multiple dispatch failed for",),
    references=(
        "https://github.com/pytorch/pytorch/issues/193932",
        "https://github.com/pytorch/pytorch/pull/193968",
    ),
)


class Image(torch.Tensor):
    pass


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(4.0, device=device).reshape(2, 2),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x @ x.t()


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    return f(x.as_subclass(Image))


def workaround(x: torch.Tensor) -> torch.Tensor:
    plain = x.as_subclass(torch.Tensor)
    return (plain @ plain.t()).as_subclass(Image)
