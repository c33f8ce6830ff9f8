"""
interpolate(mode="nearest") with a scale factor resamples a dimension whose size does not change.

Why: plain CPU code copies a dimension when input and output size agree. The decomposition divides the output index by
the given factor even then, so a factor of 1.3 on three rows picks rows 0, 0, 1 instead of 0, 1, 2.
What to do: pass size=(...) instead of scale_factor=.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="aot_eager",
    culprit="decomposition/upsample_nearest2d",
    ops=("nn.functional.interpolate",),
    affected=(Affected(first_seen="2.6.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/175154",
        "https://github.com/pytorch/pytorch/issues/198201",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(15.0, device=device).reshape(1, 1, 3, 5),)


def program(image: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.interpolate(image, scale_factor=(1.3, 2.4), mode="nearest")


def workaround(image: torch.Tensor) -> torch.Tensor:
    height, width = int(image.shape[2] * 1.3), int(image.shape[3] * 2.4)
    return torch.nn.functional.interpolate(image, size=(height, width), mode="nearest")
