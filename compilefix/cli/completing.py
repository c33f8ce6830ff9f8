"""What the tab key offers: verbs and options by argparse, values by what stands for them in the help."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from pathlib import Path

Words = Callable[[], Iterable[str]]


def _ids() -> list[str]:
    from compilefix import registry

    return [record.id for record in registry.discover().records]


def _terms() -> list[str]:
    from compilefix import registry

    return [*registry.terms(registry.discover().records), *_ids()]


def _rules() -> list[str]:
    from compilefix.scan.finding import RULES

    return [*sorted({code[:3] for code in RULES}), *RULES]


def _targets() -> list[str]:
    from compilefix.outcome import BACKENDS, INTERPRETED, TARGET_DEVICES

    pairs = [(b, d) for b in BACKENDS for d in TARGET_DEVICES if d != INTERPRETED or b == "inductor"]
    return [f"{backend}:{device}{end}" for backend, device in pairs for end in ("", ":dynamic")]


def _ops() -> list[str]:
    folder = Path(__file__).parents[1] / "ops"  # importing the package would import torch
    return sorted(path.stem.removeprefix("op_") for path in folder.glob("op_*.py"))


def _gpus() -> list[str]:
    from compilefix.cuda_interpreted import gpus

    return list(gpus.GPUS)


def _releases() -> list[str]:
    from compilefix import measured

    return sorted({path.stem.split("-")[1].split("+")[0] for path in measured.folder().glob("torch-*.json")})


WORDS: dict[str, Words] = {
    "ID": _ids,
    "TERM": _terms,
    "CODE": _rules,
    "T": _targets,
    "OP": _ops,
    "NAME": _gpus,
    "ORDER": lambda: ["forward", "reverse", "shuffle", "shuffle:1"],
    "RELEASE": _releases,
    "A": _releases,
    "B": _releases,
    "VERSION": _releases,
    "NUMBER": lambda: ["local", "contract"],
    "SIZE": lambda: ["none", "4GiB", "8GiB", "16GiB"],
}
"""What may stand where the help has that word."""

FILES_TOO = ("FILE:FUNC", "ID|FILE:FUNC")
"""Words of the help for which a record's id may stand as well as a file."""


def complete(parser: Callable[[str | None], argparse.ArgumentParser], verbs: Iterable[str]) -> None:
    """Answer a shell that asks for completions, and exit; see ``compilefix completion``."""
    import argcomplete
    from argcomplete.completers import FilesCompleter

    files = FilesCompleter()

    def or_files(prefix: str, **_: object) -> list[str]:
        return [*(id for id in _ids() if id.startswith(prefix)), *files(prefix)]

    words = os.environ.get("COMP_LINE", "").split(" ")
    top = parser(words[1] if len(words) > 2 and words[1] in verbs else None)
    for group in (action for action in top._actions if isinstance(action, argparse._SubParsersAction)):
        for action in (action for child in group.choices.values() for action in child._actions):
            name = action.metavar if isinstance(action.metavar, str) else ""
            if name in FILES_TOO:
                action.completer = or_files
            elif name in WORDS and not action.choices:
                action.completer = lambda found=WORDS[name], **_: list(found())
    argcomplete.autocomplete(top, always_complete_options="long")
