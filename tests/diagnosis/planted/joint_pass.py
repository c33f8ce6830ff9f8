"""A pass over the joint graph drops a negation."""

import torch
from torch._inductor.fx_passes import joint_graph

CULPRIT = "joint_graph_passes/constant_fold_uniform_value"
_original = joint_graph.constant_fold_uniform_value


def constant_fold_uniform_value(gm):
    _original(gm)
    for node in gm.graph.nodes:
        if node.target is torch.ops.aten.neg.default:
            node.replace_all_uses_with(node.args[0])
    gm.graph.eliminate_dead_code()


joint_graph.constant_fold_uniform_value = constant_fold_uniform_value


def inputs():
    return (torch.linspace(-4, 4, 32, requires_grad=True),)


def program(x):
    return torch.sin(torch.neg(x)) * 2
