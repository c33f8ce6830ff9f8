"""A decomposition is wrong."""

import torch
from torch._inductor import decomposition

CULPRIT = "decomposition/hardswish"

for table in (decomposition.decompositions, decomposition.fast_random_decomps()):
    table[torch.ops.aten.hardswish.default] = lambda x: x * (x + 3).clamp(0, 5) / 6


def inputs():
    return (torch.linspace(-4, 4, 32),)


def program(x):
    y = torch.sin(x)
    return torch.nn.functional.hardswish(y * 3).cos()
