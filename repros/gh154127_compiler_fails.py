"""
Without a working C++ compiler the first compiled call on a CPU raises.

Why: for a CPU, Inductor writes C++ and calls g++, or the program that CXX names. It does not fall back to plain code
when that is missing or broken. The record stands for such a machine by naming a compiler that always fails.
What to do: install g++ or point CXX at one. Where there is none, backend="aot_eager" needs no compiler, and with
torch._dynamo.config.suppress_errors the function runs plainly.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    culprit="cpp_builder/no_compiler",
    devices=("cpu",),
    affected=(Affected(first_seen="2.6.0"),),
    config={"torch._inductor.config.cpp.cxx": ("/bin/false",)},
    workaround_config={"torch._dynamo.config.suppress_errors": True},
    requires=("linux",),
    matches=(r"InvalidCxxCompiler|No working C\+\+ compiler found|(?s:C\+\+ compile error.*No such file)",),
    references=(
        "https://github.com/pytorch/pytorch/issues/154127",
        "https://github.com/pytorch/pytorch/issues/157458",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x * 154127.0 + 0.5
