"""What a kernel comes from, lines of the user's program and operators, written into the comment above it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import torch._inductor.codegen.triton as triton_code
from torch._inductor import utils

from compilefix.cuda_interpreted.kernels import MARK

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in [^\n]*\n\s*(?P<code>[^\n]*)')


def of_trace(trace: str) -> str | None:
    """Return the innermost frame of a stack trace in the form ``file.py:12 code``."""
    frames = list(_FRAME.finditer(trace))
    return f"{Path(frames[-1]['file']).name}:{frames[-1]['line']} {frames[-1]['code'].strip()}" if frames else None


def of_node(node: Any) -> str | None:
    """
    Return the line that a node of the graph comes from.

    A node that a pass of Inductor has made has none; then it is that of what it reads or of what reads it.
    """
    near = [node, *node.all_input_nodes, *node.users]
    lines = (of_trace(n.meta.get("stack_trace") or "") for n in near)
    return next((line for line in lines if line is not None), None)


def operator(node: Any) -> str:
    """Return the ATen operator of a node, as it was before decomposition where that is known."""
    original = node.meta.get("original_aten")
    return str(getattr(original or node.target, "_overloadpacket", original or node.target))


def install() -> None:
    """Write the lines into the wrappers of this process."""
    described = vars(triton_code)["get_kernel_metadata"]

    def with_lines(nodes: Any, wrapper: Any) -> tuple[str, str]:
        short, detailed = described(nodes, wrapper)
        origins = [n for n in utils.aggregate_origins(nodes) if n.op == "call_function"]
        lines = sorted({line for node in origins if (line := of_node(node)) is not None})
        ops = sorted({operator(node) for node in origins})
        return f"{short}\n{MARK}{json.dumps({'lines': lines, 'ops': ops})}", detailed

    vars(triton_code)["get_kernel_metadata"] = with_lines
