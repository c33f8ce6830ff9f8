"""Workarounds on the user's own inputs: those of known issues first, then general ones from narrow to wide."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compilefix.cure import Effect, weigh
from compilefix.diagnosis import switches
from compilefix.diagnosis.lab import Probe
from compilefix.diagnosis.localise import Bench, stage_before
from compilefix.diagnosis.result import WIDE, Culprit, Trial
from compilefix.diagnosis.switches import INDUCTOR
from compilefix.outcome import Did

if TYPE_CHECKING:
    from compilefix.diagnosis.session import Draft

ENOUGH = 3
"""Narrow cures after which no more are tried; the wide ones, which always work, are tried besides."""

PRICED = frozenset({Did.OK, Did.NUMERICS, Did.MISMATCH, Did.MISSING_ERROR})


@dataclass(frozen=True, kw_only=True)
class Idea:
    """One workaround that may cure."""

    id: str
    kind: str
    what: str
    code: str
    width: int
    told: dict[str, Any]


def tried(bench: Bench, draft: Draft) -> None:
    """Run the workarounds and leave them in `draft`; ends early where enough narrow ones cure."""
    ideas = sorted(_unique(_ideas(bench, draft)), key=lambda idea: idea.width)
    priced = bench.bad.did in PRICED and not bench.subject.driven
    probes = [
        Probe(what=idea.what, target=bench.target, switches=idea.told | {"graphs": _graphs(idea)}, priced=priced)
        for idea in ideas
    ]
    narrow = [i for i, idea in enumerate(ideas) if idea.width < WIDE]
    wide = [i for i, idea in enumerate(ideas) if idea.width >= WIDE]
    cured = 0
    for chosen, limit in ((narrow, ENOUGH), (wide, len(wide))):
        for i, outcome in bench.lab.stream(bench.subject, [probes[i] for i in chosen]):
            trial = _trial(bench, ideas[chosen[i]], outcome)
            if trial is not None:
                draft.trials.append(trial)
                cured += trial.cure.effect is Effect.CURES
            if cured >= limit and chosen is narrow:
                break


def _graphs(idea: Idea) -> dict[str, Any]:
    return idea.told.get("graphs", {"list": True})  # type: ignore[no-any-return]


def _trial(bench: Bench, idea: Idea, outcome: Any) -> Trial | None:
    if outcome.did in (Did.UNSUPPORTED, Did.UNRESOLVED):
        return None
    what = outcome.facts.get("does") or idea.what
    cure = weigh(idea.id, idea.kind, what, bench.target, bench.bad, outcome)
    facts = {k: v for k, v in outcome.facts.items() if k in ("price", "graph_breaks", "does")}
    code = idea.code
    for name, (strategy, gated) in outcome.facts.get("strategies", {}).items():
        if not gated:
            code = f'{name} = compilefix.ops.strategy("{name}", "{strategy}")  # instead of torch.{name}'
    return Trial(cure=replace(cure, outcome=replace(outcome, facts=facts)), code=code, width=idea.width)


def _unique(ideas: Iterator[Idea]) -> list[Idea]:
    found: dict[str, Idea] = {}
    for idea in ideas:
        found.setdefault(repr(sorted(idea.told.items())), idea)
    return list(found.values())


def _ideas(bench: Bench, draft: Draft) -> Iterator[Idea]:
    for match in draft.matches[:3]:
        yield from _of_record(match.id, bench, draft)
    yield from _drop_ins(bench, draft.culprits)
    for culprit in draft.culprits:
        yield from _of_culprit(bench, culprit)
    if bench.target.backend == "inductor":
        yield _setting("numerics", f"{INDUCTOR}emulate_precision_casts", True, "casts as plain code does", 4)
    yield from _wide(bench, draft.culprits)


def _of_record(id: str, bench: Bench, draft: Draft) -> Iterator[Idea]:
    path = next((str(r.path) for r in draft.records if r.id == id), None)
    if path is None:
        return
    for kind, width in (("rewrite", 1), ("config", 2)):
        code = f'with compilefix.workaround("{id}", kind="{kind}"):\n    ...  # compile and call here'
        told = {"workaround": {"record": path, "kind": kind}}
        yield Idea(id=id, kind=kind, what=f"the {kind} of {id}", code=code, width=width, told=told)


def drop_in_names() -> frozenset[str]:
    """Return the names of the drop-in ops, without importing torch."""
    folder = Path(__file__).parents[1] / "ops"
    return frozenset(path.stem.removeprefix("op_") for path in folder.glob("op_*.py"))


def _drop_ins(bench: Bench, culprits: tuple[Culprit, ...]) -> Iterator[Idea]:
    known = drop_in_names()
    nodes = bench.bad.facts.get("nodes", ())
    places = {c.place for c in culprits if c.place}
    names = [c.op for c in culprits if c.op]
    names += [n["op"].rstrip("_") for n in nodes if n["place"] in places]
    names += [n["op"].rstrip("_") for n in nodes]
    for name in list(dict.fromkeys(n for n in names if n in known))[:3]:
        code = f"from compilefix.ops import {name}  # instead of torch.{name}"
        told = {"workaround": {"drop_ins": [name]}}
        yield Idea(id="general", kind="rewrite", what=f"drop-in {name}", code=code, width=1, told=told)


def _setting(kind: str, name: str, value: object, what: str, width: int) -> Idea:
    short = name.removeprefix(INDUCTOR)
    option = f"torch.compile(f, options={{{short!r}: {value!r}}})"
    code = option if name.startswith(INDUCTOR) else f"{name} = {value!r}"
    words = f"{short}={value!r} ({what})"
    return Idea(id="general", kind="config", what=words, code=code, width=width, told={"settings": {name: value}})


def _of_culprit(bench: Bench, culprit: Culprit) -> Iterator[Idea]:
    by_name = {s.name: s for s in switches.ALL}
    for site in culprit.sites:
        if site in by_name:
            yield _setting("config", site, by_name[site].value, "the part that is at fault off", 2)
    if culprit.subsystem and culprit.subsystem.endswith("passes") and culprit.op:
        yield _setting("config", f"{INDUCTOR}disabled_passes", culprit.op, "the guilty pass off", 2)
        if culprit.op == "reorder_for_locality":
            yield _setting("config", f"{INDUCTOR}reorder_for_locality", False, "the guilty pass off", 2)
        yield _setting("config", f"{INDUCTOR}pattern_matcher", False, "no pattern passes", 3)
    if culprit.subsystem == "scheduler":
        yield _setting("config", f"{INDUCTOR}max_fusion_size", 1, "no fusion", 4)
        yield _setting("config", f"{INDUCTOR}epilogue_fusion", False, "no epilogue fusion", 3)
    overloads = _overloads(bench, culprit)
    if culprit.subsystem in ("lowerings", "codegen") and overloads:
        lines = [f"lowerings[torch.ops.{name}] = fallback_handler(torch.ops.{name})" for name in overloads]
        code = "\n".join(["from torch._inductor.lowering import fallback_handler, lowerings", *lines])
        what = f"{culprit.op} calls ATen's kernel instead of being lowered"
        told = {"workaround": {"fallback": overloads}}
        yield Idea(id="general", kind="config", what=what, code=code, width=3, told=told)
    if culprit.subsystem == "codegen":
        yield _setting("config", switches.CODEGEN[0].name, switches.CODEGEN[0].value, "no vectorised code", 4)
    if culprit.subsystem == "decomposition" and overloads:
        lines = [f"decompositions.pop(torch.ops.{name}, None)" for name in overloads]
        code = "\n".join(["from torch._inductor.decomposition import decompositions", *lines])
        what = f"{culprit.op} is not decomposed"
        told = {"workaround": {"decompositions": overloads}}
        yield Idea(id="general", kind="config", what=what, code=code, width=3, told=told)


def _overloads(bench: Bench, culprit: Culprit) -> list[str]:
    """Return the overloads, such as ``aten.sinh.default``, of a culprit's sites."""
    subsystem = "lowerings" if culprit.subsystem == "codegen" else culprit.subsystem
    sites = [s for s in bench.sites if s["subsystem"] == subsystem and s["op"] == culprit.op]
    found = [s.get("target") or s["key"].split("|")[1] for s in sites]
    return [name for name in dict.fromkeys(found) if re.fullmatch(r"\w+\.\w+\.\w+", name)]


