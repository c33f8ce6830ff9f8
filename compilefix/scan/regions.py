"""Which code of a file runs compiled: decorators, calls of ``torch.compile``, modules, and what those call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.scan.evaluate import as_bool
from compilefix.scan.finding import Inside
from compilefix.scan.judge import Judge
from compilefix.scan.names import FUNCTIONS, Names
from compilefix.scan.releases import within
from compilefix.scan.targets import Targets, Unit, leaf
from compilefix.scan.values import UNKNOWN, Raised

Sure = bool | None
"""True: yes; None: in some runs; False: no."""

_COMPILE = ("torch.compile", "torch._dynamo.optimize", "torch._dynamo.optimize_assert")
_COMPILE_ENDS = frozenset(path.rpartition(".")[2] for path in _COMPILE)
_OPAQUE = ("torch.library.custom_op", "torch.library.triton_op", "torch.compiler.disable", "torch._dynamo.disable")
_STEPS = ("forward", "training_step", "validation_step", "test_step", "predict_step")
_COMPILING = ("is_compiling", "is_dynamo_compiling", "is_torchdynamo_compiling", "is_torch_compiling")


class Regions:
    """The compiled regions of one file."""

    def __init__(self, names: Names, judge: Judge) -> None:
        self.names, self.judge = names, judge
        self.targets = Targets(names)
        self.roots: dict[Unit, Sure] = {}
        self.via: dict[Unit, str] = {}
        self.opaque: set[Unit] = set()
        self.passed: set[Unit] = set()
        """Not compiled themselves, but what they call is."""

        self.eager: set[Unit] = set()
        """Called by code that is not compiled."""

        self.around: set[Unit] = set()
        """Wrappers that run around compiled code."""

        self._helpers: dict[ast.FunctionDef, Sure] = {}
        self.reached: dict[Unit, Sure] = {}
        if self._compiles_something():
            self._decorators()
            self._calls()
            self.reached = self._reach()

    def inside(self, node: ast.AST) -> Inside:
        """Tell whether `node` runs in compiled code."""
        if self._not_compiling(node):
            return "no"
        for unit in self.targets.units_around(node):
            if unit in self.opaque or unit in self.passed:
                return "no"
            if unit in self.reached:
                both = (unit in self.eager and unit not in self.roots) or unit in self.around
                return "maybe" if both or self.reached[unit] is None else "yes"
            if not isinstance(unit, ast.Lambda) and not self._nested(unit):
                break
        return "no"

    def origin(self, node: ast.AST) -> str:
        """Return in words by what `node` is compiled; empty where it is not."""
        return next((self.via[u] for u in self.targets.units_around(node) if u in self.via), "")

    def _compiles_something(self) -> bool:
        """Tell cheaply whether the file may compile anything: without that, none of its code runs compiled."""
        imported = (
            binding.dotted
            for scope in self.names.scopes.values()
            for bindings in scope.bindings.values()
            for binding in bindings
            if binding.how == "import"
        )
        if any(name.rpartition(".")[2] in _COMPILE_ENDS for name in imported):
            return True
        for node in self.names.of(ast.Attribute):
            if node.attr in _COMPILE_ENDS:
                path = self.targets.path(node)
                if path in _COMPILE or not path:
                    return True
        return False

    def _nested(self, unit: Unit) -> bool:
        return any(isinstance(parent, FUNCTIONS) for parent, _ in self.names.ancestors(unit))

    def _decorators(self) -> None:
        for unit in self.targets.units:
            if isinstance(unit, ast.Lambda):
                continue
            wrappers: list[Unit] = []
            for decorator in reversed(unit.decorator_list):
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                path = self.targets.path(called)
                if path in _OPAQUE:
                    self._disable(unit, decorator)
                    continue
                applied = self._transform(decorator)
                if applied is not False:
                    for inner in (unit, *wrappers):
                        self._root(inner, applied, f"the decorator in line {decorator.lineno}")
                    wrappers = []
                    continue
                local = self.targets.wrappers(called)
                wrappers += local
            self.around |= set(wrappers)

    def _disable(self, unit: Unit, decorator: ast.expr) -> None:
        keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
        shallow = any(
            k.arg == "recursive" and isinstance(k.value, ast.Constant) and k.value.value is False for k in keywords
        )
        (self.passed if shallow else self.opaque).add(unit)

    def _root(self, unit: Unit, sure: Sure, via: str) -> None:
        if sure is False:
            return
        if self.roots.get(unit) is not True:
            self.roots[unit] = sure
            self.via.setdefault(unit, via)

    def _calls(self) -> None:
        for node in self.targets.calls:
            if isinstance(node.func, ast.Attribute) and node.func.attr == "compile":
                self._in_place(node, node.func.value)
            target = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "model"), None)
            if target is None or self._is_decorator(node):
                continue
            sure = self._transform(node.func)
            direct = self.targets.path(node.func) in _COMPILE
            if sure is False or (direct and self.targets.path(node.func) != "torch.compile"):
                continue
            if direct:
                sure = _both(sure, self._enabled(node.keywords))
            sure = _both(sure, self._runs(node))
            if sure is not False and not self._dropped(node):
                for unit in self._compiled_by(target):
                    self._root(unit, sure, f"line {node.lineno}")

    def _in_place(self, node: ast.Call, holder: ast.expr) -> None:
        """``module.compile()`` compiles the module where it is."""
        if self.targets.path(holder).startswith("torch") or self.targets.path(node.func) == "torch.compile":
            return
        for unit in self.targets.module(holder):
            self._root(unit, self._runs(node), f"line {node.lineno}")

    def _compiled_by(self, target: ast.expr) -> Iterator[Unit]:
        for unit in self.targets.resolve(target):
            yield unit
            owner = self.names.parents.get(unit)
            if (
                isinstance(owner, ast.ClassDef)
                and self.targets.is_lightning(owner)
                and getattr(unit, "name", "") == "forward"
            ):
                yield from (m for n, m in self.targets.methods(owner).items() if n in _STEPS)
        owner_class = self.targets.class_of(target)
        if owner_class is not None and self.targets.is_lightning(owner_class):
            yield from (m for n, m in self.targets.methods(owner_class).items() if n in _STEPS)

    def _is_decorator(self, node: ast.Call) -> bool:
        parent = self.names.parents.get(node)
        return isinstance(parent, (*FUNCTIONS, ast.ClassDef)) and node in getattr(parent, "decorator_list", ())

    def _transform(self, node: ast.expr, depth: int = 0) -> Sure:
        """Tell whether applying `node` to a function compiles it."""
        if depth > 8:
            return False
        path = self.targets.path(node)
        if path == "torch.compile":
            return True
        match node:
            case ast.Name():
                found = self.names.lookup(node.id, self.names.scope(node))
                if found is None:
                    return False
                answers = [
                    self._transform(b.value, depth + 1)
                    if b.value is not None and not b.path
                    else self._compiles(b.node)
                    if isinstance(b.node, ast.FunctionDef)
                    else False
                    for b in found[1]
                ]
                return (
                    answers[0] if len(set(answers)) == 1 else (None if any(a is not False for a in answers) else False)
                )
            case ast.Call():
                called = self.targets.path(node.func)
                if called in ("functools.partial",) and node.args:
                    return _both(self._transform(node.args[0], depth + 1), self._enabled(node.keywords))
                if called in _COMPILE[1:]:
                    return True
                if called == "torch.compile":
                    given = bool(node.args) or any(k.arg == "model" for k in node.keywords)
                    return False if given else self._enabled(node.keywords)
                if not node.args:
                    return _both(self._transform(node.func, depth + 1), self._enabled(node.keywords))
            case ast.IfExp():
                test = self._test(node.test)
                sides = self._transform(node.body, depth + 1), self._transform(node.orelse, depth + 1)
                if test is not None:
                    return sides[0] if test else sides[1]
                return sides[0] if sides[0] == sides[1] else None
        return False

    def _compiles(self, node: ast.FunctionDef) -> Sure:
        """Tell whether a helper returns its first argument compiled."""
        if node not in self._helpers:
            self._helpers[node] = self._compiles_first(node)
        return self._helpers[node]

    def _compiles_first(self, node: ast.FunctionDef) -> Sure:
        first = next((a.arg for a in (*node.args.posonlyargs, *node.args.args) if a.arg not in ("self", "cls")), None)
        returns = [r.value for r in ast.walk(node) if isinstance(r, ast.Return) and r.value is not None]
        found = [
            call
            for value in returns
            for call in ast.walk(value)
            if isinstance(call, ast.Call)
            and call.args
            and isinstance(call.args[0], ast.Name)
            and call.args[0].id == first
            and self.targets.path(call.func) == "torch.compile"
        ]
        if not found:
            return False
        return True if len(returns) == 1 and returns[0] is found[0] else None

    def _enabled(self, keywords: list[ast.keyword]) -> Sure:
        for keyword in keywords:
            if keyword.arg == "disable":
                answer = self._test(keyword.value)
                return None if answer is None else not answer
        return True

    def _test(self, node: ast.expr) -> Sure:
        """Return the truth of `node` on all supported releases; None where they differ or it cannot be told."""
        answers = set()
        for build in self.judge.releases:
            if within(build, self.judge.minimum, self.judge.maximum):
                try:
                    answers.add(as_bool(self.judge.evaluator(build).value(node)))
                except Raised:
                    return None
                if len(answers) > 1 or UNKNOWN in answers:
                    return None
        return answers.pop() if answers else None

    def _runs(self, node: ast.AST) -> Sure:
        """Tell whether `node` is executed when the code around it is."""
        answer: Sure = True
        for parent, child in self.names.ancestors(node):
            if isinstance(parent, (*FUNCTIONS, ast.ClassDef)):
                break
            if isinstance(parent, ast.If | ast.IfExp) and child is not parent.test and not _main(parent.test):
                test = self._test(parent.test)
                body = parent.body if isinstance(parent.body, list) else [parent.body]
                answer = _both(answer, test if child in body or test is None else not test)
        return answer

    def _dropped(self, node: ast.Call) -> bool:
        """Tell whether the compiled result is thrown away."""
        parent = self.names.parents.get(node)
        while isinstance(parent, ast.IfExp):
            parent = self.names.parents.get(parent)
        if isinstance(parent, ast.Expr):
            return True
        if isinstance(parent, ast.Assign) and all(isinstance(t, ast.Name) for t in parent.targets):
            return all(not self._used(t.id, node) for t in parent.targets if isinstance(t, ast.Name))
        return False

    def _used(self, name: str, node: ast.Call) -> bool:
        if name == "_":
            return False
        rebound = any(isinstance(n, ast.Name) and n.id == name for a in node.args for n in ast.walk(a))
        module = isinstance(self.names.scope(node).node, ast.Module)
        return rebound or module or name in self.targets.loaded

    def _not_compiling(self, node: ast.AST) -> bool:
        for parent, child in self.names.ancestors(node):
            if isinstance(parent, FUNCTIONS):
                return False
            if isinstance(parent, ast.If | ast.IfExp) and child is not parent.test:
                test, wanted = parent.test, True
                if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                    test, wanted = test.operand, False
                body = parent.body if isinstance(parent.body, list) else [parent.body]
                if isinstance(test, ast.Call) and leaf(test) in _COMPILING and (child in body) is not wanted:
                    return True
        return False

    def _reach(self) -> dict[Unit, Sure]:
        edges: dict[Unit | None, list[Unit]] = {}
        if not self.roots:
            return {}
        for call in self.targets.calls:
            around = next(iter(self.targets.units_around(call)), None)
            if not self._not_compiling(call):
                edges.setdefault(around, []).extend(self.targets.called(call))
        reached: dict[Unit, Sure] = {}
        for unit, sure in sorted(self.roots.items(), key=lambda item: item[1] is not True):
            stack = [unit]
            while stack:
                current = stack.pop()
                if current in self.opaque or (current in reached and (reached[current] is True or sure is None)):
                    continue
                reached[current] = sure
                self.via.setdefault(current, f"a call from {getattr(unit, 'name', 'a lambda')}()")
                stack += edges.get(current, [])
        for caller, callees in edges.items():
            if caller is None or caller not in reached:
                self.eager |= set(callees)
        return reached


def _both(one: Sure, other: Sure) -> Sure:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
