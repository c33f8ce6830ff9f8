"""
Write docs/issues.md from the records and the measured files.

    python scripts/generate_docs.py            # write it
    python scripts/generate_docs.py --check    # say whether it is up to date; exit 1 where it is not
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from compilefix import registry
from compilefix.report import releases
from compilefix.upgrade import matrix

PAGE = Path(__file__).parents[1] / "docs" / "issues.md"


def page() -> str:
    """Return what belongs into the file."""
    records = registry.discover().records
    return releases.markdown(records, matrix.read(records=records))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where the file is out of date")
    text = page()
    if parser.parse_args(argv).check:
        same = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text
        if not same:
            print(f"{PAGE} is out of date; run: python scripts/generate_docs.py", file=sys.stderr)
        return 0 if same else 1
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
