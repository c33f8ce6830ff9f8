"""
A batch of matrices copied into itself transposed comes out wrong on CUDA.

Why: the scheduler drops the dependency of the write on the transposed read of the same buffer and fuses both into one
kernel by reordering its loops. Blocks that end inside a matrix then overwrite elements that another block has yet to
read. The C++ path does not reorder and is right.
What to do: materialise the transposed values first and compile with
torch._inductor.config.loop_ordering_after_fusion=False, or write the result into a tensor of its own.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_ALIAS,
    stage="inductor",
    culprit="scheduler/loop_ordering_after_fusion",
    devices=("cuda",),
    ops=("Tensor.copy_", "Tensor.mT"),
    affected=(Affected(first_seen="2.13.0"),),
    workaround_config={"torch._inductor.config.loop_ordering_after_fusion": False},
    references=("https://github.com/pytorch/pytorch/issues/198280",),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return (torch.arange(1500.0, device=device).reshape(60, 5, 5),)


def program(x: torch.Tensor) -> torch.Tensor:
    x.copy_(x.mT * 3.0)
    return x + 1
