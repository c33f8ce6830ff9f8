"""Stand-ins for the values that an expression about torch's version is made of."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

if TYPE_CHECKING:
    from compilefix.scan.names import Scope


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        raise TypeError("an unknown value has no truth")


UNKNOWN: Any = _Unknown()
"""A value that cannot be told from the source."""


class Raised(Exception):  # noqa: N818  (the scanned program's exception, not ours)
    """The scanned expression raises."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


class TorchText(str):
    """``torch.__version__``: text that compares as PEP 440 has it, with ``!=`` left as text compares."""

    __slots__ = ()
    __hash__ = str.__hash__

    def _compare(self, other: object, method: str) -> Any:
        if isinstance(other, Version):  # torch has a class of its own by that name
            return NotImplemented
        try:
            if isinstance(other, str):
                right = Version(str(other))
            elif isinstance(other, Iterable):
                right = Version(".".join(str(item) for item in other))
            else:
                raise InvalidVersion(str(other))
            return getattr(Version(str(self)), method)(right)
        except InvalidVersion:
            return getattr(super(), method)(other)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, "__lt__")

    def __le__(self, other: Any) -> Any:
        return self._compare(other, "__le__")

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, "__gt__")

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, "__ge__")

    def __eq__(self, other: object) -> Any:
        return self._compare(other, "__eq__")

    def __ne__(self, other: object) -> Any:
        return str.__ne__(self, other) if isinstance(other, str) else True


class Loose:
    """``distutils.version.LooseVersion``: numbers and words in the order of the text."""

    def __init__(self, text: str) -> None:
        pieces = [p for p in re.split(r"(\d+|[a-z]+|\.)", str(text)) if p and p != "."]
        self.version = [int(p) if p.isdigit() else p for p in pieces]

    def _compare(self, other: object, op: str) -> Any:
        if isinstance(other, str):
            other = Loose(other)
        return getattr(self.version, op)(other.version) if isinstance(other, Loose) else NotImplemented

    def __lt__(self, other: object) -> Any:
        return self._compare(other, "__lt__")

    def __le__(self, other: object) -> Any:
        return self._compare(other, "__le__")

    def __gt__(self, other: object) -> Any:
        return self._compare(other, "__gt__")

    def __ge__(self, other: object) -> Any:
        return self._compare(other, "__ge__")

    def __eq__(self, other: object) -> Any:
        return self._compare(other, "__eq__")

    __hash__ = None  # type: ignore[assignment]


class Strict(Loose):
    """``distutils.version.StrictVersion``, which refuses local parts."""

    def __init__(self, text: str) -> None:
        if not re.fullmatch(r"\d+\.\d+(\.\d+)?([ab]\d+)?", str(text)):
            raise ValueError(f"invalid version number {text!r}")
        super().__init__(text)
        self.version += [0] * (3 - len(self.version))


@dataclass(frozen=True, slots=True)
class Dotted:
    """Something imported, or an attribute of it, by its full name."""

    path: str


@dataclass(frozen=True, slots=True)
class Partial:
    """``functools.partial`` of a known callable."""

    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(slots=True)
class Function:
    """A function or class of the scanned file, with the local names around it."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
    scope: Scope
    closure: dict[str, Any] = field(default_factory=dict)
    bound: Any = None


@dataclass(slots=True)
class Instance:
    """An object of a class of the scanned file."""

    cls: ast.ClassDef
    scope: Scope
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mark:
    """A decorator that skips a test where `when` holds."""

    when: Any


PLAIN = (str, int, float, bool, tuple, list, dict, set, frozenset, range, type(None), bytes)
"""Types whose values are taken as they are."""
