"""
Reordering an OrderedDict with move_to_end inside a compiled function is lost.

Why: the trace moves its own copy of the key, but nothing marks the caller's dict as changed, so no code is emitted
that would put the real one into the new order. A cache that evicts its oldest entry then evicts the wrong one.
What to do: take the entry out and put it back: cache[key] = cache.pop(key).
"""

from collections import OrderedDict
from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="side_effects/move_to_end",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.9.1"),),
    references=("https://github.com/pytorch/pytorch/issues/198189",),
    related=("gh169253", "gh197896"),
)


def inputs(device: str) -> tuple[object, ...]:
    return OrderedDict(first=3, second=2, third=1), torch.tensor([1.0, 2.0], device=device)


def program(cache: OrderedDict[str, int], x: torch.Tensor) -> torch.Tensor:
    cache.move_to_end("first")
    return x * cache["first"]


def workaround(cache: OrderedDict[str, int], x: torch.Tensor) -> torch.Tensor:
    cache["first"] = cache.pop("first")
    return x * cache["first"]


def drive(f: Callable[..., torch.Tensor], cache: OrderedDict[str, int], x: torch.Tensor) -> list[object]:
    return [f(cache, x), list(cache)]
