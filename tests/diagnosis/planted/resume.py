"""Code behind a graph break is compiled with a fault."""

import torch
from torch._dynamo import convert_frame

CULPRIT = "graph_break/resume"
_original = torch._dynamo.output_graph.OutputGraph._call_user_compiler


def call_user_compiler(self, gm, *rest):
    if self.root_tx.f_code.co_name.startswith("torch_dynamo_resume_in_"):
        for node in gm.graph.nodes:
            if node.target is torch.cos:
                node.target = torch.sin
        gm.recompile()
    return _original(self, gm, *rest)


torch._dynamo.output_graph.OutputGraph._call_user_compiler = call_user_compiler
assert convert_frame


def inputs():
    return (torch.linspace(-4, 4, 16),)


def program(x):
    y = torch.sin(x)
    torch._dynamo.graph_break()
    return torch.cos(y)
