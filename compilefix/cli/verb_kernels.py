"""``compilefix kernels FILE:FUNC``: the kernels that Inductor writes for CUDA, without a GPU."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from compilefix import environment
from compilefix.cli import options
from compilefix.cuda_interpreted import gpus, requirement
from compilefix.errors import Exit, HarnessError, UsageError

HELP = "show the kernels that Inductor writes for a GPU, what they load and store, and what they write in place"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``kernels``."""
    parser.add_argument(
        "program", metavar="FILE:FUNC", help="a function of a file that also has inputs(device), or a record's id"
    )
    parser.add_argument("--gpu", default=gpus.DEFAULT, metavar="NAME", help="GPU to compile for (default: h100)")
    parser.add_argument("-o", "--output", metavar="DIR", help="also write each kernel's source into DIR")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    options.add_repros(parser)


def run(args: argparse.Namespace) -> int:
    """Run ``kernels``."""
    gpus.gpu(args.gpu)
    if reason := requirement.trouble():
        raise HarnessError(reason)
    file, function = _program(args)
    found = _shown(file, function, args.gpu.lower())
    if "error" in found:
        raise HarnessError(found["error"])
    if args.output:
        folder = Path(args.output)
        folder.mkdir(parents=True, exist_ok=True)
        for kernel in found["kernels"]:
            (folder / f"{kernel['name']}.py").write_text(kernel["source"] + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1) if args.format == "json" else _text(found), end="\n")
    return int(Exit.EXPECTED)


def _program(args: argparse.Namespace) -> tuple[Path, str]:
    name, colon, function = args.program.rpartition(":")
    if colon:
        path = Path(name)
        if not path.is_file():
            raise UsageError(f"no such file: {name}")
        return path, function
    if args.program.endswith(".py"):
        return Path(args.program), "program"
    return options.registry(options.settings(args)).get(args.program).path, "program"


def _shown(file: Path, function: str, gpu: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="compilefix-kernels-") as folder:
        environ, _ = environment.scrubbed_environ(folder)
        package = str(Path(__file__).parents[2])
        path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "compilefix.cuda_interpreted.show", str(file), function, gpu],
            env=environment.interpreting(environ, folder) | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
    lines = done.stdout.strip().splitlines()
    if not lines:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise HarnessError(f"compiling for {gpu} failed: {last}")
    parsed: dict[str, Any] = json.loads(lines[-1])
    return parsed


def _text(found: dict[str, Any]) -> str:
    kernels = found["kernels"]
    total = sum(k["bytes_read"] + k["bytes_written"] for k in kernels)
    lines = [f"{len(kernels)} kernel{'s' * (len(kernels) != 1)} for {found['gpu'].upper()}, {total} bytes moved"]
    for kernel in kernels:
        lines += ["", kernel["name"], f"  computes  {', '.join(kernel['ops']) or 'unknown'}"]
        lines.append(f"  moves     {kernel['bytes_read']} bytes in, {kernel['bytes_written']} bytes out")
        lines.append(f"  in place  {', '.join(kernel['in_place']) or 'nothing'}")
        for access in kernel["accesses"]:
            place = f"{access['argument']}[{access['index']}]" if access["index"] else access["argument"]
            lines.append(f"  {access['does']:9} line {access['line']:3}  {place}")
    return "\n".join([*lines, *(f"\nbroken rule: {rule}" for rule in found["broken"])])
