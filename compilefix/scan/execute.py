"""Statements inside of the scanned program's own helper functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from compilefix.scan.calls import Returned, Undecided, unpack
from compilefix.scan.compare import compare
from compilefix.scan.values import UNKNOWN, Dotted, Function, Instance, Mark, Raised

if TYPE_CHECKING:
    from compilefix.scan.calls import Calls

_CATCH_ALL = ("Exception", "BaseException")
_ADDABLE = (int, float, str, tuple, list)


def statement(run: Calls, node: ast.stmt, local: dict[str, Any]) -> None:
    """Execute one statement; raise `Returned`, `Raised` or `Undecided`."""
    match node:
        case ast.Return():
            raise Returned(None if node.value is None else run.eval(node.value, local))
        case ast.Assign():
            value = run.eval(node.value, local)
            for target in node.targets:
                _assign(run, target, value, local)
        case ast.AnnAssign():
            if node.value is not None:
                _assign(run, node.target, run.eval(node.value, local), local)
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add()):
            left, right = local.get(name, UNKNOWN), run.eval(node.value, local)
            same = isinstance(left, _ADDABLE) and type(left) is type(right)
            local[name] = left + right if same else UNKNOWN
        case ast.AugAssign(target=ast.Name(id=name)):
            local[name] = UNKNOWN
        case ast.Expr():
            run.eval(node.value, local)
        case ast.If():
            test = _truth(run.eval(node.test, local))
            if test is UNKNOWN:
                raise Undecided
            _block(run, node.body if test else node.orelse, local)
        case ast.For():
            _loop(run, node, local)
        case ast.Try():
            _try(run, node, local)
        case ast.FunctionDef():
            local[node.name] = Function(node, run.names.scope(node), local)
        case ast.Raise():
            raise Raised(RuntimeError("raised by the scanned program"))
        case ast.Assert():
            test = _truth(run.eval(node.test, local))
            if test is False:
                raise Raised(AssertionError())
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                base = f"{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
                name = alias.asname or (alias.name if base else alias.name.partition(".")[0])
                local[name] = Dotted(f"{base}{alias.name}" if base or alias.asname else name)
        case ast.Pass() | ast.Global() | ast.Nonlocal():
            pass
        case ast.With():
            _block(run, node.body, local)
        case _:
            raise Undecided


def _block(run: Calls, nodes: list[ast.stmt], local: dict[str, Any]) -> None:
    for node in nodes:
        statement(run, node, local)


def _assign(run: Calls, target: ast.expr, value: Any, local: dict[str, Any]) -> None:
    if isinstance(target, ast.Attribute):
        holder = run.eval(target.value, local)
        if isinstance(holder, Instance):
            holder.attributes[target.attr] = value
        return
    unpack(target, value, local)


def _loop(run: Calls, node: ast.For, local: dict[str, Any]) -> None:
    values = run.eval(node.iter, local)
    if isinstance(values, Dotted) or not isinstance(values, tuple | list | str | dict | range | set):
        raise Undecided
    if any(isinstance(n, ast.Break | ast.Continue) for n in ast.walk(node)):
        raise Undecided
    for value in values:
        if not unpack(node.target, value, local):
            raise Undecided
        _block(run, node.body, local)
    _block(run, node.orelse, local)


def _try(run: Calls, node: ast.Try, local: dict[str, Any]) -> None:
    try:
        _block(run, node.body, local)
    except Raised as error:
        for handler in node.handlers:
            if _catches(handler, error.error):
                _block(run, handler.body, local)
                break
        else:
            raise
    else:
        _block(run, node.orelse, local)
    _block(run, node.finalbody, local)


def _catches(handler: ast.ExceptHandler, error: BaseException) -> bool:
    if handler.type is None:
        return True
    names = {n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)}
    return any(kind.__name__ in names for kind in type(error).__mro__) or bool(names & set(_CATCH_ALL))


def _truth(value: Any) -> Any:
    if value is UNKNOWN or isinstance(value, Instance):
        return UNKNOWN
    if isinstance(value, Dotted):
        return UNKNOWN
    return value.when if isinstance(value, Mark) else True if isinstance(value, Function) else bool(value)


def matches(run: Calls, subject: ast.expr, case: ast.match_case) -> Any:
    """Tell whether `subject` matches one case, whatever the cases before it: True, False or `UNKNOWN`."""
    local: dict[str, Any] = {}
    answer = _pattern(run, case.pattern, run.eval(subject, None), local)
    if answer is True and case.guard is not None:
        return _truth(run.eval(case.guard, local))
    return answer


def _pattern(run: Calls, pattern: ast.pattern, value: Any, local: dict[str, Any]) -> Any:
    if value is UNKNOWN:
        return UNKNOWN
    match pattern:
        case ast.MatchValue(value=wanted):
            want = run.eval(wanted, None)
            return UNKNOWN if want is UNKNOWN else _truth(compare(ast.Eq(), value, want, run.build, run.events))
        case ast.MatchSequence(patterns=parts):
            if not isinstance(value, tuple | list) or len(value) != len(parts):
                return False
            return _all([_pattern(run, p, v, local) for p, v in zip(parts, value, strict=True)])
        case ast.MatchOr(patterns=parts):
            answers = [_pattern(run, p, value, local) for p in parts]
            return True if True in answers else UNKNOWN if UNKNOWN in answers else False
        case ast.MatchAs(pattern=inner, name=name):
            answer = True if inner is None else _pattern(run, inner, value, local)
            if name is not None:
                local[name] = value
            return answer
    return UNKNOWN


def _all(answers: list[Any]) -> Any:
    return False if False in answers else UNKNOWN if UNKNOWN in answers else True
