"""
A masked gather with dynamic shapes ends in a C++ compile error: the bounds check uses an index before it is declared.

Why: the check is placed among the loads, while the index expression it names was already computed, and stays, among
the statements behind them.
What to do: upgrade; right in 2.13.0. On an affected release set torch._inductor.config.assert_indirect_indexing to
False.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    culprit="codegen/check_bounds",
    devices=("cpu",),
    ops=("Tensor.__getitem__", "arange", "where"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.12.0", fixed="2.13.0"),),
    matches=(r"CppCompileError", r"'tmp\d+' was not declared in this scope"),
    compile={"dynamic": True},
    workaround_config={"torch._inductor.config.assert_indirect_indexing": False},
    references=(
        "https://github.com/pytorch/pytorch/issues/187335",
        "https://github.com/pytorch/pytorch/issues/178244",
        "https://github.com/pytorch/pytorch/pull/180212",
    ),
)

Function = Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]


def program(valid: torch.Tensor, scores: torch.Tensor, last: int) -> torch.Tensor:
    position = torch.arange(scores.shape[0], device=scores.device)
    seen = (position <= last) & valid[position]
    return torch.where(seen, scores, torch.full_like(scores, -50.0))


def drive(f: Function) -> list[torch.Tensor]:
    return [f(torch.arange(size + 2) % 2 == 0, torch.linspace(-1.0, 1.0, size), size // 2) for size in (11, 17, 26)]
