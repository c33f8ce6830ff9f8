"""Discover repros and read their records with `ast`: nothing is executed, torch is not imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from compilefix.errors import RecordError, UsageError
from compilefix.issue import DEVICES, STAGES, Affected, Contract, Issue, Known, Symptom, Truth

FILE_PATTERN = re.compile(r"(gh\d+|local|contract)_[a-z0-9_]+\.py")
ENTRY_POINTS = ("program", "make")
WORKAROUNDS = ("workaround", "make_workaround", "drive_workaround")
_CALLS = {"Affected": Affected, "Issue": Issue, "Contract": Contract}
_ENUMS: dict[str, type[Symptom] | type[Truth]] = {"Symptom": Symptom, "Truth": Truth}
_RECORD_NAMES = {"ISSUE": "Issue", "CONTRACT": "Contract"}


@dataclass(frozen=True)
class Record:
    """One repro file: its id, its words and what its record says."""

    id: str
    path: Path
    line: int
    title: str
    why: str
    what_to_do: str
    known: Known
    functions: tuple[str, ...]

    @property
    def kind(self) -> str:
        """``issue`` or ``contract``."""
        return "contract" if isinstance(self.known, Contract) else "issue"

    @property
    def goes_wrong(self) -> bool:
        """False for a contract to which compiled code keeps as plain code does: it has no stage and no symptom."""
        return isinstance(self.known, Issue) or bool(self.known.differs)

    @cached_property
    def source(self) -> str:
        """Text of the repro file."""
        return self.path.read_text(encoding="utf-8")

    @property
    def has_workaround(self) -> bool:
        """True where the repro brings a workaround that can be run."""
        return bool(self.known.workaround_config) or any(name in self.functions for name in WORKAROUNDS)

    @cached_property
    def has_kernels(self) -> bool:
        """True where the repro brings Triton kernels of its own, which without a GPU only an interpreter runs."""
        imports = [n for n in ast.walk(ast.parse(self.source)) if isinstance(n, ast.Import | ast.ImportFrom)]
        names = [getattr(n, "module", None) or alias.name for n in imports for alias in n.names]
        return any(name.partition(".")[0] == "triton" for name in names)

    def function_source(self, name: str) -> str | None:
        """Return the text of one top-level function of the repro, decorators included, or None."""
        for node in ast.parse(self.source).body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                return "\n".join(self.source.splitlines()[first - 1 : node.end_lineno])
        return None

    @property
    def program_source(self) -> str:
        """The repro as one pastes it upstream: without docstring, record, claim and workaround."""
        lines, end, kept = self.source.splitlines(), 0, []
        for node in ast.parse(self.source).body:
            text = "\n".join(lines[end : node.end_lineno])
            end = node.end_lineno or end
            if not _left_out(node):
                kept.append(text)
        return "\n".join(kept).strip("\n")

    @property
    def workaround_source(self) -> str:
        """The functions to write instead; empty where there are none."""
        return "\n\n\n".join(s for name in WORKAROUNDS if (s := self.function_source(name)))

    @property
    def settings_source(self) -> str:
        """Lines of Python that set what helps, with the imports that they need; empty where no setting does."""
        values = self.known.workaround_config
        modules = dict.fromkeys(name[: name.index(".config.") + len(".config")] for name in values)
        lines = [f"import {module}" for module in modules] + [f"{name} = {value!r}" for name, value in values.items()]
        return "\n".join(lines)


def _left_out(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.ImportFrom(module="compilefix.issue"):
            return True
        case ast.Assign(targets=[ast.Name(id="ISSUE" | "CONTRACT")]):
            return True
        case ast.FunctionDef(name=name):
            return name in (*WORKAROUNDS, "claim")
    return False


@dataclass(frozen=True)
class Registry:
    """The records that could be read, and what is wrong with the others."""

    records: tuple[Record, ...]
    broken: tuple[RecordError, ...] = ()

    def get(self, id: str) -> Record:
        """Return the record named `id`; raise `UsageError` naming near ids when there is none."""
        for record in self.records:
            if record.id == id:
                return record
        raise UsageError(f"unknown id {id!r}{_near(id, [r.id for r in self.records])}")

    def select(
        self, ids: Sequence[str] = (), select: Sequence[str] = (), ignore: Sequence[str] = ()
    ) -> tuple[Record, ...]:
        """
        Return the records that match.

        `ids` are exact; `select` and `ignore` are terms such as ``gh123``, ``stage:inductor``, ``symptom:error``,
        ``op:gather``, ``device:cpu``, ``record:contract``. A record is kept when it matches any selected term and no
        ignored one. An unknown id, term or empty selection raises `UsageError`.
        """
        chosen = tuple(self.get(id) for id in dict.fromkeys(ids)) or self.records
        for term in (*select, *ignore):
            self._check_term(term)
        if select:
            chosen = tuple(r for r in chosen if any(_matches(r, term) for term in select))
        chosen = tuple(r for r in chosen if not any(_matches(r, term) for term in ignore))
        if not chosen:
            raise UsageError("the selection is empty: no record matches " + " ".join([*ids, *select, *ignore]))
        return chosen

    def _check_term(self, term: str) -> None:
        key, colon, value = term.partition(":")
        if not colon:
            self.get(term)
        elif key not in _TERMS:
            raise UsageError(f"unknown selector {term!r}; write an id or one of {', '.join(k + ':…' for k in _TERMS)}")
        else:
            known = _CLOSED.get(key) or {v for r in self.records for v in _TERMS[key](r)}
            if value not in known:
                raise UsageError(f"nothing is {term!r}; {key} is one of {', '.join(sorted(known))}")


_TERMS: dict[str, Any] = {
    "stage": lambda r: (r.known.stage,) if r.goes_wrong else (),
    "symptom": lambda r: (r.known.symptom.value,) if r.goes_wrong else (),
    "op": lambda r: r.known.ops,
    "device": lambda r: r.known.devices,
    "record": lambda r: (r.kind,),
}

_CLOSED: dict[str, tuple[str, ...]] = {
    "stage": STAGES,
    "symptom": tuple(s.value for s in Symptom),
    "device": DEVICES,
    "record": ("issue", "contract"),
}
"""Values that exist whether or not a record has them."""


def terms(records: Iterable[Record]) -> list[str]:
    """Return every term that `Registry.select` knows, besides ids, such as ``symptom:wrong-result``, sorted."""
    records = tuple(records)
    found = {key: {*_CLOSED.get(key, ()), *(v for r in records for v in of(r))} for key, of in _TERMS.items()}
    return sorted(f"{key}:{value}" for key, values in found.items() for value in values)


def _matches(record: Record, term: str) -> bool:
    key, colon, value = term.partition(":")
    return value in _TERMS[key](record) if colon else record.id == term


def _near(id: str, known: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(id, known, n=3)
    return f"; did you mean {', '.join(close)}?" if close else "; `compilefix list` shows all ids"


def shipped_folder() -> Path:
    """Return the folder of the repros that ship with compilefix: in the wheel, else beside the package."""
    inside = Path(__file__).parent / "_repros"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "repros"


def discover(extra: Iterable[Path] = (), *, shipped: bool = True) -> Registry:
    """
    Read all records of the shipped folder and of `extra` folders.

    A record that cannot be read, or whose id is taken, becomes an entry of `broken` and hides no other. A folder that
    does not exist raises `UsageError`.
    """
    records: dict[str, Record] = {}
    broken: list[RecordError] = []
    for folder in ([shipped_folder()] if shipped else []) + [Path(f) for f in extra]:
        if not folder.is_dir():
            raise UsageError(f"no such folder of repros: {folder}")
        for path in sorted(folder.glob("*.py")):
            try:
                record = read(path)
            except RecordError as error:
                broken.append(error)
                continue
            if record.id in records:
                other = records[record.id].path
                broken.append(
                    RecordError(f"{path}:1: id {record.id} is already taken by {other}; ids are never reused")
                )
                continue
            records[record.id] = record
    return Registry(tuple(sorted(records.values(), key=_order)), tuple(broken))


def _order(record: Record) -> tuple[int, int, str]:
    number = re.fullmatch(r"gh(\d+)", record.id)
    return (0, int(number[1]), "") if number else (1, 0, record.id)


def record_id(path: Path) -> str:
    """Return the id that the file name stands for: ``gh123_roll.py`` is ``gh123``."""
    kind, _, slug = path.stem.partition("_")
    return kind if kind.startswith("gh") else f"{kind}-{slug.replace('_', '-')}"


def read(path: Path) -> Record:
    """Read one repro file; raise `RecordError` with ``file:line`` for anything that is wrong with it."""
    if not FILE_PATTERN.fullmatch(path.name):
        raise RecordError(
            f"{path}:1: file name must be gh<number>_<slug>.py, local_<slug>.py or contract_<slug>.py (lower case)"
        )
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    except SyntaxError as error:
        raise RecordError(f"{path}:{error.lineno or 1}: not valid Python: {error.msg}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise RecordError(f"{path}:1: cannot be read: {error}") from None
    title, why, what_to_do = _docstring(path, tree)
    node, line = _record_node(path, tree)
    functions = tuple(n.name for n in tree.body if isinstance(n, ast.FunctionDef))
    if not any(name in functions for name in ENTRY_POINTS):
        raise RecordError(f"{path}:1: no program: define program(*inputs), or make(device) that returns it")
    known = _evaluate(path, node)
    if not isinstance(known, Issue | Contract):
        raise RecordError(f"{path}:{line}: the record must be Issue(...) or Contract(...)")
    if isinstance(known, Contract) and "claim" not in functions:
        raise RecordError(
            f"{path}:{line}: no claim: a contract defines claim(*inputs), plain Python that returns what program would "
            "return if the statement were true"
        )
    return Record(record_id(path), path, line, title, why, what_to_do, known, functions)


def _docstring(path: Path, tree: ast.Module) -> tuple[str, str, str]:
    text = ast.get_docstring(tree)
    if not text:
        raise RecordError(f"{path}:1: no docstring; its first line is the title, then 'Why:' and 'What to do:'")
    title, _, rest = text.strip().partition("\n")
    parts = {"Why": "", "What to do": ""}
    for paragraph in re.split(r"\n\s*\n|\n(?=What to do:)", rest.strip()):
        for name in parts:
            if paragraph.startswith(f"{name}:"):
                parts[name] = " ".join(paragraph.removeprefix(f"{name}:").split())
    return title.strip().rstrip("."), parts["Why"], parts["What to do"]


def _record_node(path: Path, tree: ast.Module) -> tuple[ast.expr, int]:
    found = [
        node
        for node in tree.body
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in _RECORD_NAMES
    ]
    if len(found) != 1:
        line = found[1].lineno if found else 1
        raise RecordError(f"{path}:{line}: need exactly one ISSUE = Issue(...) or CONTRACT = Contract(...)")
    return found[0].value, found[0].lineno


def _evaluate(path: Path, node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS:
        if node.args or any(k.arg is None for k in node.keywords):
            raise RecordError(f"{path}:{node.lineno}: {node.func.id}(...) takes keyword arguments only")
        arguments = {k.arg: _evaluate(path, k.value) for k in node.keywords if k.arg is not None}
        try:
            return _CALLS[node.func.id](**arguments)
        except (TypeError, ValueError) as error:
            message = str(error).replace(f"{node.func.id}.__init__()", node.func.id)
            raise RecordError(f"{path}:{node.lineno}: {message}") from None
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in _ENUMS:
        words = _ENUMS[node.value.id]
        try:
            return words[node.attr]
        except KeyError:
            names = ", ".join(w.name for w in words)
            raise RecordError(f"{path}:{node.lineno}: no {words.__name__}.{node.attr}; one of {names}") from None
    if isinstance(node, ast.Tuple):
        return tuple(_evaluate(path, element) for element in node.elts)
    try:
        return ast.literal_eval(node)
    except (TypeError, RecursionError) as error:
        raise RecordError(f"{path}:{node.lineno}: not a literal: {error}") from None
    except ValueError:
        raise RecordError(f"{path}:{node.lineno}: a record holds literals only, not {_code(node)}") from None


def _code(node: ast.expr) -> str:
    try:
        return repr(ast.unparse(node))
    except RecursionError:
        return "code that is nested so deep"
