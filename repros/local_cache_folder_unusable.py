"""
A cache folder that cannot be made ends every compiled call in an error.

Why: Inductor writes the code that it generates into TORCHINDUCTOR_CACHE_DIR, or into a folder under /tmp, and has no
way to work without; in 2.13.0 the partitioner before it looks there as well. Containers with a read-only file system
have this; a path behind a file stands for it here.
What to do: set TORCHINDUCTOR_CACHE_DIR to a folder that the process may write, such as one on a tmpfs.
"""

import os
import tempfile
from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="aot_eager_decomp_partition",
    culprit="runtime/cache_dir",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.6.0"),),
    requires=("linux",),
    matches=(r"Not a directory: '/dev/null",),
    references=("https://github.com/pytorch/pytorch/issues/140765",),
    related=("gh140765",),
)

Function = Callable[[torch.Tensor], torch.Tensor]


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x * 20261129.0 - 0.25


def drive(f: Function, x: torch.Tensor) -> torch.Tensor:
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = "/dev/null/cache"
    return f(x)


def drive_workaround(f: Function, x: torch.Tensor) -> torch.Tensor:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        return f(x)
