"""A pass before autograd replaces a function by another one."""

import torch
from torch._inductor.fx_passes import pre_grad

CULPRIT = "pre_grad_passes/group_batch_fusion_passes"


def group_batch_fusion_passes(graph, pre_grad=True):
    for node in graph.nodes:
        if node.target is torch.sigmoid:
            node.target = torch.tanh


pre_grad.group_batch_fusion_passes = group_batch_fusion_passes


def inputs():
    return (torch.linspace(-4, 4, 16),)


def program(x):
    return torch.sigmoid(torch.sin(x))
