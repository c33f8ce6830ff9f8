"""
Returning a view of an input that overlaps another, written input raises AssertionError.

Why: AOTAutograd replaces the two overlapping inputs by one base. It recorded how to make the view of the second input,
and applies that to the base, whose start and shape are others. Where the shapes agree, the result is silently wrong.
What to do: make the view from the written input, or outside of the compiled function.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="aot_eager",
    culprit="aot_autograd/synthetic_base",
    devices=("cpu", "cuda"),
    ops=("select",),
    affected=(Affected(first_seen="2.4.1"),),
    matches=(r"incorrect out shape after application of ViewMeta sequence",),
    references=("https://github.com/pytorch/pytorch/issues/198095",),
    related=("gh139789",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(6.0, device=device).reshape(3, 2),)


def program(rows: torch.Tensor, later: torch.Tensor) -> torch.Tensor:
    rows.add_(10.0)
    return later[0]


def workaround(rows: torch.Tensor, later: torch.Tensor) -> torch.Tensor:
    rows.add_(10.0)
    return rows[1]


def drive(f: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], rows: torch.Tensor) -> torch.Tensor:
    return f(rows, rows[1:])
