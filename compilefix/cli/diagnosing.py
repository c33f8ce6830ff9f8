"""Arguments and steps that ``diagnose`` and ``minimize`` share."""

from __future__ import annotations

import argparse
import ast
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compilefix import registry
from compilefix.cli import options
from compilefix.cuda_interpreted import gpus
from compilefix.errors import UsageError
from compilefix.outcome import Target

if TYPE_CHECKING:
    from compilefix.diagnosis.result import Diagnosis, Step
    from compilefix.diagnosis.subject import Subject

DEFAULTS: dict[str, Any] = {"timeout": 60.0, "seed": 0, "memory": "8GiB", "gpu": gpus.DEFAULT}


def add_subject(parser: argparse.ArgumentParser) -> None:
    """Add what is diagnosed."""
    group = parser.add_argument_group("program")
    group.add_argument("program", nargs="?", metavar="FILE:FUNC", help="function, module, FX repro, folder, or an id")
    group.add_argument("--inputs", metavar="[FILE:]FUNC", help="makes the arguments (default: inputs() in FILE)")
    group.add_argument("--eval", action="store_true", help="put a module into evaluation mode")
    group.add_argument(
        "--compile", action="append", metavar="K=V", help="argument of torch.compile (repeatable; default: none)"
    )
    group.add_argument(
        "--config", action="append", metavar="K=V", help="setting by its full name (repeatable; default: none)"
    )
    options.add_repros(group)


def add_running(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add how it runs."""
    run = parser.add_argument_group("running")
    run.add_argument(
        "--target", action="append", metavar="T", help="BACKEND[:DEVICE][:dynamic] (repeatable; default: every stage)"
    )
    run.add_argument("--dynamic", action="store_true", help="add a :dynamic twin to every target")
    run.add_argument("--gpu", metavar="NAME", help="GPU that inductor:cuda-interpreted compiles for (default: h100)")
    run.add_argument("--budget", type=float, default=300.0, metavar="S", help="seconds for all of it (default: 300)")
    run.add_argument("--timeout", type=float, metavar="S", help="seconds for one probe (default: 60)")
    run.add_argument("--memory", metavar="SIZE", help="private memory of one probe, or none (default: 8GiB)")
    run.add_argument("--jobs", type=int, metavar="N", help="probes side by side (default: cores)")
    run.add_argument("--seed", type=int, metavar="N", help="seed of every run (default: 0)")
    options.add_isolation(run)
    return run


def diagnosed(args: argparse.Namespace, *, match: bool, cure: bool, minimise: bool) -> Diagnosis:
    """Do what the arguments ask; raises `UsageError` for arguments that make no sense together."""
    from compilefix.diagnosis import session

    chosen = DEFAULTS | {"jobs": options.cores()} | options.settings(args)
    if chosen["jobs"] < 1:
        raise UsageError(f"--jobs {chosen['jobs']} must be at least 1")
    if args.budget <= 0 or chosen["timeout"] <= 0:
        raise UsageError("--budget and --timeout must be more than 0 seconds")
    repros = tuple(Path(folder) for folder in chosen.get("repros", ()))
    gpus.gpu(chosen["gpu"])
    asked = session.Options(
        jobs=chosen["jobs"],
        timeout=float(chosen["timeout"]),
        budget=args.budget,
        seed=chosen["seed"],
        memory=options.size(chosen["memory"]),
        targets=tuple(map(Target.parse, args.target or ())),
        dynamic=args.dynamic,
        gpu=chosen["gpu"].lower(),
        isolation=chosen.get("isolation"),
        cache=Path(chosen["cache_dir"]) if "cache_dir" in chosen else None,
        cure=cure,
        minimise=minimise,
        diff=getattr(args, "format", None) == "html",
        records=registry.discover(repros).records if match else None,
    )
    artifacts = Path(args.artifacts) if getattr(args, "artifacts", None) else None
    return session.run(_maker(args, repros), asked, watch=_watch(), artifacts=artifacts)


def _maker(args: argparse.Namespace, repros: tuple[Path, ...]) -> Callable[[Path], Subject]:
    from compilefix.diagnosis import capture_run, subject

    command: list[str] = args.command
    if command and args.program is not None:
        raise UsageError(f"one program at a time: {args.program}, or the command behind --")
    compile, config = _pairs("--compile", args.compile), _pairs("--config", args.config)
    if command:
        return lambda folder: capture_run.captured(command, folder, args.budget * 0.5, compile=compile, config=config)
    if args.program is None:
        raise UsageError("name a program: FILE:FUNC, or -- COMMAND")
    return lambda folder: subject.build(
        args.program,
        folder,
        inputs=args.inputs,
        compile=compile,
        config=config,
        evaluate=args.eval,
        repros=repros,
    )


def _pairs(option: str, given: Sequence[str] | None) -> dict[str, object]:
    found: dict[str, object] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"{option} {text!r}: write NAME=VALUE")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found


def _watch() -> Callable[[Step], None]:
    if not (sys.stderr.isatty() or os.environ.get("COMPILEFIX_PROGRESS")):
        return lambda _: None
    return lambda step: print(
        f"compilefix: {step.phase}: {step.what}: {step.did.value} ({step.seconds or 0:.1f} s)",
        file=sys.stderr,
        flush=True,
    )


def write_minimal(found: Diagnosis, path: Path) -> None:
    """Write the minimal program to `path`, and its last good neighbour beside it."""
    if found.minimal is None:
        print("compilefix: there is no minimal program to write", file=sys.stderr)
        return
    options.emit(found.minimal.source, str(path))
    if found.minimal.good is not None:
        options.emit(found.minimal.good, str(path.with_name(f"{path.stem}_good{path.suffix}")))
