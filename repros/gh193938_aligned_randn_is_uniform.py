"""
With random numbers aligned to eager, a compiled randn on CUDA draws from 0 to 1 instead of a normal distribution.

Why: the lowering for align_random_eager emits the uniform generator whatever distribution was asked for.
What to do: torch._inductor.config.align_random_eager=False, or torch 2.15.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="lowerings/inductor_random",
    devices=("cuda",),
    ops=("randn", "randn_like"),
    affected=(Affected(first_seen="2.13.0", last_seen="2.14.1", fixed="2.15.0"),),
    random=True,
    config={"torch._inductor.config.align_random_eager": True},
    workaround_config={"torch._inductor.config.align_random_eager": False},
    references=("https://github.com/pytorch/pytorch/issues/193938",),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return (torch.zeros(48, 50, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.randn_like(x) + x


def drive(f: Callable[..., torch.Tensor], x: torch.Tensor) -> dict[str, bool]:
    drawn = f(x)
    return {"some are negative": bool((drawn < 0).any()), "some are above two": bool((drawn > 2).any())}
