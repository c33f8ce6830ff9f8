"""
Measure localising and minimising against torch's own tools, both sides in one run on one machine.

The program is ten sines, a relu, ten cosines, with the defect that Inductor has for its own tests switched on:
``torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY`` = ``accuracy``, then ``compile_error``.

- localise: seconds from the first probe to ``inductor/lowerings/relu`` (torch loaded on both sides; what loading
  costs is printed beside it), against ``CompilerBisector().do_bisect`` in process with torch loaded, and against
  ``python -m torch._inductor.compiler_bisector run``;
- cold (``--cold``): seconds from the command to the triple where both caches are empty, torch's headers included;
- minimise: seconds to the minimal program, against torch's minifier (``repro_after="aot"``, launcher included).

But for ``--cold`` both sides start from the same warm cache of precompiled headers, and from the same empty cache of
kernels.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SETTING = "torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY"
PROGRAM = """import torch


def inputs():
    return (torch.linspace(-2, 2, 64),)


def program(x):
    for _ in range(10):
        x = torch.sin(x)
    x = torch.relu(x)
    for _ in range(10):
        x = torch.cos(x)
    return x
"""
BISECT = """
import json, sys, time
import torch, torch._dynamo, torch._inductor.config as config
from torch._inductor.compiler_bisector import CompilerBisector
sys.path.insert(0, {folder!r})
from theirs import inputs, program
start = time.perf_counter()
config.fx_graph_cache = False
torch.compile(lambda x: torch.tan(x) + 1)(*inputs())   # torch's compiler is loaded and its headers are compiled
print("loaded", round(time.perf_counter() - start, 2), file=sys.stderr)
config.cpp.inject_relu_bug_TESTING_ONLY = {bug!r}
probes = 0
def right():
    global probes
    probes += 1
    torch._dynamo.reset()
    want = program(*inputs())
    try:
        return torch.allclose(torch.compile(program)(*inputs()), want)
    except Exception:
        return False
start = time.perf_counter()
found = CompilerBisector.do_bisect(right)
print(json.dumps({{"seconds": time.perf_counter() - start, "probes": probes, "found": str(found)}}))
"""
RUN = """
import sys
import torch, torch._inductor.config as config
config.fx_graph_cache = False
config.cpp.inject_relu_bug_TESTING_ONLY = {bug!r}
sys.path.insert(0, {folder!r})
from theirs import inputs, program
torch.testing.assert_close(torch.compile(program)(*inputs()), program(*inputs()))
"""
MINIFY = """
import sys
import torch, torch._dynamo.config as dynamo, torch._inductor.config as config
dynamo.repro_after, dynamo.repro_level, dynamo.debug_dir_root = "aot", {level}, {out!r}
config.fx_graph_cache = False
config.cpp.inject_relu_bug_TESTING_ONLY = {bug!r}
sys.path.insert(0, {folder!r})
from theirs import inputs, program
try:
    torch.compile(program)(*inputs())
except Exception as error:
    print(type(error).__name__)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-minifier", action="store_true", help="leave out torch's minifier, which takes minutes")
    parser.add_argument("--no-run", action="store_true", help="leave out `compiler_bisector run`, which takes minutes")
    parser.add_argument("--cold", action="store_true", help="measure once more with both caches empty")
    parser.add_argument("--bug", action="append", choices=("accuracy", "compile_error"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="compilefix-bench-") as root:
        folder = Path(root, "program")
        folder.mkdir()
        (folder / "theirs.py").write_text(PROGRAM, encoding="utf-8")
        warm(folder, root)
        for bug in args.bug or ("accuracy", "compile_error"):
            report(bug, folder, root, args)
            if args.cold:
                cold(bug, folder, root, args.jobs)
    return 0


def environ(cache: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "TRITON"))}
    package = str(Path(__file__).resolve().parents[1])
    return kept | {"TORCHINDUCTOR_CACHE_DIR": str(cache), "PYTHONPATH": package, "TORCHINDUCTOR_COMPILE_THREADS": "1"}


def run(code: str, cache: Path, seconds: float = 900) -> tuple[str, float]:
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ(cache), capture_output=True, text=True, timeout=seconds, check=False
    )
    return done.stdout + done.stderr, time.perf_counter() - start


def warm(folder: Path, root: str) -> None:
    """Compile torch's headers once on each side, so that neither pays for that in the measurement."""
    run("import torch; torch.compile(lambda x: torch.tan(x) + 1)(torch.ones(64))", Path(root, "warm"))
    ours(folder, root, "accuracy", 2, config=False)
    for kernels in Path(root, "ours").rglob("inductor"):
        shutil.copytree(kernels, Path(root, "ours-warm"), dirs_exist_ok=True)


def fresh(root: str, name: str) -> Path:
    """Return a copy of the warm cache: headers compiled, no kernel of the program in it."""
    cache = Path(root, name)
    shutil.rmtree(cache, ignore_errors=True)
    shutil.copytree(Path(root, "warm"), cache)
    return cache


