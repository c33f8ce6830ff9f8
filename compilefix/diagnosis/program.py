"""A captured graph as text: lines of code, inputs as expressions. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

HEAD = '''"""
{title}.

Why: {why}
What to do: {todo}
"""

{imports}

try:
    from compilefix.issue import Issue, Symptom
except ImportError:  # the program needs torch alone

    class Symptom:
        {symbol} = "{symptom}"

    Issue = dict

ISSUE = Issue(
    symptom=Symptom.{symbol},
    {fields}
)


def inputs(device):
    return {inputs}


def program({names}):
    {body}
    return {result}


if __name__ == "__main__":
    {settings}torch.manual_seed(0)
    {plain}
    torch.manual_seed(0)
    print("compiled", torch.compile(program, {arguments})(*inputs("cpu")))
'''

FLOATS = ("torch.float32", "torch.float64", "torch.float16", "torch.bfloat16")
WRITTEN = 64
"""Elements that are written out one by one at the most."""

INTEGERS = ("torch.int64", "torch.int32", "torch.int16", "torch.int8", "torch.uint8")


@dataclass(frozen=True)
class Input:
    """One argument of the program: what it is, and the recipe by which it is made."""

    name: str
    told: Mapping[str, Any]
    """As `switch_capture` describes the value."""

    recipe: str = "saved"
    shape: tuple[int, ...] = ()
    dtype: str = ""
    grad: bool = False
    starts: tuple[int, ...] = ()
    """Where a part of the captured value begins in each dimension; empty for the whole."""

    digits: int | None = None
    """Decimals that a literal is rounded to."""

    @classmethod
    def of(cls, name: str, told: Mapping[str, Any]) -> Input:
        """Return the input as it was captured."""
        tensor = told["type"] == "Tensor"
        recipe = "saved" if tensor or told.get("code") is None else "code"
        shape = tuple(told.get("shape", ()))
        return cls(name, told, recipe, shape, told.get("dtype", ""), bool(told.get("grad")))

    @property
    def elements(self) -> int:
        """Number of elements; 0 for what is no tensor."""
        count = 1 if self.told["type"] == "Tensor" else 0
        for size in self.shape:
            count *= size
        return count

    @property
    def literal(self) -> str | None:
        """The captured values written out; None where they are too many, or cannot be written."""
        if "data" not in self.told or not 0 < self.elements <= WRITTEN:
            return None
        part = _part(self.told["data"], self.starts or (0,) * len(self.shape), self.shape)
        text = repr(part if self.digits is None else _rounded(part, self.digits))
        text = re.sub(r"\b(nan|inf)\b", r"float('\1')", text)
        return f"torch.tensor({text}, dtype={self.dtype})"

    def narrowed(self, size: int, to: int, *, last: bool) -> Input:
        """Return the first (or `last`) `to` of every dimension of `size` elements."""
        shape = tuple(to if n == size else n for n in self.shape)
        before = self.starts or (0,) * len(shape)
        starts = tuple(s + (n - to if last and n == size else 0) for s, n in zip(before, self.shape, strict=True))
        return replace(self, shape=shape, starts=starts)

    def recipes(self) -> tuple[str, ...]:
        """Return the recipes that a value of this kind may have, the simplest first."""
        if self.told["type"] != "Tensor" or not self.told.get("plain"):
            return ()
        literal = ("literal",) if self.literal is not None else ()
        if self.dtype in FLOATS:
            return ("ones", "arange", "linspace", *literal, "randn")
        if self.dtype in INTEGERS:
            return ("zeros", "arange", *literal, "cycle")
        return ("ones", *literal, "cycle") if self.dtype == "torch.bool" else literal

    def text(self, saved: str) -> str:
        """Return the expression that makes the value; `saved` loads the captured values."""
        if self.recipe == "code":
            return str(self.told["code"])
        n, shape, dtype = self.elements, list(self.shape), self.dtype
        reshape = "" if len(shape) == 1 else f".reshape({shape})"
        low, high = self.told.get("range", (0, 1))
        same = low == high
        made = {
            "saved": self._saved(saved),
            "zeros": f"torch.zeros({shape}, dtype={dtype})",
            "ones": f"torch.ones({shape}, dtype={dtype})",
            "arange": f"torch.arange({n}, dtype={dtype}){reshape}",
            "linspace": f"torch.linspace(-2.0, 2.0, {n}, dtype={dtype}){reshape}",
            "randn": f"torch.randn({shape}, generator=torch.Generator().manual_seed(0)).to({dtype})",
            "cycle": f"(torch.arange({n}) % {max(high - low, 0) + 1} + {low}).to({dtype}){reshape}"
            if not same
            else f"torch.full({shape}, {low}, dtype={dtype})",
            "literal": self.literal or "",
        }
        if dtype == "torch.bool":
            made["cycle"] = f"(torch.arange({n}) % 2 == 0){reshape}"
        text = str(made[self.recipe])
        default = {"arange": "torch.int64"}.get(self.recipe, "torch.float32")
        if self.recipe in ("zeros", "ones", "linspace", "arange") and dtype == default:
            text = text.replace(f", dtype={dtype}", "")
        return text + (".requires_grad_()" if self.grad and self.recipe != "saved" else "")

    def _saved(self, saved: str) -> str:
        whole = f"{saved}[{self.name!r}]"
        if not self.starts:
            return whole
        parts = ", ".join(f"{s}:{s + n}" for s, n in zip(self.starts, self.shape, strict=True))
        return f"{whole}.detach()[{parts}].clone().requires_grad_({self.grad})"


def _part(data: Any, starts: Sequence[int], shape: Sequence[int]) -> Any:
    """Cut a box out of nested lists."""
    if not shape:
        return data
    return [_part(row, starts[1:], shape[1:]) for row in data[starts[0] : starts[0] + shape[0]]]


def _rounded(data: Any, digits: int) -> Any:
    if isinstance(data, list):
        return [_rounded(row, digits) for row in data]
    return round(data, digits) if isinstance(data, float) else data


@dataclass(frozen=True)
class Program:
    """Lines of a graph that are kept, and what they take from outside."""

    lines: tuple[dict[str, Any], ...]
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]

    @property
    def elements(self) -> int:
        """Elements of all inputs."""
        return sum(i.elements for i in self.inputs)

    def with_inputs(self, **changes: Input) -> Program:
        """Return the program with some inputs made otherwise."""
        return replace(self, inputs=tuple(changes.get(i.name, i) for i in self.inputs))

    def text(self, head: Mapping[str, Any], saved: str) -> str:
        """Return a runnable file; `head` has title, why, todo, symptom, fields, compile, config, raises."""
        body = [f"{line['name']} = {line['code']}" for line in self.lines]
        made = [i.text(saved) for i in self.inputs]
        used = "\n".join([*body, *made])
        imports = [f"import {m}" for m in ("math", "operator") if re.search(rf"\b{m}\.", used)]
        modules = sorted({name.partition(".config.")[0] + ".config" for name in head["config"]})
        settings = "".join(f"{name} = {value!r}\n    " for name, value in head["config"].items())
        arguments = {"backend": head["stage"]} | dict(head["compile"])
        tuple_of = "(" + ", ".join(made) + ("," if len(made) == 1 else "") + ")"
        outputs = ", ".join(self.outputs) or "None"
        call = 'print("plain   ", program(*inputs("cpu")))'
        plain = f"try:\n        {call}\n    except Exception as error:\n        print(repr(error))"
        fields = {k: v for k, v in head["fields"].items() if v}
        return HEAD.format(
            title=head["title"],
            why=head["why"],
            todo=head["todo"],
            imports="\n".join([*imports, "import torch", *(f"import {m}" for m in modules)]),
            symbol=head["symptom"].upper().replace("-", "_"),
            symptom=head["symptom"],
            fields="\n    ".join(f"{k}={v!r}," for k, v in fields.items()),
            inputs=tuple_of,
            names=", ".join(i.name for i in self.inputs),
            body="\n    ".join(body) or "pass",
            result=outputs,
            settings=settings,
            plain=plain if head.get("raises") else call,
            arguments=", ".join(f"{k}={v!r}" for k, v in arguments.items()),
        )


def sliced(captured: Mapping[str, Any], kept: Sequence[dict[str, Any]]) -> Program:
    """
    Return the program of the lines `kept`.

    What they need from lines that are left out becomes an input, with the value that it had; what those need, or
    nobody does, is returned.
    """
    names = {line["name"] for line in kept}
    needed = dict.fromkeys(name for line in kept for name in line["needs"] if name not in names)
    inside = {name for line in kept for name in line["needs"]}
    outside = {n for line in captured["lines"] if line["name"] not in names for n in line["needs"]}
    outside |= set(captured["outputs"])
    outputs = [line["name"] for line in kept if line["name"] in outside or line["name"] not in inside]
    returned = tuple(n for n in outputs if captured["values"].get(n, {}).get("type") != "NoneType")
    return Program(tuple(kept), tuple(Input.of(n, captured["values"][n]) for n in needed), returned)
