"""Failures as they compare between two releases: numbers, addresses, paths and shapes are taken out of their text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compilefix.issue import Symptom
from compilefix.text import first_line, strip_ansi

Frame = tuple[str, int, str]
"""File, line and function of one level of a traceback."""

ASSERTION = "AssertionError"
HANG = "Timeout"

_RULES = tuple(
    (re.compile(pattern), put)
    for pattern, put in (
        (r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b", "<id>"),
        (r"(?:(?<=[\s'\"(=:,])|^)(?:[A-Za-z]:)?(?:[\\/][\w.+@~%<>-]+)+[\\/]?", "<path>"),
        (r"\b0x[0-9a-fA-F]+\b", "<address>"),
        (r"torch\.Size\(\[[^\]]*\]\)", "<shape>"),
        (r"[\[(]\s*(?:-?(?:\d+|[su]\d+)\s*,\s*)*-?(?:\d+|[su]\d+)\s*,?\s*[\])]", "<shape>"),
        (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b", "<hash>"),
        (r"\b(buf|tmp|arg|op|ks|[sui])\d+(?:_\d+)*\b", r"\1<n>"),
        (r"(?<=[A-Za-z])((?:_\d+)+)\b", "_<n>"),
        (
            r"(?<![\w<.])[-+]?(?:\d+(?:\.\d+)+(?:[+.]?(?:dev|rc|a|b|post|cu|cpu|git)\w*)*|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)(?!\w)",
            "<n>",
        ),
        (r"\s+", " "),
    )
)


def normalise(text: str) -> str:
    """
    Return `text` on one line without what differs from one run to the next.

    Paths, addresses, hashes, shapes and numbers become ``<path>``, ``<address>``, ``<hash>``, ``<shape>`` and ``<n>``;
    generated names such as ``buf12`` and ``add_3`` lose their number. Names like ``float32`` and ``conv2d`` stay.
    """
    text = strip_ansi(text)
    for pattern, put in _RULES:
        text = pattern.sub(put, text)
    return text.strip()


@dataclass(frozen=True, slots=True, order=True)
class Signature:
    """What two failures must share to count as the same one."""

    error: str
    """Class of the error, without its module; ``SIGSEGV``; ``exit 3``; `HANG`."""

    message: str
    """First line of its message, normalised."""

    frame: str = ""
    """Innermost frame of the user's own code, ``file:function``; empty where there is none."""

    @property
    def cause(self) -> tuple[str, str, str]:
        """What is grouped as one root cause: error and message, for an assertion its place too."""
        return self.error, self.message, self.frame if self.error == ASSERTION else ""

    def __str__(self) -> str:
        at = f" (in {self.frame})" if self.frame else ""
        return f"{self.error}: {self.message}".removesuffix(": ") + at


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failure of one test, or of a whole command."""

    test: str
    """Node id of the test; of a collection error, the file; otherwise the command."""

    when: str
    """``collect``, ``setup``, ``call``, ``teardown`` or ``command``."""

    error: str
    message: str
    """As it was, at most some thousand characters."""

    frame: str = ""
    source: str = ""
    """Text of the user's functions that the traceback goes through: what is searched for operators."""

    @property
    def signature(self) -> Signature:
        """What this failure is compared by."""
        return Signature(self.error.rpartition(".")[2], normalise(first_line(self.message, 400)), self.frame)

    @property
    def symptom(self) -> Symptom:
        """What a user sees of it, in a record's words; a failed assertion counts as a wrong result."""
        return symptom_of(self.error.rpartition(".")[2], self.message)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        names = ("test", "when", "error", "message", "frame", "source")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Failure:
        """Read what `to_json` wrote."""
        return cls(**raw)


def symptom_of(error: str, message: str) -> Symptom:
    """Return the symptom of an error by its class: assertion, signal, time limit, anything else."""
    if error == HANG:
        return Symptom.HANG
    if error.startswith("SIG"):
        return Symptom.CRASH
    if "DID NOT RAISE" in message:
        return Symptom.MISSING_ERROR
    return Symptom.WRONG_RESULT if error == ASSERTION else Symptom.ERROR


_NOT_USERS = re.compile(r"[\\/](?:site-packages|dist-packages|lib[\\/]python\d[\d.]*|_pytest|importlib)[\\/]|^<|/<")


def users_frames(frames: Iterable[Frame], folder: Path) -> list[Frame]:
    """Return the frames of the user's own code, the outermost first: files in `folder` that nobody installed there."""
    return [f for f in frames if not _NOT_USERS.search(f[0]) and Path(folder, f[0]).resolve().is_relative_to(folder)]


def place(frames: Iterable[Frame], folder: Path) -> str:
    """Return ``file:function`` of the innermost frame of the user's own code, empty where there is none."""
    own = users_frames(frames, folder)
    return f"{Path(folder, own[-1][0]).resolve().relative_to(folder)}:{own[-1][2]}" if own else ""


_TRACEBACK = re.compile(r"^Traceback \(most recent call last\):$", re.MULTILINE)
_FRAME = re.compile(r'^ +File "([^"\n]+)", line (\d+), in (.+)$', re.MULTILINE)
_ERROR = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$", re.DOTALL)


def of_traceback(text: str) -> tuple[str, str, list[Frame]] | None:
    """Return error class, message and frames of the last traceback in `text`; None where there is none."""
    begins = [match.end() for match in _TRACEBACK.finditer(text)]
    if not begins:
        return None
    body = text[begins[-1] :]
    frames = [(file, int(line), function) for file, line, function in _FRAME.findall(body)]
    told = re.search(r"^(?=\S)(.*)", body.lstrip("\n"), re.MULTILINE | re.DOTALL)
    error = _ERROR.match(told[1].strip()) if told else None
    return (error[1], error[2] or "", frames) if error else ("Exception", "", frames)
