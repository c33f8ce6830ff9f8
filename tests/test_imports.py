"""Imports run one way, and the light verbs stay light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "compilefix"
GROUND = {"errors", "text"}
ALLOWED = {
    "errors": set(),
    "text": set(),
    "notebook": set(),
    "condition": set(),
    "settings": set(),
    "issue": {"condition"},
    "environment": {"condition", *GROUND},
    "registry": {"issue", *GROUND},
    "outcome": {"issue", "environment", *GROUND},
    "oracle": {"outcome", "issue", *GROUND},
    "cure": {"outcome", *GROUND},
    "check": {"cure", "environment", "notebook", "outcome", *GROUND},
    "measured": {"check", "environment", "issue", "outcome", "registry", "", *GROUND},
    "config": GROUND,
    "cuda_interpreted": GROUND | {"settings"},
    "progress": {"diagnosis", "environment", "notebook", "outcome", *GROUND},
    "runner": {
        "check",
        "cure",
        "cuda_interpreted",
        "environment",
        "issue",
        "oracle",
        "outcome",
        "registry",
        "settings",
        "",
        *GROUND,
    },
    "diagnosis": {
        "cuda_interpreted",
        "cure",
        "environment",
        "issue",
        "notebook",
        "ops",
        "oracle",
        "outcome",
        "progress",
        "registry",
        "runner",
        "settings",
        "workarounds",
        *GROUND,
    },
    "validation": {"oracle", *GROUND},
    "backend": {"oracle", "outcome", "report", *GROUND},
    "testing": {"oracle", "outcome", "report", *GROUND},
    "pytest_plugin": {"gate", "registry", "testing", "", *GROUND},
    "doctor": {"cuda_interpreted", "environment", *GROUND},
    "recipes": {"oracle", "outcome", "issue", *GROUND},
    "gate": {"condition", "environment", "issue", *GROUND},
    "ops": {"validation", "gate", "registry", "environment", "issue", *GROUND},
    "workarounds": {
        "settings",
        "cure",
        "ops",
        "gate",
        "runner",
        "registry",
        "environment",
        "outcome",
        "issue",
        *GROUND,
    },
    "asked": GROUND,
    "standing": {"asked", "environment", "gate", "ops", "registry", "workarounds", *GROUND},
    "scan": {"condition", "issue", "registry", *GROUND},
    "upgrade": {
        "asked",
        "check",
        "condition",
        "config",
        "environment",
        "issue",
        "measured",
        "notebook",
        "outcome",
        "registry",
        "scan",
        "",
        *GROUND,
    },
    "report": {
        "",
        "check",
        "cure",
        "diagnosis",
        "doctor",
        "scan",
        "standing",
        "upgrade",
        "environment",
        "issue",
        "outcome",
        "registry",
        *GROUND,
    },
    "calls": {"check", "outcome", "progress", "registry", "runner", "upgrade", "", *GROUND},
    "cli": {
        "check",
        "config",
        "cuda_interpreted",
        "diagnosis",
        "doctor",
        "environment",
        "gate",
        "issue",
        "measured",
        "ops",
        "outcome",
        "progress",
        "registry",
        "report",
        "runner",
        "scan",
        "standing",
        "upgrade",
        "workarounds",
        "",
        *GROUND,
    },
    "__main__": {"cli"},
    "": {"backend", "calls", "diagnosis", "gate", "standing", "validation", "workarounds"},
}
"""Room to the rooms it may import; the empty name is the package itself, for its version."""

HEAVY = {
    "torch": {
        "backend",
        "cuda_interpreted",
        "diagnosis",
        "doctor",
        "environment",
        "oracle",
        "ops",
        "recipes",
        "runner",
        "testing",
        "validation",
        "workarounds",
    },
    "jinja2": {"report/html"},
    "pygments": {"report/html"},
    "rich": {"report/table", "report/listing", "progress"},
    "platformdirs": {"backend", "doctor/folders", "gate", "runner", "upgrade"},
    "IPython": {"notebook"},
    "libcst": {"scan/edit"},
    "depyf": {"diagnosis/artifacts"},
}
"""Third-party packages and where they may be imported."""


def files() -> list[Path]:
    """Return all modules of the package; the repros inside a wheel are none."""
    return [p for p in sorted(PACKAGE.rglob("*.py")) if "_repros" not in p.parts]


def room(path: Path) -> str:
    """Return the room a module belongs to."""
    first = path.relative_to(PACKAGE).parts[0]
    return "" if first == "__init__.py" else first.removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """Yield the dotted names of all modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            deeper = [f"{node.module}.{a.name}" for a in node.names]
            package = node.module == "compilefix"
            yield from deeper if package else [node.module]


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_room_imports_only_rooms_below_it(path: Path) -> None:
    """The table of rooms holds for every module."""
    own = room(path)
    rooms = {n.split(".")[1] if "." in n else "" for n in imported(path) if n.split(".")[0] == "compilefix"}
    rooms = {"" if r == "__version__" else r for r in rooms}
    assert rooms - {own} <= ALLOWED[own]


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_heavy_packages_stay_in_their_rooms(path: Path) -> None:
    """Torch, rich and platformdirs are imported only where the design says."""
    place = str(path.relative_to(PACKAGE)).removesuffix(".py")
    for name, places in HEAVY.items():
        if any(n.split(".")[0] == name for n in imported(path)):
            assert any(place == p or place.startswith(f"{p}/") or room(path) == p for p in places), name


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["list"],
        ["list", "--format", "json"],
        ["list", "--matrix"],
        ["explain", "gh198094"],
        ["check", "--help"],
        ["scan", "--help"],
        ["scan", __file__, "--min-torch", "2.6"],
        ["upgrade", "--from", "2.13.0", "--to", "2.14.1"],
        *([verb, "--help"] for verb in ("bisect", "diagnose", "upgrade", "measure", "explain", "doctor")),
    ],
)
def test_light_verbs_do_not_import_torch(arguments: list[str]) -> None:
    """Listing, explaining and helping work where torch is slow to import or absent; help needs no rich either."""
    heavy = {"torch", "numpy", "libcst", "jinja2", "pygments", "sympy", "distributed"}
    heavy |= {"rich"} if arguments[-1] in ("--help", "--version") else set()
    code = (
        "import sys, compilefix\nfrom compilefix.cli import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    pass\n"
        f"assert not set(sys.modules) & {heavy!r}, set(sys.modules) & {heavy!r}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_files_are_short() -> None:
    """A module has at most 400 lines, a repro at most 80."""
    repros = PACKAGE.parent / "repros"
    limits = [(p, 400) for p in files()] + [(p, 80) for p in repros.glob("*.py")]
    assert [p.name for p, most in limits if len(p.read_text(encoding="utf-8").splitlines()) > most] == []
