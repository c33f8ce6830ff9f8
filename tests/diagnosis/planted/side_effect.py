"""What compiled code appends to a list is lost."""

import torch
from torch._dynamo import side_effects

CULPRIT = "side_effects/list.append"
side_effects.SideEffects.codegen_update_mutated = lambda self, *args, **kwargs: None
seen = []


def inputs():
    return (torch.linspace(-4, 4, 16),)


def program(x):
    y = torch.sin(x)
    seen.append(len(x))
    return y + 1
