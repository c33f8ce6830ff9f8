"""
LayerNorm, flatten and cumprod in one function compile for ever.

Why: the backward graph of the long running product, over an index that the flattening has turned into divisions and
remainders, is simplified for ever. Without gradients the function compiles at once.
What to do: upgrade; compiles in 2.13.0. On an affected release call cumprod in a function under torch.compiler.disable.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.HANG,
    stage="inductor",
    culprit="codegen/scan_of_flattened",
    devices=("cpu",),
    ops=("nn.functional.layer_norm", "flatten", "cumprod"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.11.0", fixed="2.13.0"),),
    limit=30.0,
    references=("https://github.com/pytorch/pytorch/issues/181638",),
    related=("gh148073",),
)


plain_cumprod = torch.compiler.disable(torch.cumprod)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (
        torch.linspace(-1.0, 1.0, 4096, device=device).reshape(8, 8, 8, 8),
        torch.ones(8, device=device, requires_grad=True),
        torch.zeros(8, device=device, requires_grad=True),
    )


def program(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    x = torch.nn.functional.layer_norm(x, (8,), weight, bias)
    return torch.cumprod(torch.flatten(x), 0)


def workaround(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    x = torch.nn.functional.layer_norm(x, (8,), weight, bias)
    return plain_cumprod(torch.flatten(x), 0)
