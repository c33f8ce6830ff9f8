"""Keep one of Dynamo's graphs as lines of plain torch code, with the value that every line came to."""

from __future__ import annotations

import math
import operator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch

from compilefix.diagnosis import hook
from compilefix.registry import Record

LARGEST = 1 << 28
"""Bytes of values that are kept."""

MOST = 4096
"""Elements of a tensor whose values are told as numbers."""

_MODULES = ("torch", "_operator", "operator", "math", "builtins", "_VariableFunctionsClass")


class NoCodeError(Exception):
    """A node that cannot be written as plain code; the message says which."""


def enter(told: dict[str, Any], record: Record, seen: dict[str, Any]) -> AbstractContextManager[None]:
    """Keep graph ``told["graph"]``: its code in ``seen["captured"]``, the values in the file ``told["file"]``."""

    def choose(number: int, gm: Any, compiler: hook.Compiler) -> hook.Compiler:
        if number != told["graph"] or "captured" in seen:
            return compiler
        return lambda graph, inputs: _first_call(graph, Path(told["file"]), seen)

    return hook.each_graph(choose)


def _first_call(gm: Any, file: Path, seen: dict[str, Any]) -> Any:
    def run(*args: Any) -> Any:
        if "captured" not in seen:
            try:
                seen["captured"] = _capture(gm, args, file)
            except NoCodeError as error:
                seen["captured"] = {"reason": str(error)}
        return gm.forward(*args)

    return run


def _capture(gm: Any, args: tuple[Any, ...], file: Path) -> dict[str, Any]:
    values: dict[str, Any] = {}
    lines = [_line(node) for node in gm.graph.nodes if node.op.startswith("call")]
    recorder = _Recorder(gm, values)
    state = torch.get_rng_state()
    recorder.run(*[_copy(arg) for arg in args])
    torch.set_rng_state(state)
    torch.save(values, file)
    output = next(n for n in gm.graph.nodes if n.op == "output")
    return {
        "lines": lines,
        "inputs": [n.name for n in gm.graph.nodes if n.op in ("placeholder", "get_attr")],
        "outputs": [n.name for n in output.all_input_nodes],
        "values": {name: _describe(value) for name, value in values.items()},
    }


class _Recorder(torch.fx.Interpreter):
    """Runs a graph plainly and keeps a copy of each value at the moment it is made."""

    def __init__(self, gm: Any, values: dict[str, Any]) -> None:
        super().__init__(gm)
        self.values = values
        self.room = LARGEST

    def run_node(self, n: Any) -> Any:
        """Run one node and keep what it returns."""
        result = super().run_node(n)
        if n.op != "output":
            size = sum(t.nbytes for t in _tensors(result))
            self.room -= size
            if self.room < 0:
                raise NoCodeError(f"the values are larger than {LARGEST >> 20} MiB")
            self.values[n.name] = _copy(result)
        return result


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in torch.utils._pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _copy(value: Any) -> Any:
    def copy(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        plain = leaf.detach()
        strided = plain.layout is torch.strided and not plain.is_quantized
        if strided and all(s > 0 or n < 2 for n, s in zip(plain.shape, plain.stride(), strict=True)):
            twin = torch.empty_strided(plain.shape, plain.stride(), dtype=plain.dtype, device=plain.device)
            twin.copy_(plain)
        else:
            twin = plain.clone()
        return twin.requires_grad_(leaf.requires_grad)

    return torch.utils._pytree.tree_map(copy, value)


def _describe(value: Any) -> dict[str, Any]:
    if not isinstance(value, torch.Tensor):
        plain = isinstance(value, bool | int | float | str | type(None))
        return {"type": type(value).__name__, "code": repr(value) if plain else None}
    told: dict[str, Any] = {
        "type": "Tensor",
        "shape": list(value.shape),
        "dtype": str(value.dtype),
        "grad": value.requires_grad,
        "elements": value.numel(),
        "contiguous": value.layout is torch.strided and value.is_contiguous(),
        "plain": type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout is torch.strided,
    }
    if told["plain"] and 0 < value.numel() <= MOST and not value.is_complex():
        told["data"] = value.detach().tolist()
    if told["plain"] and not value.is_floating_point() and not value.is_complex() and value.numel():
        told["range"] = [int(value.min()), int(value.max())]
    return told


def _line(node: Any) -> dict[str, Any]:
    told = {"name": node.name, "op": hook.name_of(node), "place": hook.place_of(node)}
    args = [_text(a) for a in node.args]
    kwargs = [f"{k}={_text(v)}" for k, v in node.kwargs.items()]
    if node.op == "call_method":
        told["code"] = f"{args[0]}.{node.target}({', '.join([*args[1:], *kwargs])})"
    elif node.op == "call_function":
        told["code"] = _call(node, args, kwargs)
    else:
        raise NoCodeError(f"{node.op} {node.target} cannot be written as plain code")
    return told | {"needs": [n.name for n in node.all_input_nodes]}


_INFIX = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.truediv: "/",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.pow: "**",
    operator.matmul: "@",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
    operator.and_: "&",
    operator.or_: "|",
}


def _call(node: Any, args: list[str], kwargs: list[str]) -> str:
    target = node.target
    if target in _INFIX and len(args) == 2 and not kwargs:
        return f"{args[0]} {_INFIX[target]} {args[1]}"
    if target is operator.getitem:
        index = node.args[1]
        inner = ", ".join(map(_slice, index)) if isinstance(index, tuple) and index else _slice(index)
        return f"{args[0]}[{inner}{',' * (isinstance(index, tuple) and len(index) == 1)}]"
    if target is operator.setitem:
        return f"operator.setitem({', '.join(args)})"
    if isinstance(target, torch._ops.OpOverload):
        name = f"torch.ops.{target}"
    elif isinstance(target, torch._ops.HigherOrderOperator):
        raise NoCodeError(f"{target} takes functions, which cannot be written as plain code")
    else:
        name = torch.fx.node._get_qualified_name(target).replace("_operator.", "operator.")
        module = (getattr(target, "__module__", None) or "torch").split(".")[0]
        if module not in _MODULES or name.startswith("torch._dynamo"):
            raise NoCodeError(f"{name} is not torch's")
    return f"{name.removeprefix('builtins.')}({', '.join([*args, *kwargs])})"


def _slice(value: Any) -> str:
    if isinstance(value, slice):
        parts = ["" if part is None else _text(part) for part in (value.start, value.stop, value.step)]
        return ":".join(parts if value.step is not None else parts[:2])
    return _text(value)


def _text(value: Any) -> str:
    match value:
        case torch.fx.Node():
            return str(value.name)
        case torch.dtype() | torch.memory_format() | torch.layout():
            return str(value)
        case torch.device():
            return f"torch.device({str(value)!r})"
        case float() if not math.isfinite(value):
            return f"float('{value}')"
        case slice():
            return f"slice({_text(value.start)}, {_text(value.stop)}, {_text(value.step)})"
        case torch.Size() | list():
            return f"[{', '.join(map(_text, value))}]"
        case tuple():
            return f"({', '.join(map(_text, value))}{',' * (len(value) == 1)})"
        case dict():
            return "{" + ", ".join(f"{k!r}: {_text(v)}" for k, v in value.items()) + "}"
        case bool() | int() | float() | complex() | str() | None:
            return repr(value)
        case _ if value is Ellipsis:
            return "..."
        case _:
            raise NoCodeError(f"a {type(value).__name__} cannot be written as plain code")
