"""compilefix: known torch.compile defects as programs that run, and what works instead."""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["__version__"]
