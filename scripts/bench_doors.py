"""
Measure how long the light commands take, each in a fresh interpreter: ``bench_doors.py [--runs N]``.

Beside them: the interpreter alone, the package alone, and ``import torch``, which none of them pays for. Where other
programs use the cores, seconds of processor time say what an idle machine would need.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time

MOST = 0.3
"""Seconds that a door may take."""

DOORS = (
    ("--help",),
    ("--version",),
    ("list",),
    ("explain", "gh198094"),
    ("scan", "--help"),
    ("upgrade", "--help"),
    ("diagnose", "--help"),
    ("check", "--help"),
)


def processor() -> float:
    """Return the processor time of all children that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(name: str, command: list[str], runs: int) -> float:
    """Run `command` so often, print a line, and return the median by the clock, in seconds."""
    clock, used = [], []
    for _ in range(runs):
        start, before = time.perf_counter(), processor()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        clock.append(time.perf_counter() - start)
        used.append(processor() - before)
    middle = statistics.median(clock)
    print(f"{name:28}{middle:9.3f}{max(clock):9.3f}{statistics.median(used):11.3f}")
    return middle


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10, help="runs of each, the median counts (default: 10)")
    runs = parser.parse_args().runs
    python = sys.executable
    print(f"{runs} runs, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, Python {sys.version.split()[0]}\n")
    print(f"{'seconds':28}{'median':>9}{'worst':>9}{'processor':>11}")
    measure("python -c pass", [python, "-c", "pass"], runs)
    measure("import compilefix", [python, "-c", "import compilefix"], runs)
    measure("import torch", [python, "-c", "import torch"], min(3, runs))
    doors = {" ".join(door): [python, "-m", "compilefix", *door] for door in DOORS}
    late = [name for name, command in doors.items() if measure(f"compilefix {name}", command, runs) > MOST]
    for name in late:
        print(f"compilefix {name} takes more than {MOST} s")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
