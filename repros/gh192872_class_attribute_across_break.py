"""
What was added to a list of a class defined in the function is lost at the next graph break.

Why: with enable_trace_load_build_class on, Dynamo traces the class body, but does not write changes of the class's own
objects back before plain Python goes on.
What to do: leave the setting off, or define the class outside.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="side_effects/sourceless_class_attribute",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.13.0"),),
    config={"torch._dynamo.config.enable_trace_load_build_class": True},
    workaround_config={"torch._dynamo.config.enable_trace_load_build_class": False},
    references=("https://github.com/pytorch/pytorch/issues/192872",),
    related=("gh128942",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    class Seen:
        names: list[str] = []  # noqa: RUF012

    Seen.names.append("before")
    x = x * 2.0
    torch._dynamo.graph_break()
    Seen.names.append("after")
    return x + len(Seen.names)
