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
from compilefix.cli.manual import CONFIG, HARNESS, RECORDS, USAGE, Manual
from compilefix.cuda_interpreted import gpus, requirement
from compilefix.errors import Exit, HarnessError, UsageError

HELP = "show the kernels that Inductor writes for a GPU, what they load and store, and what they write in place"
MANUAL = Manual(
    description="""
Inductor compiles the function for the named GPU; none has to be there. Each kernel is shown with the lines of your
source that it comes from, the bytes that it moves, its loads and stores, and which arguments it writes in place.
Where a GPU would decide by timing (padding of matrix products), both decisions are shown. Needs the Triton that
fits this torch.""",
    examples=(
        ("compilefix kernels gh198280", "the kernels of a record's program"),
        ("compilefix kernels model.py:step --gpu a100", "those of your function, for an A100"),
        ("compilefix kernels model.py:step -o kernels --format json", "with each kernel's source in kernels/"),
    ),
    exits={0: "shown", 2: USAGE, 3: f"{HARNESS}: Triton does not fit, or the function does not compile"},
    reads=("FILE: imported, and its inputs(device) called", RECORDS, CONFIG),
    writes=("DIR/<kernel>.py, with -o DIR",),
    settings=("repros",),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``kernels``."""
    parser.add_argument(
        "program", metavar="FILE:FUNC", help="a function of a file that also has inputs(device), or a record's id"
    )
    group = parser.add_argument_group("compiling")
    group.add_argument("--gpu", default=gpus.DEFAULT, metavar="NAME", help="GPU to compile for (default: h100)")
    options.add_repros(group)
    out = parser.add_argument_group("output")
    out.add_argument("-o", "--output", metavar="DIR", help="also write each kernel's source into DIR (default: none)")
    out.add_argument("--format", choices=("text", "json"), default="text", help="report format (default: text)")


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
        _write(folder, found["kernels"])
        if "padded" in found:
            _write(folder / "padded", found["padded"])
    print(json.dumps(found, indent=1) if args.format == "json" else _text(found), end="\n")
    return int(Exit.EXPECTED)


def _write(folder: Path, kernels: list[dict[str, Any]]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kernel in kernels:
            (folder / f"{kernel['name']}.py").write_text(kernel["source"] + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror}") from None


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
    lines = [f"{_summary(found['kernels'], found['externs'])} for {found['gpu'].upper()}"]
    if "padding" in found:
        lines += _decisions(found["padding"])
    for kernel in found["kernels"]:
        lines += _described(kernel)
    if "padded" in found:
        lines += ["", "Padded:"]
        for kernel in found["padded"]:
            lines += _described(kernel)
    return "\n".join([*lines, *(f"\nbroken rule: {rule}" for rule in found["broken"])])


def _summary(kernels: list[dict[str, Any]], externs: list[str]) -> str:
    total = sum(k["bytes_read"] + k["bytes_written"] for k in kernels)
    return f"{_count(len(kernels))}, {total} bytes moved" + (f", and {', '.join(externs)}" if externs else "")


def _count(kernels: int) -> str:
    return f"{kernels} kernel{'s' * (kernels != 1)}"


def _decisions(padding: dict[str, Any]) -> list[str]:
    said = {"no": "shape_padding on, not padded", "yes": "shape_padding on, padded", "off": "shape_padding off"}
    lines = ["", f"On a GPU pad_mm times both and decides; here both are shown: {'; '.join(padding['asked'])}"]
    for name, words in said.items():
        one = padding[name]
        lines.append(f"  {words:29} {_count(len(one['kernels']))}, {one['bytes']} bytes moved")
    return lines


def _described(kernel: dict[str, Any]) -> list[str]:
    lines = ["", kernel["name"], f"  computes  {', '.join(kernel['ops']) or 'unknown'}"]
    lines += [f"  from      {line}" for line in kernel["lines"]]
    lines.append(f"  moves     {kernel['bytes_read']} bytes in, {kernel['bytes_written']} bytes out")
    written = [f"{name} ({kernel['given'][name]})" if name in kernel["given"] else name for name in kernel["in_place"]]
    lines.append(f"  in place  {', '.join(written) or 'nothing'}")
    for access in kernel["accesses"]:
        place = f"{access['argument']}[{access['index']}]" if access["index"] else access["argument"]
        lines.append(f"  {access['does']:9} line {access['line']:3}  {place}")
    return lines
