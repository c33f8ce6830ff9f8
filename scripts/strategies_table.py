"""
Print the table of a drop-in op's strategies over the measured releases, as the README shows it.

    python scripts/strategies_table.py [slice_scatter]
"""

from __future__ import annotations

import sys

from packaging.version import Version

from compilefix import ops
from compilefix.ops import selection

CALLS = {
    "plain": "`slice_scatter(x, src, …)`",
    "clone": "`slice_scatter(x.clone(), src, …)`",
    "assign": "`out = x.clone(); out[a:b] = src`",
    "index-put": "`index_put` at the positions of the slice",
    "where": "`where` with a mask and the source gathered",
    "fused-clone": "`slice_scatter` of a copy that fuses",
    "cat": "`cat` of the pieces",
    "opaque-clone": "`slice_scatter` of a custom op's copies",
    "disable": "`torch.compiler.disable` island",
}


def table(name: str) -> str:
    """Return the table: strategies by releases, each cell the patterns that came out wrong."""
    tables = {version: t[name] for version, t in selection.shipped().items() if name in t}
    releases = sorted(tables, key=Version)
    lines = ["| strategy | " + " | ".join(releases) + " |", "|---" * (len(releases) + 1) + "|"]
    order = [*CALLS, *ops.strategies(name)] if name == "slice_scatter" else list(ops.strategies(name))
    for strategy in dict.fromkeys(order):
        cells = [cell(tables[release].get(strategy, {})) for release in releases]
        call = CALLS.get(strategy, "") if name == "slice_scatter" else ""
        lines.append(f"| {strategy}{': ' if call else ''}{call} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def cell(wrong: selection.Wrong) -> str:
    """Return ``right``, or how many patterns came out wrong on the CPU and on CUDA's kernels, or that nothing ran."""
    if not wrong:
        return "not measured"
    counts = {target: len(patterns) for target, patterns in wrong.items()}
    if not any(counts.values()):
        return "right"
    both = "/".join(str(counts[target]) for target in sorted(counts))
    return f"**wrong** ({both})"


if __name__ == "__main__":
    print(table(sys.argv[1] if len(sys.argv) > 1 else "slice_scatter"))
