"""Keep what the compiler made: bytecode, graphs before and after the guilty pass, kernels, logs. Only user of depyf."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compilefix.diagnosis.lab import Lab, OutOfTimeError, Probe
from compilefix.diagnosis.result import Culprit, GraphDiff
from compilefix.diagnosis.subject import Subject
from compilefix.errors import UsageError
from compilefix.outcome import Outcome, Target

SECONDS = 60
"""What keeping all that is made may take beyond the budget."""

MOST = 400
"""Lines of one diff that a `GraphDiff` holds."""


def write(folder: Path, lab: Lab, subject: Subject, target: Target, culprits: tuple[Culprit, ...]) -> Iterator[str]:
    """
    Fill `folder` by one more run and yield what could not be kept.

    ``graphs/`` holds each pass's graph before and after, ``guilty.diff`` what the guilty passes changed, ``kernels/``
    the generated code, ``bytecode/`` what depyf makes of Dynamo's code, ``log.txt`` what the run printed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror}") from None
    lab.deadline += SECONDS  # asked for, so it gets time of its own
    try:
        with lab.during("artifacts", SECONDS):
            outcome = _run(folder, lab, subject, target)
            lines = [f"{target}: {outcome.did.value}", outcome.reason or "", outcome.stdout, outcome.stderr]
            lines += [f"{s.phase}: {s.what}: {s.did.value} {s.reason or ''}" for s in lab.steps]
            (folder / "log.txt").write_text("\n".join(lines), encoding="utf-8")
            if outcome.error is not None:
                (folder / "error.txt").write_text("\n".join(outcome.error), encoding="utf-8")
            yield from outcome.facts.get("artifacts", {}).get("troubles", ())
            found = [line for _, lines in _diffs(folder, _passes(culprits)) for line in lines]
            if found:
                (folder / "guilty.diff").write_text("\n".join(found) + "\n", encoding="utf-8")
            told = {"artifacts": {"folder": str(folder.resolve()), "depyf": True}}
            outcome = lab.ask(subject, Probe(what="decompile the bytecode", target=target, switches=told))[0]
            kept = outcome.facts.get("artifacts")
            yield from kept["troubles"] if kept else [f"no bytecode: {outcome.reason}"]
    except OutOfTimeError:
        yield "not all artifacts were kept: time ran out"


def guilty(
    folder: Path | None, lab: Lab, subject: Subject, target: Target, culprits: tuple[Culprit, ...]
) -> tuple[tuple[GraphDiff, ...], str | None]:
    """Return what the guilty passes changed, from what `write` left in `folder` or by one more run, or why nothing."""
    passes = _passes(culprits)
    if not passes:
        where = culprits[0].triple if culprits else target.backend
        return (), f"{where} is no pass over graphs, so there is no graph before and after it"
    if folder is None:
        folder = subject.folder / "made"
        lab.deadline += SECONDS
        try:
            with lab.during("artifacts", SECONDS):
                _run(folder, lab, subject, target)
        except OutOfTimeError:
            return (), "time ran out before the graphs were kept"
    found = tuple(
        GraphDiff(name=name, text="\n".join(lines[:MOST]), left_out=max(len(lines) - MOST, 0))
        for name, lines in _diffs(folder, passes)
    )
    return found, None if found else f"torch does not show the graph before and after {', '.join(passes)}"


def _run(folder: Path, lab: Lab, subject: Subject, target: Target) -> Outcome:
    told = {"artifacts": {"folder": str(folder.resolve())}}
    return lab.ask(subject, Probe(what="keep what is made", target=target, switches=told))[0]


def _passes(culprits: tuple[Culprit, ...]) -> list[str]:
    return [c.op for c in culprits if c.op and (c.subsystem or "").endswith("passes")]


def _diffs(folder: Path, passes: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the lines of a unified diff for each graph that one of `passes` changed."""
    for before in sorted((folder / "graphs").glob("*_before.txt")):
        name = before.name.removesuffix("_before.txt")
        if name.split("_", 1)[-1] in passes:
            after = before.with_name(f"{name}_after.txt")
            old, new = (path.read_text(encoding="utf-8").splitlines() for path in (before, after))
            yield name, list(difflib.unified_diff(old, new, f"before {name}", f"after {name}", lineterm=""))


def decompile(folder: Path, troubles: list[str]) -> None:
    """Have depyf write all of Dynamo's code that this process holds; what goes wrong is added to `troubles`."""
    try:
        import depyf
    except ImportError:
        troubles.append("no bytecode: depyf is not installed (pip install depyf)")
        return
    from torch._dynamo import convert_frame

    folder.mkdir(parents=True, exist_ok=True)
    for i, code in enumerate(_codes(convert_frame)):
        name = f"{i:02d}_{code.co_name.strip('<>')}"
        try:
            text = depyf.decompile(code)
        except BaseException as error:  # it fails on some resume functions, in many ways
            troubles.append(f"depyf cannot decompile {code.co_name}: {type(error).__name__}")
            text = "\n".join(f"{i.offset} {i.opname} {i.argrepr}" for i in _instructions(code))
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def _codes(convert_frame: Any) -> list[Any]:
    """Return the code objects that Dynamo wrote."""
    cache = convert_frame.output_codes
    return [code for code in (ref() for ref in getattr(cache, "seen", [])) if code is not None]


def _instructions(code: Any) -> Iterator[Any]:
    import dis

    return iter(dis.get_instructions(code))
