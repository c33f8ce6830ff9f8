"""
Random tensors are drawn in another order than the program says, although fallback_random is on.

Why: the scheduler orders the draws by who needs the data, and with one common generator the order decides the
numbers.
What to do: upgrade; right in 2.13.0. On an affected release draw all random tensors before the compiled function.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="scheduler/random_order",
    devices=("cpu", "cuda"),
    ops=("randn", "rand"),
    config={"torch._inductor.config.fallback_random": True},
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/181136",
        "https://github.com/pytorch/pytorch/pull/181245",
    ),
    related=("gh193938",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.zeros(2, 4, 4, 4, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    noise = torch.randn_like(x)
    image = torch.randn(2, 3, 4, 4, device=x.device)
    kernel = torch.randn(4, 3, 3, 3, device=x.device)
    return x + noise + torch.nn.functional.conv2d(image, kernel, padding=1)


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(4)
    return f(x)
