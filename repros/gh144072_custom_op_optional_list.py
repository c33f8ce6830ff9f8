"""
A custom operator that writes into an optional list of tensors cannot be compiled.

Why: functionalisation knew how to copy tensors, optional tensors and lists of tensors that an operator writes into,
but no optional lists, and refused the whole operator.
What to do: upgrade; compiled in 2.8.0. On an affected release declare a list that is always given, and pass [].
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="aot_eager",
    culprit="functionalization/optional_mutable_list",
    devices=("cpu", "cuda"),
    ops=("library.define",),
    affected=(Affected(first_seen="2.4.1", last_seen="2.6.0", fixed="2.8.0"),),
    matches=(r"Found a custom \(non-ATen\) operator whose output has alias annotations",),
    references=("https://github.com/pytorch/pytorch/issues/144072",),
)


NAME, PLAIN = "compilefix::gh144072_add", "compilefix::gh144072_plain"


def add_to(total: torch.Tensor, log: list[torch.Tensor] | None, x: torch.Tensor) -> None:
    total.add_(x)
    for target in log or ():
        target.add_(1.0)


def add_nothing(total: torch.Tensor, log: list[torch.Tensor] | None, x: torch.Tensor) -> None:
    return None


if not hasattr(torch.ops.compilefix, "gh144072_add"):  # a process may load this file more than once
    torch.library.define(NAME, "(Tensor(a!) total, Tensor(b!)[]? log, Tensor x) -> ()")
    torch.library.impl(NAME, "default", add_to)
    torch.library.register_fake(NAME, add_nothing)
    torch.library.define(PLAIN, "(Tensor(a!) total, Tensor(b!)[] log, Tensor x) -> ()")
    torch.library.impl(PLAIN, "default", add_to)
    torch.library.register_fake(PLAIN, add_nothing)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.zeros(2, device=device), torch.ones(2, device=device)


def program(total: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    torch.ops.compilefix.gh144072_add(total, None, x * 2.0)
    return total + 1.0


def workaround(total: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    torch.ops.compilefix.gh144072_plain(total, [], x * 2.0)
    return total + 1.0
