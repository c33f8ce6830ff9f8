"""A page for every record, made from the record while the site is built: nothing of it is written by hand or kept."""

from __future__ import annotations

from typing import Any

from mkdocs.structure.files import File, Files

from compilefix import measured, registry
from compilefix.report import listing


def on_files(files: Files, config: Any) -> Files:
    """Add ``records/<id>.md``."""
    shipped = str(registry.shipped_folder())
    known = measured.loaded()
    for record in registry.discover().records:
        text = listing.explain_markdown(record, measured=measured.cells(record.id, known=known))
        files.append(File.generated(config, f"records/{record.id}.md", content=text.replace(shipped, "repros")))
    return files
