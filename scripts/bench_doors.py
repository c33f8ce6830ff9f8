"""
Measure how long the light commands take, each in a fresh interpreter: ``bench_doors.py [--runs N]``.

Beside them: the interpreter alone, the package alone, and ``import torch``, which none of them pays for.
"""

from __future__ import annotations

import argparse
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


def seconds(command: list[str], runs: int) -> list[float]:
    """Return the seconds of each run, in order."""
    found = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found.append(time.perf_counter() - start)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10, help="runs of each, the median counts (default: 10)")
    runs = parser.parse_args().runs
    python = sys.executable
    print(f"{'':28}{'median':>9}{'worst':>9}   seconds of {runs} runs, Python {sys.version.split()[0]}")
    for name, code, times in (
        ("python -c pass", "pass", runs),
        ("import compilefix", "import compilefix", runs),
        ("import torch", "import torch", min(3, runs)),
    ):
        found = seconds([python, "-c", code], times)
        print(f"{name:28}{statistics.median(found):9.3f}{max(found):9.3f}")
    late = 0
    for door in DOORS:
        found = seconds([python, "-m", "compilefix", *door], runs)
        middle = statistics.median(found)
        late += middle > MOST
        print(f"{'compilefix ' + ' '.join(door):28}{middle:9.3f}{max(found):9.3f}{'   too slow' * (middle > MOST)}")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
