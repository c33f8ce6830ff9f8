"""What a bisection looks at: a record, a function of the user's, or a command; each tells good, bad or skip."""

from __future__ import annotations

import ast
import platform
import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from compilefix import measured
from compilefix.environment import Environment
from compilefix.errors import UsageError
from compilefix.issue import STAGES, Symptom
from compilefix.outcome import INTERPRETED, Result, Target, Verdict
from compilefix.registry import Record, read
from compilefix.upgrade import commands, unit
from compilefix.upgrade.bisection import Found, Step
from compilefix.upgrade.environments import EnvironmentFailedError
from compilefix.upgrade.matrix import Matrix, State
from compilefix.upgrade.overlay import place

_CLASS = {
    Symptom.WRONG_GRADIENT: "wrong-result",
    Symptom.WRONG_ALIAS: "wrong-result",
    Symptom.MISSING_ERROR: "wrong-result",
}
MEASURED = "measured before"
RUN = "run"

Announce = Callable[[str], None]


def class_of(symptom: Symptom) -> str:
    """Return the class of a symptom: ``wrong-result``, ``error``, ``crash``, ``hang``, or the symptom's own word."""
    return _CLASS.get(symptom, symptom.value)


def wanted_of(record: Record | None, regress: str | None) -> Callable[[Symptom], bool]:
    """Return what counts as bad: a class of failure, else a record's own symptom, else anything."""
    if regress is not None:
        return lambda symptom: class_of(symptom) == regress
    if record is not None and record.kind == "issue":
        return lambda symptom: symptom is record.known.symptom
    return lambda symptom: True


def known_of(record: Record, matrix: Matrix, release: str, *, regress: str | None, target: str | None) -> Step | None:
    """Return what was measured of a record on `release`, None where nothing was."""
    seen = matrix.seen(record.id, release, target)
    if seen.state is State.NOT_MEASURED:
        return None
    wanted = wanted_of(record, regress)
    symptoms = [_symptom(word, record.known.symptom) for word in seen.symptoms]
    found = Found.GOOD
    if seen.state is State.BAD:
        found = Found.BAD if any(map(wanted, symptoms)) else Found.SKIP
    here = next((e for e in matrix.environments if e.torch.partition("+")[0] == release), None)
    return Step(
        release=release,
        found=found,
        by=MEASURED,
        why=", ".join(seen.symptoms) + (f" on {', '.join(seen.targets)}" if seen.targets and seen.symptoms else ""),
        environment=_told(here) if here else {},
    )


_LOUD = frozenset({Symptom.ERROR, Symptom.MISSING_ERROR, Symptom.CRASH, Symptom.HANG})


def _symptom(word: str, recorded: Symptom) -> Symptom:
    """Return what a measured file says is wrong; a bare ``mismatch`` is the recorded symptom where that is silent."""
    if word == "mismatch":
        return Symptom.WRONG_RESULT if recorded in _LOUD else recorded
    return Symptom(word)


def check(
    record: Record,
    release: str,
    announce: Announce,
    *,
    wanted: Callable[[Symptom], bool],
    target: str | None = None,
    timeout: float = 60.0,
    repros: Sequence[str] = (),
    index_url: str | None = None,
) -> Step:
    """Run a record's program with the torch of `release`; a release that does not install is skipped."""
    began = time.monotonic()
    settings = unit.Settings(
        targets=(target,) if target else _targets(record),
        timeout=timeout,
        repros=tuple(repros),
        index_url=index_url,
    )
    digests = ((record.id, measured.digest(record)),)
    reply = unit.reply(unit.perform(unit.Unit(release=release, digests=digests, settings=settings), announce))
    seconds = round(time.monotonic() - began, 1)
    if reply.report is None:
        return Step(release=release, found=Found.SKIP, by=RUN, why=reply.failed or "no answer", seconds=seconds)
    if not reply.report.results:
        return Step(release=release, found=Found.SKIP, by=RUN, why="the check gave no result", seconds=seconds)
    result = reply.report.results[0]
    found, why, evidence = judge(result, wanted)
    return Step(
        release=release,
        found=found,
        by=RUN,
        why=why,
        seconds=seconds,
        environment=_told(reply.report.environment),
        evidence=evidence,
    )


def judge(result: Result, wanted: Callable[[Symptom], bool]) -> tuple[Found, str, str]:
    """Return what one check says, in how few words, and its evidence."""
    bad = {t: o for t, o in result.outcomes.items() if o.did.bad and t.rank}
    shown = sorted(result.symptoms)
    evidence = "\n".join(
        f"{target} {outcome.did.value}: {outcome.reason or ': '.join(outcome.error or ())}"
        for target, outcome in bad.items()
    )
    if any(map(wanted, shown)):
        first = min(bad, key=lambda t: t.rank)
        return Found.BAD, f"{', '.join(s.value for s in shown)}, first on {first}", evidence
    if shown:
        return Found.SKIP, f"another failure: {', '.join(s.value for s in shown)}", evidence
    if result.verdict in (Verdict.UNSUPPORTED, Verdict.UNRESOLVED):
        reasons = [o.reason for o in result.outcomes.values() if o.reason]
        return Found.SKIP, f"{result.verdict.value}: {reasons[0] if reasons else 'no reason given'}", ""
    return Found.GOOD, "", ""


def _targets(record: Record) -> tuple[str, ...]:
    """Return the targets that the record is about, a CUDA record's interpreted."""
    stages = [f"{stage}:cpu" for stage in STAGES] if "cpu" in record.known.devices else []
    return (*stages, *([f"inductor:{INTERPRETED}"] if "cuda" in record.known.devices else []))


