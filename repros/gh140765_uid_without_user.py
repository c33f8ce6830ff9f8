"""
A process whose uid has no entry in the password file cannot compile.

Why: the name of the cache folder contained getpass.getuser(), which raises KeyError for such a uid. Containers that run
under an arbitrary number have this. The program here stands in for one by answering os.getuid with an unused number.
What to do: upgrade; right in 2.13.0. On an affected release set TORCHINDUCTOR_CACHE_DIR, or USER, before the process
starts.
"""

import os
from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    culprit="runtime/default_cache_dir",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.11.0", fixed="2.13.0"),),
    requires=("linux",),
    matches=(r"uid not found|No username set in the environment",),
    references=(
        "https://github.com/pytorch/pytorch/issues/140765",
        "https://github.com/pytorch/pytorch/pull/160667",
        "https://github.com/pytorch/pytorch/pull/184208",
        "https://github.com/vllm-project/vllm/pull/44579",
    ),
)

NAMES = ("LOGNAME", "USER", "LNAME", "USERNAME")


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x * 140765.0


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    os.environ.pop("TORCHINDUCTOR_CACHE_DIR", None)
    return drive_workaround(f, x)


def drive_workaround(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    for name in NAMES:
        os.environ.pop(name, None)
    getuid = os.getuid
    os.getuid = lambda: 3_000_000_019
    try:
        return f(x)
    finally:
        os.getuid = getuid