def ours(
    folder: Path, root: str, bug: str, jobs: int, *, config: bool = True, warmed: bool = True
) -> dict[str, object]:
    cache = Path(root, "ours")
    if not warmed:
        shutil.rmtree(cache, ignore_errors=True)
    elif Path(root, "ours-warm").exists():
        shutil.rmtree(cache)
        shutil.copytree(Path(root, "ours-warm"), cache / "inductor")
    chosen = ["--config", f"{SETTING}={bug}"] if config else []
    start = time.perf_counter()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "compilefix", "diagnose", f"{folder / 'theirs.py'}:program", "--format", "json"),
            *("--no-match", "--no-cure", "--jobs", str(jobs), "--cache-dir", str(cache), *chosen),
        ],
        env=environ(cache),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return {**json.loads(done.stdout), "wall": time.perf_counter() - start}


def report(bug: str, folder: Path, root: str, args: argparse.Namespace) -> None:
    found = ours(folder, root, bug, args.jobs)
    phases: dict[str, float] = found["phases"]  # type: ignore[assignment]
    located = phases["baseline"] + phases["localise"]
    steps = [s for s in found["steps"] if s["phase"] in ("baseline", "localise")]  # type: ignore[attr-defined]
    triples = [c["triple"] for c in found["culprits"]]  # type: ignore[attr-defined]
    print(f"{bug}: ours")
    print(f"  localise {located:6.1f} s, {len(steps)} probes (warm up {phases['warm up']:.1f} s before it)")
    print(f"  refine   {phases['refine']:6.1f} s: {', '.join(triples)}")
    small = found["minimal"]
    words = f"{small['nodes']} operations, {small['elements']} elements" if small else "nothing"  # type: ignore[index]
    print(f"  minimise {phases['minimise']:6.1f} s: {words}; all of it {found['wall']:.1f} s")
    other, wall = bisect(folder, bug, fresh(root, "theirs"))
    print(f"{bug}: CompilerBisector in process")
    print(
        f"  localise {other['seconds']:6.1f} s, {other['probes']} probes ({wall:.1f} s with loading): {other['found']}"
    )
    print(
        f"{bug}: ratio {other['seconds'] / located:.1f}x after loading, "
        f"{wall / (located + phases['warm up']):.1f}x with it"
    )
    if not args.no_run:
        seconds, verdict = bisect_run(folder, root, bug)
        print(f"{bug}: `compiler_bisector run` {seconds:.1f} s: {verdict}")
        whole = located + phases["warm up"]
        print(f"{bug}: ratio {seconds / located:.1f}x after loading, {seconds / whole:.1f}x with it")
    if not args.no_minifier:
        seconds = minify(folder, root, bug)
        print(f"{bug}: torch's minifier {seconds:.1f} s; ratio {seconds / phases['minimise']:.1f}x", flush=True)


def bisect(folder: Path, bug: str, cache: Path) -> tuple[dict[str, Any], float]:
    """Return what CompilerBisector found in process, and the seconds of its whole process."""
    text, wall = run(BISECT.format(folder=str(folder), bug=bug), cache)
    match = re.search(r"^\{.*\}$", text, re.MULTILINE)
    if match is None:
        sys.exit(text)
    return json.loads(match[0]), wall


def bisect_run(folder: Path, root: str, bug: str) -> tuple[float, str]:
    """Return the seconds of CompilerBisector over a command, which starts a process a probe, and what it found."""
    script = folder / f"run_{bug}.py"
    script.write_text(RUN.format(folder=str(folder), bug=bug), encoding="utf-8")
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "torch._inductor.compiler_bisector", "run", sys.executable, str(script)],
        cwd=folder,
        env=environ(fresh(root, "run")),
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    said = re.findall(r"BisectionResult\(.*?\)", done.stdout + done.stderr)
    return seconds, said[-1] if said else (done.stdout + done.stderr).strip().splitlines()[-1]


def cold(bug: str, folder: Path, root: str, jobs: int) -> None:
    """Measure from the command to the triple with nothing compiled before, on either side."""
    found = ours(folder, root, bug, jobs, warmed=False)
    phases: dict[str, float] = found["phases"]  # type: ignore[assignment]
    mine = phases["warm up"] + phases["baseline"] + phases["localise"]
    empty = Path(root, "cold")
    shutil.rmtree(empty, ignore_errors=True)
    other, wall = bisect(folder, bug, empty)
    print(f"{bug}, cold: ours {mine:.1f} s; CompilerBisector {wall:.1f} s, {other['seconds']:.1f} s of it bisecting")
    print(f"{bug}, cold: ratio {wall / mine:.1f}x", flush=True)


def minify(folder: Path, root: str, bug: str) -> float:
    """Return the seconds of a run with the minifier on, and of the launcher that it writes."""
    out = Path(root, f"minifier-{bug}")
    out.mkdir()
    level = 4 if bug == "accuracy" else 2
    cache = fresh(root, "minifier")
    text, first = run(MINIFY.format(folder=str(folder), bug=bug, level=level, out=str(out)), cache)
    launchers = sorted(out.rglob("minifier_launcher.py"))
    if not launchers:
        print(f"  the minifier left no launcher: {text.strip().splitlines()[-1:]}")
        return first
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, str(launchers[0])],
        cwd=out,
        env=environ(cache),
        capture_output=True,
        timeout=1200,
        check=False,
    )
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
