"""
Measure `check` against one fresh Python process a run, and against no isolation at all.

Every figure of one invocation comes from the same machine, the same repros and the same number of jobs:

- ours: `compilefix check`, forked from a warmed parent;
- fresh: `compilefix check --isolation spawn`, a new Python process a (repro, target), what people do today;
- single: the same programs one after another inside one warm process.

``--cold`` also measures ours and fresh with empty caches. Prints seconds, CPU seconds, peak memory and the ratios.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

UNSAFE = ("symptom:crash", "symptom:hang")
"""Records that end or block a process, so that no single process can run them."""


@dataclass
class Cost:
    wall: float
    cpu: float
    peak: float

    def __str__(self) -> str:
        return f"{self.wall:8.1f} s wall {self.cpu:8.1f} s CPU {self.peak:7.2f} GiB peak"


def measure(command: list[str], environ: dict[str, str]) -> Cost:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    peak = [0.0]
    done = threading.Event()
    watch = threading.Thread(target=sample, args=(process.pid, peak, done))
    watch.start()
    _, errors = process.communicate()
    done.set()
    watch.join()
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode not in (0, 1, 4):
        sys.exit(f"{' '.join(command)} ended with {process.returncode}:\n{errors[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu, peak[0])


def sample(root: int, peak: list[float], done: threading.Event) -> None:
    """Keep the largest proportional memory of a process tree, in GiB."""
    while not done.wait(0.25):
        total = 0
        for pid in tree(root):
            try:
                text = Path(f"/proc/{pid}/smaps_rollup").read_text()
            except OSError:
                continue
            total += next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)
        peak[0] = max(peak[0], total / 2**20)


def tree(root: int) -> list[int]:
    found, queue = [], [root]
    while queue:
        pid = queue.pop()
        found.append(pid)
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                queue += map(int, (task / "children").read_text().split())
        except OSError:
            continue
    return found


def single(ids: list[str]) -> None:
    """Serve every request of a check inside this process, without isolation."""
    import torch

    from compilefix import registry
    from compilefix.environment import Environment
    from compilefix.runner import Options, targets_for, warm, worker, zygote
    from compilefix.runner.protocol import Mode, Request

    environment = Environment.from_json(zygote.describe(()))
    for record in registry.discover().select(ids):
        with tempfile.TemporaryDirectory() as folder:
            for target in targets_for(record, environment, Options()):
                mode = Mode.REFERENCE if target.rank == 0 else Mode.PROGRAM
                torch._dynamo.reset()
                warm.forget_counters()
                worker.serve(Request(repro=str(record.path), target=str(target), mode=mode, exchange=folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", help="records (default: all that a single process can run)")
    parser.add_argument("--jobs", default=str(len(os.sched_getaffinity(0))))
    parser.add_argument("--cold", action="store_true", help="also measure with empty caches")
    parser.add_argument("--single", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.single:
        single(args.ids)
        return
    from compilefix import environment, registry

    ids = [r.id for r in registry.discover().select(args.ids, ignore=[] if args.ids else UNSAFE)]
    base = [sys.executable, "-m", "compilefix", "check", *ids, "--jobs", args.jobs, "--no-workarounds"]
    base += ["--format", "json", "--fail-on", "never", "--timeout", "300"]
    with tempfile.TemporaryDirectory() as cache:
        cold = Path(cache, "cold")
        warm_cache = ["--cache-dir", f"{cache}/warm"]
        environ = dict(os.environ)
        print(f"{len(ids)} records, jobs {args.jobs}, Python {sys.version.split()[0]}")
        if args.cold:
            ours = measure([*base, "--cache-dir", f"{cold}/ours"], environ)
            print("cold  ours  ", ours, flush=True)
            fresh = measure([*base, "--cache-dir", f"{cold}/fresh", "--isolation", "spawn"], environ)
            print("cold  fresh ", fresh, flush=True)
            print(f"cold  ours is {fresh.wall / ours.wall:.1f} times as fast as a fresh process a run", flush=True)
        measure([*base, *warm_cache], environ)
        ours = measure([*base, *warm_cache], environ)
        print("warm  ours  ", ours, flush=True)
        scrubbed = environment.scrubbed_environ(f"{cache}/warm")[0]
        alone = measure([sys.executable, __file__, "--single", *ids], scrubbed)
        print("warm  single", alone, flush=True)
        print(f"warm  isolation takes {ours.cpu / alone.cpu:.2f} times the CPU of one warm process", flush=True)
        fresh = measure([*base, *warm_cache, "--isolation", "spawn"], environ)
        print("warm  fresh ", fresh, flush=True)
        print(f"warm  ours is {fresh.wall / ours.wall:.1f} times as fast as a fresh process a run", flush=True)


if __name__ == "__main__":
    main()
