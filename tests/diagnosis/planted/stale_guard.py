"""Nothing guards a plain number in a global."""

import torch
from torch._dynamo.guards import GuardBuilder

CULPRIT = "guards"
GuardBuilder.CONSTANT_MATCH = lambda self, guard, *args, **kwargs: None
GuardBuilder.EQUALS_MATCH = lambda self, guard, *args, **kwargs: None
settings = {"rounds": 2}


def inputs():
    return (torch.linspace(-4, 4, 16),)


def program(x):
    for _ in range(settings["rounds"]):
        x = torch.sin(x)
    return x


def drive(f, x):
    first = f(x)
    settings["rounds"] = 4
    return first, f(x)
