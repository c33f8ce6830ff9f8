"""
The program kills the process that forked it.

Why: a fixture of the runner's tests.
What to do: nothing.
"""

import os
import signal

import torch

from compilefix.issue import Issue, Symptom

ISSUE = Issue(symptom=Symptom.WRONG_RESULT, stage="inductor")


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(2, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    os.kill(os.getppid(), signal.SIGKILL)
    return x + 1
