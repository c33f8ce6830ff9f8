"""
A list argument that grows by one tensor a call compiles the function again every time.

Why: Dynamo guards on the length of a list, and lengths are never made dynamic as tensor sizes are. After
recompile_limit compiles it gives up and runs plainly; with fullgraph=True it raises.
What to do: stack the list into one tensor before the call; after one more compile its size is dynamic.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.RECOMPILE,
    stage="eager",
    culprit="guards/list_length",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.9.1"),),
    expects={"recompiles": 1},
    references=("https://github.com/pytorch/torchdynamo/issues/330",),
)

History = list[torch.Tensor] | torch.Tensor


def program(history: History) -> torch.Tensor:
    total = history[0] * 0.0
    for row in history:
        total = total + row
    return total


def workaround(history: torch.Tensor) -> torch.Tensor:
    return history.sum(0)


def drive(f: Callable[[History], torch.Tensor]) -> list[torch.Tensor]:
    rows = torch.arange(8.0).reshape(4, 2)
    return [f(list(rows[:count])) for count in range(2, 5)]


def drive_workaround(f: Callable[[History], torch.Tensor]) -> list[torch.Tensor]:
    rows = torch.arange(8.0).reshape(4, 2)
    return [f(rows[:count]) for count in range(2, 5)]