def _wide(bench: Bench, culprits: tuple[Culprit, ...]) -> Iterator[Idea]:
    for culprit in culprits:
        found = enclosing(culprit.place)
        if found is not None and found[1] != bench.subject.function:
            file, name = found
            code = f"@torch.compiler.disable  # on {name}, {Path(file).name}"
            told: dict[str, Any] = {"workaround": {"disable": [file, name]}}
            yield Idea(id="general", kind="island", what=f"{name} not compiled", code=code, width=6, told=told)
    before = stage_before(bench.target)
    if before is not None and bench.graphs:
        numbers = ", ".join(map(str, bench.graphs))
        safe = "aot_eager" if before == "aot_eager_decomp_partition" else before
        told = {"graphs": {"graphs": list(bench.graphs), "backend": safe, "list": True}}
        code = f'torch._dynamo.config.debug_backend_override = "{numbers}:{safe}"'
        yield Idea(id="general", kind="backend", what=f"graph {numbers} on {safe}", code=code, width=5, told=told)
    if before is not None:
        code = f'torch.compile(f, backend="{before}")'
        told = {"workaround": {"backend": before}}
        yield Idea(id="general", kind="backend", what=f"backend {before}", code=code, width=7, told=told)
    told = {"workaround": {"eager": True}}
    code = "@torch.compiler.disable"
    yield Idea(id="general", kind="island", what="the whole function not compiled", code=code, width=8, told=told)


def enclosing(place: str | None) -> tuple[str, str] | None:
    """Return file and qualified name of the innermost function around ``file:line: source``; None: there is none."""
    match = re.match(r"(.+?\.py):(\d+)", place or "")
    if match is None:
        return None
    try:
        tree = ast.parse(Path(match[1]).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return None
    line, best = int(match[2]), ""
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, name = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef) and child.lineno <= line <= (child.end_lineno or 0):
                inner = f"{name}.{child.name}".lstrip(".")
                if isinstance(node, ast.FunctionDef):
                    continue  # a function inside a function has no name of its own to take out by
                best = inner if isinstance(child, ast.FunctionDef) else best
                stack.append((child, inner))
    return (match[1], best) if best else None
