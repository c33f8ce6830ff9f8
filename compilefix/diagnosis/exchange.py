"""What a program that is watched, and the process that watches it, call their files and variables. Pure."""

from __future__ import annotations

FOLDER = "COMPILEFIX_CAPTURE"
"""Variable that names the folder; ``hooks/sitecustomize.py``, which must import nothing of ours, says it anew."""

AHEAD = "COMPILEFIX_CAPTURE_AHEAD"
"""Variable that is set where each graph is to be kept before it is tried."""

CAPTURED = "captured.json"
"""What is said of the first graph that misbehaves; whole as soon as it is there."""

PENDING = "pending.json"
"""Behind the number of a process: what is said of the graph that it tries at this moment."""

SEEN = "seen.json"
"""Behind the number of a process: how much it has looked at."""

GRAPH = "graph.pt"
"""A graph and its inputs, as `torch.save` writes them; behind the number of a process where several write."""
