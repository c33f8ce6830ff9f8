"""The user's own code as a repro that the runner understands: a generated file that loads theirs."""

from __future__ import annotations

import ast
import json
import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compilefix import registry
from compilefix.diagnosis.exchange import GRAPH
from compilefix.diagnosis.result import Conclusion
from compilefix.errors import RecordError, UsageError
from compilefix.registry import Record

INPUTS = ("inputs", "make_inputs", "example_inputs")
"""Names under which a file's inputs are found when ``--inputs`` does not say."""

SPEC = "subject.json"
ADAPTOR = '''"""
The program under diagnosis.

Why: written by compilefix, which loads the user's code through it.
What to do: nothing.
"""

from compilefix.diagnosis.adaptor import Loaded
from compilefix.issue import Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.MISSING_ERROR,  # its reference may raise
    stage="inductor",
    devices=("cpu",),
    {fields}
)

_LOADED = Loaded.read(__file__)
inputs = _LOADED.inputs
state = _LOADED.state
if _LOADED.drives:
    drive = _LOADED.drive
if _LOADED.measures:
    facts = _LOADED.facts


def make(device):
    return _LOADED.make(device)
'''

FIELDS = ("compile", "config", "random", "strict", "caches", "expects", "requires", "limit")
"""Fields of a record that say how its program is run."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One program under diagnosis."""

    name: str
    """As the user named it."""

    path: Path
    """The generated repro."""

    folder: Path
    file: Path | None = None
    """The user's file; None for a live function."""

    function: str | None = None
    spec: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    verdict: tuple[Conclusion, str] | None = None
    """Where there is nothing to diagnose, why."""

    @property
    def record(self) -> Record:
        """The generated repro as a record."""
        return registry.read(self.path)

    @property
    def driven(self) -> bool:
        """True where several calls are made, in the user's own ``drive``."""
        return bool(self.spec.get("drive"))


def build(
    argument: str,
    folder: Path,
    *,
    inputs: str | None = None,
    compile: Mapping[str, object] | None = None,
    config: Mapping[str, object] | None = None,
    evaluate: bool = False,
    repros: tuple[Path, ...] = (),
) -> Subject:
    """
    Make a subject of what the user named and return it.

    `argument` is ``FILE:FUNC`` (a function, a ``torch.nn.Module`` class or an instance), ``FILE`` (a repro, an FX
    repro or a minifier's dump), a folder that a captured run left, or the id of a record. Nothing of it is executed
    here. Raises `UsageError` in one line for anything that cannot be it.
    """
    path, function = _parse(argument, repros)
    if path.is_dir():
        if not (path / GRAPH).is_file():
            raise UsageError(f"{argument} is a folder without {GRAPH}: no captured graph")
        spec: dict[str, Any] = {"kind": "captured", "file": str((path / GRAPH).resolve())}
        return write(argument, folder, spec, {"compile": dict(compile or {}), "config": dict(config or {})})
    tree = _tree(path)
    names = _names(tree)
    record = _record(path)
    function = function or _entry(argument, names)
    spec = {"kind": "file", "file": str(path.resolve()), "function": function, "eval": evaluate}
    if function == "Repro":
        spec["kind"] = "fx"
    elif function.split(".")[0] not in names and not _star(tree):
        raise UsageError(f"{path} defines no {function!r}; it has {', '.join(sorted(names)) or 'nothing'}")
    spec["facts"] = record is not None and "facts" in names
    spec["inputs"] = _inputs(inputs, path, names, function)
    spec["drive"] = record is not None and "drive" in names
    if record is None and function != "drive":
        spec["drive"] = _drives(tree, with_inputs=bool(spec["inputs"]))
    fields = {name: getattr(record.known, name) for name in FIELDS} if record is not None else {}
    fields["compile"] = {**fields.get("compile", {}), **(compile or {})}
    fields["config"] = {**fields.get("config", {}), **(config or {})}
    name = argument if ":" in argument or record is not None else f"{argument}:{function}"
    return write(name, folder, spec, fields, file=path.resolve(), function=function)


