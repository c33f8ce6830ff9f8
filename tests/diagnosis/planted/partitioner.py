"""The cut between forward and backward saves the wrong value."""

import torch
from torch._dynamo.backends import debugging
from torch._functorch import partitioners
from torch._inductor import compile_fx

CULPRIT = "partitioner/min_cut"
_original = partitioners.min_cut_rematerialization_partition


def cut(joint, *args, **kwargs):
    for node in joint.graph.nodes:
        if node.target is torch.ops.aten.cos.default:
            node.target = torch.ops.aten.sin.default
    joint.recompile()
    return _original(joint, *args, **kwargs)


for owner in (partitioners, compile_fx, debugging):
    owner.min_cut_rematerialization_partition = cut


def inputs():
    return (torch.linspace(-4, 4, 16, requires_grad=True),)


def program(x):
    return torch.sin(x) * 3
