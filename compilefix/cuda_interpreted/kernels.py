"""What a wrapper launches: its kernels, their loads and stores, and what they write in place. Pure."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

_ORIGIN = re.compile(r"# Topologically Sorted Source Nodes: \[(?P<nodes>.*?)\], Original ATen: \[(?P<ops>.*?)\]")
MARK = "# Comes from: "
"""Begins the comment that `lines` writes above a kernel: JSON with ``lines`` and ``ops``."""

_ACCESSES = ("load", "store", "atomic_add", "atomic_max", "atomic_min", "atomic_xchg")


@dataclass
class Kernel:
    """One generated kernel."""

    name: str
    source: str
    ops: list[str] = field(default_factory=list)
    """ATen operators that it computes."""

    lines: list[str] = field(default_factory=list)
    """Lines of the user's program, such as ``model.py:12 y = x.sin()``."""

    accesses: list[dict[str, Any]] = field(default_factory=list)
    """``line`` of the source, ``does`` (load, store, …), ``argument``, ``index``."""

    in_place: list[str] = field(default_factory=list)
    """Arguments that it reads and writes, or that Inductor says it mutates."""

    given: dict[str, str] = field(default_factory=dict)
    """What the wrapper gives for each tensor parameter, such as ``arg0_1`` (an input) or ``buf2``, at first launch."""

    launches: int = 0
    """Calls in the wrapper."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return asdict(self)


def kernels_of(wrapper: str) -> list[Kernel]:
    """Return the Triton kernels that the text of `wrapper` defines, in order."""
    tree = ast.parse(wrapper)
    lines = wrapper.splitlines()
    found: dict[str, Kernel] = {}
    last = 0
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=variable)],
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id="async_compile"), attr="triton"),
                    args=[ast.Constant(value=str(name)), ast.Constant(value=str(source)), *_],
                ),
            ):
                comments = lines[last : node.lineno]
                kernel = Kernel(name, source.strip("\n"))
                told = _told(comments)
                kernel.ops, kernel.lines = _origin(comments) or told["ops"], told["lines"]
                _describe(kernel)
                found[variable] = kernel
                last = node.end_lineno or node.lineno
    for call in ast.walk(tree):
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=variable), attr="run")) if variable in found:
                kernel = found[variable]
                kernel.launches += 1
                kernel.given = kernel.given or _given(kernel, call)
    return list(found.values())


def _origin(comments: list[str]) -> list[str]:
    origins = [m["ops"] for line in comments if (m := _ORIGIN.search(line))]
    return [op.strip() for op in origins[-1].split(",") if op.strip()] if origins else []


def _given(kernel: Kernel, call: ast.Call) -> dict[str, str]:
    functions = [n for n in ast.walk(ast.parse(kernel.source)) if isinstance(n, ast.FunctionDef)]
    names = [a.arg for f in functions if f.name == kernel.name for a in f.args.args]
    return {name: ast.unparse(value) for name, value in zip(names, call.args, strict=False) if "ptr" in name}


def _told(comments: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"lines": [], "ops": []}
    for comment in comments:
        if comment.startswith(MARK):
            found = json.loads(comment.removeprefix(MARK))
    return found


def externs_of(wrapper: str) -> list[str]:
    """Return the calls of `wrapper` that run no generated kernel, such as ``extern_kernels.bmm``, in order."""
    calls = [n for n in ast.walk(ast.parse(wrapper)) if isinstance(n, ast.Call)]
    names = [(n.lineno, ast.unparse(n.func)) for n in calls]
    return [name for _, name in sorted(names) if name.startswith(("extern_kernels.", "torch.ops.", "aten."))]


def _describe(kernel: Kernel) -> None:
    tree = ast.parse(kernel.source)
    kernel.accesses = sorted(_accesses(tree), key=lambda a: int(a["line"]))
    told = re.search(r"'mutated_arg_names': (\[.*?\])", kernel.source)
    mutated = list(ast.literal_eval(told[1])) if told else []
    read = {a["argument"] for a in kernel.accesses if a["does"] == "load"}
    both = [a["argument"] for a in kernel.accesses if a["does"] == "store" and a["argument"] in read]
    kernel.in_place = list(dict.fromkeys([*mutated, *both]))


def _accesses(tree: ast.AST) -> Iterator[dict[str, Any]]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr=does), args=[where, *_]):
                if does in _ACCESSES:
                    argument, index = _address(where)
                    yield {"line": node.lineno, "does": does, "argument": argument, "index": index}


def _address(where: ast.expr) -> tuple[str, str]:
    match where:
        case ast.BinOp(left=ast.Name(id=argument), op=ast.Add(), right=index):
            return argument, ast.unparse(index)
        case ast.Name(id=argument):
            return argument, "0"
        case _:
            return ast.unparse(where), ""