def _drives(tree: ast.Module, *, with_inputs: bool) -> bool:
    """Tell whether a file's ``drive`` can be meant for us: it takes the function, and the inputs if there are any."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "drive":
            takes = len(node.args.posonlyargs) + len(node.args.args)
            return node.args.vararg is not None or takes > with_inputs
    return False


def called(file: Path | None) -> frozenset[str]:
    """Return the names of everything that a file calls, methods by their last name; empty where there is no file."""
    if file is None or not file.is_file():
        return frozenset()
    calls = (node.func for node in ast.walk(_tree(file)) if isinstance(node, ast.Call))
    names = (str(getattr(call, "attr", getattr(call, "id", ""))) for call in calls)
    return frozenset(name.strip("_") for name in names)


def write(
    name: str,
    folder: Path,
    spec: dict[str, Any],
    fields: Mapping[str, Any],
    *,
    file: Path | None = None,
    function: str | None = None,
) -> Subject:
    """Write the generated repro into `folder` and return the subject; raise `UsageError` for fields it cannot have."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{key}={value!r}," for key, value in fields.items() if value or value == 0]
    path = folder / "local_subject.py"
    path.write_text(ADAPTOR.replace("{fields}", "\n    ".join(lines)), encoding="utf-8")
    (folder / SPEC).write_text(json.dumps(spec), encoding="utf-8")
    try:
        registry.read(path)
    except RecordError as error:
        raise UsageError(f"{name}: {str(error).partition(': ')[2]}") from None
    return Subject(name=name, path=path, folder=folder, file=file, function=function, spec=spec, fields=dict(fields))


def _parse(argument: str, repros: tuple[Path, ...]) -> tuple[Path, str | None]:
    name, colon, function = argument.rpartition(":")
    if not colon:
        if argument.endswith(".py") or Path(argument).exists():
            name, function = argument, ""
        else:
            return registry.discover(repros).get(argument).path, None
    elif not function or not all(p.isidentifier() and not keyword.iskeyword(p) for p in function.split(".")):
        raise UsageError(f"{argument!r}: write FILE:FUNC, such as model.py:forward")
    path = Path(name)
    if not path.exists():
        raise UsageError(f"no such file: {name}")
    return path, function or None


def _tree(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"), str(path))
    except SyntaxError as error:
        raise UsageError(f"{path}:{error.lineno or 1}: not valid Python: {error.msg}") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _names(tree: ast.Module) -> set[str]:
    """Return the names that the file binds at its top level, inside of ``if`` and ``try`` as well."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    blocks: list[Any] = list(tree.body)
    while blocks:
        node = blocks.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            continue
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        for name in ("body", "orelse", "finalbody", "handlers"):
            blocks += getattr(node, name, [])
    return found


def _star(tree: ast.Module) -> bool:
    return any(isinstance(n, ast.ImportFrom) and any(a.name == "*" for a in n.names) for n in ast.walk(tree))


def _record(path: Path) -> Record | None:
    try:
        return registry.read(path)
    except RecordError:
        return None


def _entry(argument: str, names: set[str]) -> str:
    for name in ("program", "make", "Repro"):
        if name in names:
            return name
    raise UsageError(f"{argument}: write FILE:FUNC; it defines no program, make or Repro")


def _inputs(given: str | None, path: Path, names: set[str], function: str) -> list[str] | None:
    if given is None:
        name = next((n for n in INPUTS if n in names and n != function), None)
        return None if name is None else [str(path.resolve()), name]
    file, colon, name = given.rpartition(":")
    if not name.isidentifier():
        raise UsageError(f"--inputs {given!r}: write FILE:FUNC or FUNC")
    where = Path(file) if colon else path
    if not where.is_file():
        raise UsageError(f"no such file: {file}")
    if name not in (names if where == path else _names(_tree(where))):
        raise UsageError(f"{where} defines no {name!r}")
    return [str(where.resolve()), name]
