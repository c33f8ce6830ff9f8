"""A post-grad pass turns a sine into a cosine."""

import torch
from torch._inductor.fx_passes import post_grad

CULPRIT = "post_grad_passes/remove_assert_ops"
_original = post_grad.remove_assert_ops


def remove_assert_ops(graph):
    _original(graph)
    for node in graph.nodes:
        if node.target is torch.ops.aten.sin.default:
            node.target = torch.ops.aten.cos.default


post_grad.remove_assert_ops = remove_assert_ops


def inputs():
    return (torch.linspace(-4, 4, 32),)


def program(x):
    return torch.sin(x) + torch.relu(x)