def run(
    command: Sequence[str],
    release: str,
    announce: Announce,
    *,
    regress: str | None = None,
    timeout: float | None = None,
    packages: Sequence[str] = (),
    requirements: Sequence[Path] = (),
    index_url: str | None = None,
) -> Step:
    """Run the user's command with the torch of `release`: exit code 0 is good, 125 skips, all else is bad."""
    began = time.monotonic()
    try:
        at = place(release, packages, requirements, announce=announce, index_url=index_url)
    except EnvironmentFailedError as error:
        return Step(release=release, found=Found.SKIP, by=RUN, why=error.reason)
    announce(f"torch {release}: {shlex.join(command)}")
    done = commands.run(at, command, timeout=timeout)
    machine = f"{platform.system()} {platform.machine()}"
    facts = {"torch": done.torch, "git hash": done.torch_git, "Python": done.python, "OS": machine}
    common: dict[str, Any] = {
        "release": release,
        "by": RUN,
        "seconds": round(time.monotonic() - began, 1),
        "environment": {name: value for name, value in facts.items() if value},
        "evidence": _evidence(done),
    }
    if done.invalid is not None:
        return Step(found=Found.SKIP, why=done.invalid, **common)
    signatures = "; ".join(dict.fromkeys(str(failure.signature) for failure in done.failures))[:300]
    if any(regress is None or class_of(failure.symptom) == regress for failure in done.failures):
        return Step(found=Found.BAD, why=signatures, **common)
    if done.failures:
        return Step(found=Found.SKIP, why=f"another failure: {signatures}", **common)
    return Step(found=Found.GOOD, **common)


def _evidence(done: commands.Run) -> str:
    """Return what a failed run shows: of tests their errors, of another command the end of its output."""
    tests = [f"{f.test}: {f.error}: {f.message}".strip() for f in done.failures if f.when != "command"]
    if tests:
        return "\n\n".join(tests)[:3000]
    return done.tail[-3000:] if done.failures or done.invalid else ""


def _told(environment: Environment) -> dict[str, str]:
    return {name: value for name, value in environment.identity.items() if value}


_REPRO = '''"""
{title}.

Why: this is what is being looked for.
What to do: see the report of the bisection.
"""

import importlib.util
import sys

import torch

from compilefix.issue import Issue, Symptom

ISSUE = Issue(symptom=Symptom.WRONG_RESULT, stage="inductor", devices=("cpu",))
sys.path[:0] = {folders!r}


def _load(path, name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def make(device):
    return getattr(_load({file!r}, {module!r}), {function!r})
{inputs}'''
_INPUTS = """

def inputs(device):
    found = getattr(_load({file!r}, {module!r}), {function!r}){call}
    return found if isinstance(found, tuple) else tuple(found) if isinstance(found, list) else (found,)
"""


def of_function(where: str, inputs: str | None, folder: Path) -> Record:
    """
    Write a repro around the user's function `where`, ``FILE:FUNC``, into `folder`, and return its record.

    `inputs` is ``FILE:FUNC``, too: a function without argument, or of the device, that returns the arguments; default:
    ``inputs`` in the file of the function, where it is there. Raises `UsageError` for a file or function that is not.
    """
    file, function = _split(where)
    told = ""
    if inputs is not None or _definition(file, "inputs") is not None:
        maker, name = _split(inputs) if inputs is not None else (file, "inputs")
        node = _definition(maker, name)
        takes = bool(node is not None and (node.args.args or node.args.posonlyargs))
        module = "compilefix_subject" if maker == file else "compilefix_inputs"
        told = _INPUTS.format(file=str(maker), module=module, function=name, call="(device)" if takes else "()")
    text = _REPRO.format(
        title=f"The function {function} of {file.name}",
        folders=[str(file.parent), str(Path.cwd())],
        file=str(file),
        module="compilefix_subject",
        function=function,
        inputs=told,
    )
    slug = "".join(c if c.isalnum() else "_" for c in function.lower()).strip("_") or "function"
    path = folder / f"local_{slug}.py"
    path.write_text(text, encoding="utf-8")
    return read(path)


def _split(where: str) -> tuple[Path, str]:
    name, colon, function = where.rpartition(":")
    file = Path(name).resolve()
    if not colon or not function.isidentifier():
        raise UsageError(f"{where!r} is not FILE:FUNC, such as model.py:step")
    if not file.is_file():
        raise UsageError(f"no such file: {name}")
    if _definition(file, function) is None and not _bound(file, function):
        raise UsageError(f"{name} defines no {function} at its top level")
    return file, function


def _tree(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_text(encoding="utf-8", errors="replace"), str(file))
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{file} is not valid Python: {error}") from None


def _definition(file: Path, function: str) -> ast.FunctionDef | None:
    return next((n for n in _tree(file).body if isinstance(n, ast.FunctionDef) and n.name == function), None)


def _bound(file: Path, name: str) -> bool:
    names = [t for n in _tree(file).body if isinstance(n, ast.Assign) for t in n.targets]
    return any(isinstance(target, ast.Name) and target.id == name for target in names)


def program(record: Record) -> str:
    """Return the text of a record's program, for a report."""
    found = [record.function_source(name) for name in ("inputs", "make", "program", "drive")]
    return "\n\n\n".join(["import torch", *(text for text in found if text)])


def target_of(text: str | None) -> str | None:
    """Return a target as it is named everywhere; raise `UsageError` for one that is none."""
    return str(Target.parse(text)) if text is not None else None
