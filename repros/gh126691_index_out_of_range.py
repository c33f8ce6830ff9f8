"""
An index out of range ends the process instead of raising once the compiled kernel runs on several threads.

Why: the generated C++ checks the index and throws, but inside an OpenMP parallel region. No exception may leave such a
region, so the runtime calls terminate (SIGABRT). On one thread the same check raises as it should.
What to do: check the indices before the compiled call. With torch._inductor.config.cpp.threads set to 1 the process
lives on and gets a RuntimeError.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.CRASH,
    stage="inductor",
    culprit="codegen/index",
    devices=("cpu",),
    ops=("Tensor.__getitem__",),
    affected=(Affected(first_seen="2.6.0"),),
    config={"torch._inductor.config.cpp.threads": 2},
    references=(
        "https://github.com/pytorch/pytorch/issues/126691",
        "https://github.com/pytorch/pytorch/issues/195402",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.ones(900, 64, device=device), torch.arange(100, 1000, device=device)


def program(table: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return table[rows] + 1.0


def drive_workaround(
    f: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], table: torch.Tensor, rows: torch.Tensor
) -> torch.Tensor:
    if rows.max() >= len(table):
        raise IndexError(f"index {int(rows.max())} is out of bounds for {len(table)} rows")
    return f(table, rows)
