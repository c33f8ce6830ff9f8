"""Make the user's own file small, where what goes wrong goes wrong in Dynamo: statements are left out."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from compilefix.diagnosis import search
from compilefix.diagnosis.lab import Probe, alike
from compilefix.diagnosis.localise import Bench
from compilefix.diagnosis.result import Minimal
from compilefix.diagnosis.subject import SPEC, Subject
from compilefix.outcome import Outcome

if TYPE_CHECKING:
    from compilefix.diagnosis.session import Draft

Place = tuple[int, int]
"""Line and column at which a statement begins."""

KEPT = (ast.Import, ast.ImportFrom)


def minimised(bench: Bench, draft: Draft) -> None:
    """Leave the smallest file in ``draft.minimal``; functions that are no file's cannot be made smaller this way."""
    file = bench.subject.file
    if file is None or bench.subject.spec["kind"] != "file":
        draft.notes.append("not made smaller: this goes wrong in Dynamo, and there is no source file to shorten")
        return
    tree = ast.parse(file.read_text(encoding="utf-8"))
    named = [bench.subject.function, "drive", *(bench.subject.spec.get("inputs") or [])[1:]]
    places = _places(tree, frozenset(name.split(".")[0] for name in named if name))
    work = _Shortening(bench, draft, file.read_text(encoding="utf-8"), places)
    if not work.holds([places]):
        draft.notes.append("not made smaller: the file does not misbehave once it is written anew")
        return
    complete = False
    try:
        search.minimal(places, work.first, bench.coarse)
        complete = True
    finally:
        draft.minimal = Minimal(
            source=work.text(work.best),
            good=work.good,
            nodes=len(work.best),
            nodes_before=len(places),
            elements=0,
            elements_before=0,
            complete=complete,
        )


def _places(tree: ast.Module, named: frozenset[str]) -> list[Place]:
    """Return the statements that may go: all but imports, what the run calls by name, and docstrings."""
    found: list[Place] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or isinstance(node, KEPT):
            continue
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in named:
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        found.append((node.lineno, node.col_offset))
    return sorted(found)


class _Leaver(ast.NodeTransformer):
    """Takes statements out; a block that loses all of them gets a ``pass``."""

    def __init__(self, gone: frozenset[Place]) -> None:
        self.gone = gone

    def visit(self, node: ast.AST) -> ast.AST | None:
        """Return the node without what goes."""
        if isinstance(node, ast.stmt) and (node.lineno, node.col_offset) in self.gone:
            return None
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return None
        self.generic_visit(node)
        for name in ("body", "finalbody"):
            if getattr(node, name, None) == []:
                setattr(node, name, [ast.Pass()])
        return node


class _Shortening:
    def __init__(self, bench: Bench, draft: Draft, source: str, places: list[Place]) -> None:
        self.bench = bench
        self.draft = draft
        self.source = source
        self.places = frozenset(places)
        self.best: Sequence[Place] = places
        self.good: str | None = None

    def text(self, kept: Sequence[Place]) -> str:
        """Return the file with only the statements `kept`."""
        tree = ast.parse(self.source)
        _Leaver(self.places - frozenset(kept)).visit(tree)
        why = self.draft.culprits[0].triple if self.draft.culprits else self.bench.target.backend
        told = f"Shortened from {self.bench.subject.name}.\n\nWhy: {why}.\nWhat to do: nothing that is known."
        return f'"""\n{told}\n"""\n\n' + ast.unparse(ast.fix_missing_locations(tree)) + "\n"

    def holds(self, sets: Sequence[Sequence[Place]]) -> bool:
        """Tell whether one of the sets, kept alone, misbehaves as the file does."""
        return self.first([tuple(chosen) for chosen in sets]) is not None

    def first(self, sets: Sequence[tuple[Place, ...]]) -> int | None:
        """Return the index of a set that, kept alone, misbehaves as the file does."""
        pairs = []
        for chosen in sets:
            probe = Probe(what=f"{len(chosen)} of {len(self.places)} statements", target=self.bench.target)
            pairs.append((self._subject(chosen), replace(probe, referred=True)))

        def holds(i: int, outcome: Outcome) -> bool:
            if outcome.did.good:
                self.good = self.text(sets[i])
            return alike(outcome, self.bench.bad)

        found = self.bench.lab.first_of(pairs, holds)
        if found is not None:
            self.best = sets[found]
        return found

    def _subject(self, kept: Sequence[Place]) -> Subject:
        text = self.text(kept)
        name = hashlib.sha256(text.encode()).hexdigest()[:16]
        folder = self.bench.subject.folder / f"shorter-{name}"
        assert self.bench.subject.file is not None
        if not folder.exists():
            folder.mkdir()
            path = folder / self.bench.subject.file.name
            path.write_text(text, encoding="utf-8")
            spec = self.bench.subject.spec | {"file": str(path), "beside": str(self.bench.subject.file.parent)}
            if spec.get("inputs") and spec["inputs"][0] == str(self.bench.subject.file):
                spec["inputs"] = [str(path), spec["inputs"][1]]
            (folder / SPEC).write_text(json.dumps(spec), encoding="utf-8")
            own = self.bench.subject.path.read_text(encoding="utf-8")
            (folder / "local_subject.py").write_text(own, encoding="utf-8")
        return replace(self.bench.subject, name=name, folder=folder, path=folder / "local_subject.py")
