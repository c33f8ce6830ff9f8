"""Dynamo works out a call of Python's round() wrongly."""

import torch
from torch._dynamo.variables import builtin
from torch._dynamo.variables.constant import ConstantVariable

CULPRIT = "variables/round"
right = builtin.BuiltinVariable.call_function


def call_function(self, tx, args, kwargs):
    return ConstantVariable.create(7) if self.fn is round else right(self, tx, args, kwargs)


builtin.BuiltinVariable.call_function = call_function


def inputs():
    return torch.linspace(-4, 4, 16), 2.6


def program(x, factor):
    scaled = torch.sin(x) * max(factor, 1.0)
    return scaled + round(factor)
