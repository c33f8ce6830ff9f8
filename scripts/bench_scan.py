"""
Measure how long a scan of a large tree takes: ``bench_scan.py [FOLDER] [--jobs N]``; default: the installed torch.

Seconds of processor time say what an idle machine would need; seconds of the clock depend on what else runs.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from pathlib import Path

from packaging.version import Version

from compilefix.scan import scan


def folder(package: str) -> Path:
    """Return the folder of an installed package without importing it."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(f"{package} is not installed; name a folder")
    return Path(found.origin).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    where = args.folder or folder("torch")
    began = time.monotonic()
    report = scan([where], minimum=Version("2.9.1"), maximum=None, jobs=args.jobs)
    seconds, used = time.monotonic() - began, os.times()
    cpu = used.user + used.system + used.children_user + used.children_system
    print(f"{where}: {report.files} files, {len(report.findings)} findings, {len(report.broken)} not read")
    print(f"{seconds:.1f} s by the clock with {args.jobs} processes, {cpu:.1f} s of processor time")
    for line in report.broken:
        print(line)


if __name__ == "__main__":
    main()
