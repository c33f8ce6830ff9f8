"""Triton's language, interpreted: patched once for the process, with the operators that blocks need."""

from __future__ import annotations

import ast
import types
from typing import Any

import numpy as np
import triton
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import ASTTransformer, FunctionRewriter, InterpretedFunction, TensorHandle

NOT, AND, OR = "compilefix_not", "compilefix_and", "compilefix_or"


def _tensor(like: Any, data: Any) -> Any:
    ty = tl.block_type(tl.int1, like.type.shape) if like.type.is_block() else tl.int1
    return tl.tensor(TensorHandle(data, tl.int1), ty)


def logical_not(value: Any) -> Any:
    """``not value``: lane by lane for a block, as Triton compiles it; Python's own for everything else."""
    return _tensor(value, value.handle.data == 0) if isinstance(value, tl.tensor) else not value


def logical(left: Any, right: Any, *, conjunction: bool) -> Any:
    """``left and right()`` or ``left or right()``: lane by lane for blocks, Python's own for everything else."""
    if not (isinstance(left, tl.tensor) and left.type.is_block()):
        return right() if bool(left) is conjunction else left
    other = right()
    data = other.handle.data if isinstance(other, tl.tensor) else np.asarray(other)
    combine = np.logical_and if conjunction else np.logical_or
    return _tensor(left, combine(left.handle.data != 0, data != 0))


class _Operators(ASTTransformer):  # type: ignore[misc]
    """Rewrites ``not``, ``and`` and ``or``, which Python decides by truth and Triton lane by lane."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST:  # noqa: N802
        node.value = self.visit(node.value)
        return super().visit_Assign(node)  # type: ignore[no-any-return]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return ast.copy_location(ast.Call(ast.Name(NOT, ast.Load()), [node.operand], []), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        out, *rest = node.values
        name = AND if isinstance(node.op, ast.And) else OR
        for value in rest:
            empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
            out = ast.Call(ast.Name(name, ast.Load()), [out, ast.Lambda(empty, value)], [])
        return ast.copy_location(out, node)


class _Forever:
    """A patch scope that restores nothing."""

    def restore(self) -> None:
        """Keep the patches."""


def _index(self: Any) -> int:
    return int(np.asarray(self.handle.data).reshape(-1)[0])


def _truth(self: Any) -> bool:
    data = np.asarray(self.handle.data)
    return bool(data.reshape(-1)[0]) if data.size == 1 else True


def _patch_once() -> None:
    """Point the language at the interpreter for good: the interpreter does so at each launch and each inner call."""
    sees = {"__builtins__": {}, "tl": tl, "core": tl.core}
    interpreter._patch_lang(types.FunctionType(_patch_once.__code__, sees))
    tl.tensor.__index__, tl.tensor.__bool__ = _index, _truth  # NumPy 2.4 refuses int(array of one dimension)
    device = triton.language.extra.cuda.libdevice
    scope = _Scope()
    patch = interpreter._patch_builtin
    patch(device, interpreter.interpreter_builder, *([scope] if patch.__code__.co_argcount > 2 else []))
    generic = triton.language.extra.libdevice
    for name, function in vars(device).items():
        if callable(function) and not name.startswith("_"):
            setattr(generic, name, function)
    interpreter._patch_lang = lambda function: _Forever()


class _Scope:
    def set_attr(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute for good."""
        setattr(owner, name, value)


def _call(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a device function from a kernel; what it raises goes through as it is."""
    return self.rewrite()(*args, **kwargs)


def install() -> None:
    """Patch the language and the rewriting of kernels in this process."""
    _patch_once()
    FunctionRewriter.ast_transformer = _Operators()
    InterpretedFunction.__call__ = _call
    interpreter.__dict__[NOT] = logical_not
    interpreter.__dict__[AND] = lambda left, right: logical(left, right, conjunction=True)
    interpreter.__dict__[OR] = lambda left, right: logical(left, right, conjunction=False)
