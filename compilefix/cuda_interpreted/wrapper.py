"""The wrapper that Inductor generates for CUDA, moved back to the CPU by parsing it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from compilefix.cuda_interpreted.problems import InterpreterLimitError

BUFFERS = "compilefix.cuda_interpreted.buffers"
_CUDA_WORD = re.compile(r"cuda(:\d+)?")
_STREAMS = frozenset({"get_raw_stream", "get_cuda_stream"})
_GUARDS = frozenset({"torch.cuda._DeviceGuard", "torch.cuda.device", "torch.cuda.stream"})
_STATEMENTS = frozenset({"torch.cuda.set_device", "torch.cuda.synchronize", "torch.cuda.set_stream"})
_DEVICES = frozenset({"device", "torch.device"})
_STUB_IMPORT = re.compile(r"_cuda_\w+")

Edit = tuple[ast.AST, str]


def moved_back(code: str) -> str:
    """
    Return the wrapper `code` with every device, guard, stream and buffer of CUDA in it replaced.

    Line numbers stay. Kernel sources, which are strings, are left as Inductor wrote them. Freshly allocated buffers are
    poisoned, and what a CPU kernel returned in another layout than the GPU's would be is laid out as the wrapper
    asserts. Raises `InterpreterLimitError` when something of CUDA is left that is not known here.
    """
    tree = ast.parse(code)
    edits = list(_edits(tree))
    moved = _apply(code, edits)
    if left := _left_over(ast.parse(moved)):
        raise InterpreterLimitError(f"the wrapper uses {left}")
    return moved


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return f"{_dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else "?"


def _edits(tree: ast.Module) -> Iterator[Edit]:
    for node in _outside_kernels(tree):
        match node:
            case ast.ImportFrom(names=[ast.alias(name=name)]) if _STUB_IMPORT.fullmatch(name):
                yield node, "pass"
            case ast.Attribute(attr="_empty_strided_cuda"):
                yield node, f'__import__("{BUFFERS}", fromlist=["poisoned"]).poisoned'
            case ast.Expr(value=ast.Call(func=function)) if _dotted(function) in _STATEMENTS:
                yield node, "pass"
            case ast.Call(func=function) if _dotted(function) in _DEVICES and _names_cuda(node):
                yield node, 'torch.device("cpu")'
            case ast.Call(func=function) if _dotted(function) in _STREAMS:
                yield node, "0"
            case ast.withitem(context_expr=ast.Call(func=function)) if _dotted(function) in _GUARDS:
                yield node.context_expr, '__import__("contextlib").nullcontext()'
            case ast.Constant(value=str(text)) if _CUDA_WORD.fullmatch(text):
                yield node, '"cpu"'
            case ast.FunctionDef():
                yield from _layouts(node)


def _names_cuda(call: ast.Call) -> bool:
    values = [*call.args, *(k.value for k in call.keywords)]
    return any(isinstance(v, ast.Constant) and _CUDA_WORD.fullmatch(str(v.value)) for v in values)


def _layouts(function: ast.FunctionDef) -> Iterator[Edit]:
    """Turn assertions on the layout of what a call returned into a change of layout; inputs stay asserted."""
    fresh: set[str] = set()
    given = {
        n.id
        for n in ast.walk(function)
        if isinstance(n, ast.Assign) and _dotted(n.value) == "args"
        for n in ast.walk(n.targets[0])
        if isinstance(n, ast.Name)
    }
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call | ast.Subscript | ast.Name):
            name = _dotted(node.targets[0])
            source = "" if isinstance(node.value, ast.Call) else _dotted(getattr(node.value, "value", node.value))
            if isinstance(node.value, ast.Call) or source in fresh:
                fresh.add(name)
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name(id="assert_size_stride"), args=[ast.Name(id=name), *_]):
                if name in fresh - given:
                    yield node.func, f'{name} = __import__("{BUFFERS}", fromlist=["laid_out"]).laid_out'


def _outside_kernels(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of `tree`, those inside calls that define kernels left out, and none below a replaced one."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        call = node if isinstance(node, ast.Call) else None
        if call is not None:
            name = _dotted(call.func)
            if name.startswith("async_compile.") or (name in _DEVICES and _names_cuda(call)) or name in _STREAMS:
                continue
        waiting += list(ast.iter_child_nodes(node))


def _apply(code: str, edits: list[Edit]) -> str:
    lines = code.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    raw = b"".join(lines)
    places = []
    for node, text in edits:
        begin = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        places.append((begin, end, text.encode()))
    for begin, end, new in sorted(places, reverse=True):
        newlines = raw[begin:end].count(b"\n")
        raw = raw[:begin] + new + b"\n" * newlines + raw[end:]
    return raw.decode()


def _left_over(tree: ast.AST) -> str | None:
    for node in _outside_kernels(tree):
        if isinstance(node, ast.Attribute) and _dotted(node).startswith("torch.cuda."):
            return _dotted(node)
        if isinstance(node, ast.alias) and _STUB_IMPORT.fullmatch(node.name):
            return node.name
        if isinstance(node, ast.Constant) and _CUDA_WORD.fullmatch(str(node.value)):
            return f"the device {node.value!r}"
    return None
