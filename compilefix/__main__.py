"""Run compilefix as ``python -m compilefix``."""

from __future__ import annotations

import sys

from compilefix.cli import main

if __name__ == "__main__":
    sys.exit(main())
