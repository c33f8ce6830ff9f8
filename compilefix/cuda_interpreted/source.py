"""What the source of a kernel says about its accesses before it runs: pointers, indices, loops. Pure."""

from __future__ import annotations

import ast
import functools
import linecache
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

READS = frozenset({"load"})
WRITES = frozenset({"store"})
_WAITING, _MEETING = re.compile(r"decoupled_lookback"), re.compile(r"x_grid_barrier")


@dataclass(frozen=True)
class Access:
    """One load, store or atomic operation as it is written."""

    line: int
    """Line of the file."""

    pointers: frozenset[str]
    """Parameters of the kernel that the address is made of."""

    indirect: bool
    """Whether the address is made of something that was loaded, as that of an indexed write is."""

    reads: bool
    writes: bool
    loops: tuple[tuple[str, ...], ...]
    """The loops around it, each as the source of the arguments of its ``range``."""


@dataclass(frozen=True)
class Source:
    """The accesses of one kernel."""

    accesses: tuple[Access, ...] = field(default=())
    waits: bool = False
    """Whether its programs wait for those before them, by one of Inductor's helpers."""

    meets: bool = False
    """Whether all its programs meet at a barrier of the whole grid."""

    def indirect(self, line: int) -> bool:
        """Tell whether the access in `line` goes where the data say, so that the program chose the address."""
        return any(a.indirect for a in self.accesses if a.line == line)

    def pointers(self, line: int) -> frozenset[str]:
        """Return the parameters that the accesses in `line` address through."""
        return frozenset().union(*(a.pointers for a in self.accesses if a.line == line))

    @property
    def loaded(self) -> frozenset[str]:
        """The parameters that are loaded through."""
        return frozenset().union(*(a.pointers for a in self.accesses if a.reads))

    @property
    def written(self) -> frozenset[str]:
        """The parameters that are stored through."""
        return frozenset().union(*(a.pointers for a in self.accesses if a.writes))

    def trips(self, values: Mapping[str, Any]) -> int:
        """Return how many accesses one program makes, where the kernel is launched with `values`."""
        return sum(prod(_trips(loop, values) for loop in access.loops) for access in self.accesses)


def _trips(loop: tuple[str, ...], values: Mapping[str, Any]) -> int:
    """Return how often a loop runs; 1 where its bounds are not known before it does."""
    known = {name: value for name, value in values.items() if isinstance(value, int)}
    try:
        bounds = [int(eval(text, {"__builtins__": {}}, known)) for text in loop]  # noqa: S307  (the kernel's own text)
    except (NameError, TypeError, ValueError, SyntaxError, AttributeError):
        return 1
    return len(range(*bounds)) if 1 <= len(bounds) <= 3 and (len(bounds) < 3 or bounds[2]) else 1


@functools.cache
def read(file: str, kernel: str) -> Source:
    """Return what the function `kernel` of `file` says; nothing where the file or the function cannot be found."""
    text = "".join(linecache.getlines(file))
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return Source()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == kernel:
            return Source(tuple(_accesses(node)), bool(_WAITING.search(text)), bool(_MEETING.search(text)))
    return Source()


def _accesses(kernel: ast.FunctionDef) -> Iterator[Access]:
    parameters = {a.arg for a in kernel.args.args}
    loaded, through = _flow(kernel, parameters)
    for node, loops in _calls(kernel.body, ()):
        address = _address(node)
        if address is None:
            continue
        names = {n.id for n in ast.walk(address) if isinstance(n, ast.Name)}
        pointers = {p for name in names for p in through.get(name, ())} | (names & parameters)
        pointers = {p for p in pointers if not p.endswith(("numel", "BLOCK"))}
        indirect = bool(names & loaded) or any(_reads(n) for n in ast.walk(address))
        does = getattr(node.func, "attr", "load")  # an atomic operation does both
        yield Access(node.lineno, frozenset(pointers), indirect, does not in WRITES, does not in READS, loops)


def _reads(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr=name)):
            return name in READS
        case ast.Call(func=ast.Attribute(attr="load")):
            return True
    return False


def _address(call: ast.Call) -> ast.expr | None:
    """Return what `call` addresses with, None where it is no access to memory."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr=name), args=[where, *_]):
            return where if name in READS | WRITES or name.startswith("atomic_") else None
        case ast.Call(func=ast.Attribute(value=where, attr="load" | "store")):
            return where
    return None


def _flow(kernel: ast.FunctionDef, parameters: set[str]) -> tuple[set[str], dict[str, set[str]]]:
    """Return the names that hold something loaded, and the parameters that every other name is made of."""
    loaded: set[str] = set()
    through: dict[str, set[str]] = {}
    assigned = [n for n in ast.walk(kernel) if isinstance(n, ast.Assign | ast.AugAssign | ast.AnnAssign) and n.value]
    for _ in range(len(assigned) + 1):
        before = len(loaded), sum(map(len, through.values()))
        for node in assigned:
            assert node.value is not None
            parts = list(ast.walk(node.value))
            names = {n.id for n in parts if isinstance(n, ast.Name)}
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            held = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
            if names & loaded or any(_reads(n) for n in parts):
                loaded |= held
                continue
            made = {p for name in names for p in through.get(name, ())} | (names & parameters)
            for name in held:
                through.setdefault(name, set()).update(made)
        if before == (len(loaded), sum(map(len, through.values()))):
            break
    return loaded, through


def _calls(body: list[ast.stmt], loops: tuple[tuple[str, ...], ...]) -> Iterator[tuple[ast.Call, Any]]:
    for statement in body:
        inner = loops
        if isinstance(statement, ast.For):
            call = statement.iter
            inner = (*loops, tuple(ast.unparse(a) for a in call.args) if isinstance(call, ast.Call) else ())
        blocks = [getattr(statement, name, []) for name in ("body", "orelse")]
        if any(blocks):
            for block in blocks:
                yield from _calls(block, inner)
            continue
        yield from ((node, loops) for node in ast.walk(statement) if isinstance(node, ast.Call))
