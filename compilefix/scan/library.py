"""Functions of the standard library, of packaging and of well-known projects that version gates call."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version, parse

from compilefix.scan.releases import Build
from compilefix.scan.values import UNKNOWN, Dotted, Loose, Mark, Raised, Strict, TorchText

Call = Callable[..., Any]
TORCH = ("torch", "pytorch")

COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}

PLAIN: dict[str, Call] = {
    **{f"operator.{n}": getattr(operator, n) for n in ("lt", "le", "eq", "ne", "gt", "ge", "not_", "and_", "or_")},
    **{f"re.{n}": getattr(re, n) for n in ("match", "search", "fullmatch", "split", "findall", "compile", "sub")},
    "packaging.version.parse": parse,
    "packaging.version.Version": Version,
    "packaging.specifiers.SpecifierSet": SpecifierSet,
    "pkg_resources.parse_version": parse,
    "torch.torch_version.TorchVersion": TorchText,
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "tuple": tuple,
    "list": list,
    "len": len,
    "any": any,
    "all": all,
    "max": max,
    "min": min,
    "sorted": sorted,
    "set": set,
    "frozenset": frozenset,
    "sum": sum,
    "abs": abs,
    "zip": zip,
    "enumerate": enumerate,
    "reversed": reversed,
    "range": range,
    "dict": dict,
    "round": round,
}
"""Called as they are, with values that are known."""

LOOSE = {"LooseVersion": Loose, "StrictVersion": Strict}
FALSE_WHEN_SCANNED = frozenset({"typing.TYPE_CHECKING"})
MARKS = {"skipif": True, "skipIf": True, "xfail": True, "skipUnless": False, "skipunless": False}
GATES = frozenset(
    {
        "RequirementCache",
        "check_version",
        "compare_version",
        "compare_versions",
        "is_torch_equal",
        "is_torch_equal_or_newer",
        "is_torch_greater_or_equal",
        "is_torch_less_or_equal",
        "is_torch_version",
        "is_torch_version_ge",
        "pytorch_after",
        "require_torch_greater_or_equal",
        "require_version",
        "required_torch_version",
        "torch_version_at_least",
    }
)
"""Helpers of other projects, by name."""

_CODED = re.compile(
    r"_?(?:is_|was_|has_)?(?:py)?torch_?(?:version_?)?(?P<word>greater_or_equal(?:_than)?|greater_equal|ge|gte|at_least|"
    r"or_later|after|less_than|less|lt|below|greater_than|gt|less_or_equal|less_equal|le)_?(?P<major>\d)_(?P<minor>\d+)"
    r"(?:_(?P<patch>\d+))?",
    re.IGNORECASE,
)
_CODED_TAIL = re.compile(r"(?:WITH_PT|TORCH_|PT_?)(?P<major>[12])_?(?P<minor>\d{1,2})(?:_(?P<patch>\d+))?")


def coded(name: str) -> tuple[str, str] | None:
    """Return operator and version that a flag such as ``_TORCH_GREATER_EQUAL_2_6`` carries in its name."""
    if match := _CODED.fullmatch(name):
        word = match["word"].lower()
        less = word.startswith(("less", "lt", "le", "below"))
        strict = word in ("less_than", "less", "lt", "below", "greater_than", "gt")
        sign = "<" if less and strict else "<=" if less else ">" if strict else ">="
    elif match := _CODED_TAIL.fullmatch(name):
        sign = ">="
    else:
        return None
    return sign, f"{match['major']}.{match['minor']}" + (f".{match['patch']}" if match["patch"] else "")


def gate(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], build: Build) -> tuple[Any, list[tuple[str, Any]]]:
    """
    Return what helper `name` answers on `build`, and the comparisons that it makes: operator and bound.

    The answer is `UNKNOWN` where the call is about another package. Raises `Raised` for arguments that it refuses.
    """
    given = (*args, *kwargs.values())
    if any(v is UNKNOWN or (isinstance(v, Dotted) and not v.path.startswith("operator.")) for v in given):
        return UNKNOWN, []  # a bound that another module holds
    try:
        return _HELPERS[name](build, *args, **kwargs)
    except (TypeError, ValueError, KeyError, InvalidVersion, InvalidRequirement) as error:
        raise Raised(error) from None


Answer = tuple[Any, list[tuple[str, Any]]]


def holds(build: Build, sign: str, bound: Any, *, base: bool = False) -> Answer:
    """Compare as packaging does."""
    have = build.base if base else build.version
    return COMPARISONS[sign](have, Version(str(bound))), [] if base else [(sign, str(bound))]


def _equal(build: Build, bound: str) -> Answer:
    return Version(bound) <= build.version < Version(f"{bound}.1"), []


def _hugging_face(build: Build, sign: Any, bound: Any) -> Answer:
    return holds(build, sign, bound)


def _named(build: Build, name: Any, sign: Any, bound: Any, use_base_version: bool = False, **_: Any) -> Answer:
    if name not in TORCH:
        return UNKNOWN, []
    if isinstance(sign, Dotted):
        sign = {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">="}[sign.path.rpartition(".")[2]]
    return holds(build, sign, bound, base=bool(use_base_version))


def _digits(build: Build, current: Any, required: Any = "0.0.0", *_: Any, **__: Any) -> Answer:
    if not (isinstance(current, TorchText) or current in (*TORCH, build.text)):
        return UNKNOWN, []
    for part in str(required).strip(",").split(","):
        match = re.match(r"([^0-9]*)([\d.]+)", part)
        if match is None:
            return UNKNOWN, []
        sign = match[1].strip() or ">="
        have, want = build.base.release, (*(int(p) for p in match[2].split(".") if p), 0, 0)[:3]
        if sign not in COMPARISONS or not COMPARISONS[sign](have, want):
            return (False if sign in COMPARISONS else UNKNOWN), []
    return True, []


def requirement(build: Build, text: Any, *_: Any, **__: Any) -> Answer:
    """Tell whether `build` meets a requirement such as ``torch>=2.6``."""
    wanted = Requirement(str(text))
    if wanted.name not in TORCH:
        return UNKNOWN, []
    bounds = [(s.operator, s.version) for s in wanted.specifier if "dev" in s.version]
    return wanted.specifier.contains(build.version, prereleases=True), bounds


def _window(build: Build, min_version: Any = None, max_version: Any = None) -> Answer:
    found: Any = True
    bounds: list[tuple[str, Any]] = []
    for sign, bound in ((">=", min_version), ("<=", max_version)):
        if bound is not None:
            answer, seen = holds(build, sign, bound)
            found, bounds = found and answer, bounds + seen
    return found, bounds


def _after(build: Build, major: Any, minor: Any, patch: Any = 0, *_: Any) -> Answer:
    return holds(build, ">=", f"{major}.{minor}.{patch}")


def _at_least(build: Build, bound: Any, accept_dev: bool = False, *_: Any, **__: Any) -> Answer:
    return holds(build, ">=", bound, base=bool(accept_dev))


def _at_most(build: Build, bound: Any, accept_dev: bool = False, *_: Any, **__: Any) -> Answer:
    return holds(build, "<=", bound, base=bool(accept_dev))


_HELPERS: dict[str, Callable[..., Answer]] = {
    "is_torch_equal": _equal,
    "is_torch_equal_or_newer": _at_least,
    "is_torch_version": _hugging_face,
    "is_torch_version_ge": _at_least,
    "compare_versions": _named,
    "compare_version": _named,
    "check_version": _digits,
    "require_version": requirement,
    "RequirementCache": requirement,
    "required_torch_version": _window,
    "pytorch_after": _after,
    "is_torch_greater_or_equal": _at_least,
    "is_torch_less_or_equal": _at_most,
    "require_torch_greater_or_equal": _at_least,
    "torch_version_at_least": _at_least,
}


def mark(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Mark | None:
    """Return the mark of a skipping decorator, None for another name."""
    leaf = name.rpartition(".")[2]
    if leaf not in MARKS:
        return None
    when = args[0] if args else kwargs.get("condition", UNKNOWN)
    if when is UNKNOWN or isinstance(when, str):
        return Mark(UNKNOWN)
    return Mark(bool(when) is MARKS[leaf])


def partial_of(function: Any) -> bool:
    """Tell whether `function` is ``functools.partial``."""
    return isinstance(function, Dotted) and function.path == f"{functools.__name__}.partial"
