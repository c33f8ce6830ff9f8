"""A package index in a folder: releases that stand in for torch's gigabytes, installed by the real installer."""

from __future__ import annotations

import zipfile
from pathlib import Path

GOOD = "version = type('V', (), {'git_version': '0' * 40})\n__version__ = %r\n"
BROKEN = "raise ImportError('libtorch_cpu.so: cannot open shared object file')\n"


def index(folder: Path, releases: dict[str, str]) -> str:
    """Write an index with these releases of torch (version to source) and return its address."""
    wanted = [("torch", version, source) for version, source in releases.items()]
    wanted += [(name, "99.0", "") for name in ("numpy", "packaging", "platformdirs", "rich", "tomli")]
    for name, version, source in wanted:
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        info = f"{name}-{version}.dist-info"
        files = {
            f"{name}/__init__.py": source,
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
        with zipfile.ZipFile(place / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
            for path, text in files.items():
                wheel.writestr(path, text)
        links = "".join(f'<a href="{path.name.replace("+", "%2B")}">{path.name}</a>\n' for path in place.glob("*.whl"))
        (place / "index.html").write_text(f"<html><body>{links}</body></html>")
    return folder.as_uri()
