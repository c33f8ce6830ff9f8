"""Keep a graph that differs: a program that runs with torch alone, and its inputs beside it."""

from __future__ import annotations

import hashlib
import re
import textwrap
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from compilefix.oracle.twins import size_of, twins
from compilefix.outcome import Difference
from compilefix.report.interface import describe

PROGRAM = "repro.py"
DATA = "data.pt"

TEMPLATE = '''"""
One graph of a compiled program that differs from its plain run.

{what}

torch {version}. Run this file to see both sides, or: python -m compilefix diagnose {program}:program
"""

from pathlib import Path

import torch
{imports}

DATA = Path(__file__).with_name("{data}")


class Graph(torch.nn.Module):
    """The graph as Dynamo captured it."""

    def __init__(self, attributes):
        super().__init__()
        for name, value in attributes.items():
            owner, _, last = name.rpartition(".")
            for part in owner.split(".") if owner else ():
                if not hasattr(self, part):
                    self.add_module(part, torch.nn.Module())
            setattr(self.get_submodule(owner), last, value)

{forward}

def load(device="cpu"):
    return torch.load(DATA, map_location=device, weights_only=False)
{names}

def inputs(device="cpu"):
    return tuple(load(device)["inputs"])


program = Graph(load()["attributes"])

if __name__ == "__main__":
    print("plain   ", program(*inputs()))
    print("compiled", torch.compile(program)(*inputs()))
'''


def name_of(graph: torch.fx.GraphModule, args: Sequence[Any]) -> str:
    """Return a name that is the same for the same graph on inputs of the same kind, in every process."""
    kinds = [f"{a.dtype}{tuple(a.shape)}" if isinstance(a, torch.Tensor) else repr(a) for a in args]
    return "graph-" + hashlib.sha256("\n".join([graph.code, *kinds]).encode()).hexdigest()[:10]


def keep(
    graph: torch.fx.GraphModule, args: Sequence[Any], differences: Sequence[Difference], root: Path, most: int
) -> tuple[Path, str | None]:
    """
    Write the program and its inputs into a folder of their own below `root`; return it and what is missing there.

    Inputs of more than `most` bytes in all are left out. Raises `OSError` where nothing can be written.
    """
    folder = root / name_of(graph, args)
    folder.mkdir(parents=True, exist_ok=True)
    code = graph.graph.python_code("self")
    used = set(re.findall(r"\w+", code.src))
    imports, extra = _imports({name: value for name, value in code.globals.items() if name in used})
    missing = None
    data: dict[str, Any] = {"attributes": _attributes(graph), "names": extra}
    if size_of(args) <= most:
        data["inputs"] = twins(args)
    else:
        missing = f"its inputs of {size_of(args):,} bytes were not kept (keep_bytes={most:,})"
    try:
        torch.save(data, folder / DATA)
    except Exception as error:  # a closure, a lock, a generator: pickle has many ways to refuse
        missing = f"its inputs cannot be saved: {type(error).__name__}: {error}"
    text = TEMPLATE.format(
        what="\n".join(describe(d) for d in differences) + (f"\n\nMissing: {missing}." if missing else ""),
        version=torch.__version__,
        program=PROGRAM,
        data=DATA,
        imports="\n".join(sorted(imports)),
        names='\n\nglobals().update(load()["names"])\n' if extra else "",
        forward=textwrap.indent(code.src.strip(), "    ") + "\n",
    )
    (folder / PROGRAM).write_text(text, encoding="utf-8")
    return folder, missing


def _attributes(graph: torch.fx.GraphModule) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for node in graph.graph.nodes:
        if node.op in ("get_attr", "call_module"):
            value: Any = graph
            for part in str(node.target).split("."):
                value = getattr(value, part)
            found[str(node.target)] = value
    return found


def _imports(names: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return import lines for the names that the code uses, and those for which there is none."""
    lines: list[str] = []
    other: dict[str, Any] = {}
    for name, value in names.items():
        module, own = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
        if name == "torch":
            continue
        if isinstance(value, types.ModuleType):
            lines.append(f"import {value.__name__} as {name}")
        elif isinstance(value, float | int) or value is type(None):
            lines.append(f"{name} = {'type(None)' if value is type(None) else f'float({str(value)!r})'}")
        elif module and own and "." not in own and "<" not in own:
            lines.append(f"from {module} import {own} as {name}")
        else:
            other[name] = value
    return lines, other
