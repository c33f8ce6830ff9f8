"""
appendleft to a full deque with maxlen, after an append to it, is lost.

Why: what happened to a deque from outside is written back by clearing and refilling it, from a list that was cut at the
wrong end.
What to do: keep a list, and cut it yourself.
"""

import collections
from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="side_effects/deque.appendleft",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/pull/139279",),
)

RECENT: collections.deque[torch.Tensor] = collections.deque(maxlen=2)
NEWEST: list[torch.Tensor] = []


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    RECENT.append(x * 2.0)
    RECENT.appendleft(x)
    return x + 1.0


def workaround(x: torch.Tensor) -> torch.Tensor:
    NEWEST[:] = [*NEWEST, x * 2.0][-2:]
    NEWEST[:] = [x, *NEWEST][:2]
    return x + 1.0


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> list[torch.Tensor]:
    f(x)
    f(x + 1.0)
    return list(RECENT)


def drive_workaround(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> list[torch.Tensor]:
    f(x)
    f(x + 1.0)
    return list(NEWEST)
