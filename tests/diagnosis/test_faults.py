"""Whatever a user's function does, the diagnosis ends with one word for it."""

from __future__ import annotations

import time

import pytest

from compilefix.diagnosis.result import Conclusion
from compilefix.errors import Exit, UsageError

from .conftest import Diagnose

pytestmark = pytest.mark.slow
INPUTS = "\n\ndef inputs():\n    return (torch.linspace(-2, 2, 16),)\n"


def source(body: str, head: str = "") -> str:
    """Return a file whose ``program(x)`` has `body`."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"import torch\n{head}\n\ndef program(x):\n{lines}\n{INPUTS}"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ValueError('no')", "ValueError: no"),
        ("return undefined(x)", "NameError"),
        ("while True:\n    pass", "no end within"),
        ("import ctypes\nctypes.string_at(0)", "died of SIGSEGV"),
        ("return x.to('cuda')", "it needs a GPU that is not here"),
    ],
)
def test_it_fails_without_compile(body: str, words: str, diagnose: Diagnose) -> None:
    found = diagnose(source(body), timeout=8)
    assert found.conclusion is Conclusion.FAILS_PLAINLY
    assert found.exit_code is Exit.HARNESS
    assert words in (found.reason or "")
    assert "without torch.compile" in (found.reason or "")


def test_a_file_that_does_not_import_says_why(diagnose: Diagnose) -> None:
    found = diagnose(source("return x", head="import nothing_of_this_name"))
    assert found.conclusion is Conclusion.FAILS_PLAINLY
    assert "nothing_of_this_name" in (found.reason or "")


@pytest.mark.parametrize("body", ["return x + time.time_ns() % 1000", "return x + int.from_bytes(os.urandom(4))"])
def test_what_is_not_deterministic_is_said(body: str, diagnose: Diagnose) -> None:
    found = diagnose(source(body, head="import os, time"))
    assert found.conclusion is Conclusion.NOT_DETERMINISTIC
    assert found.exit_code is Exit.INCONCLUSIVE


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("print('x' * 100000)\nreturn x.sin()", ""),
        ("return inner(x) * 2", "@torch.compile(mode='max-autotune')\ndef inner(x):\n    return x.cos()\n"),
        ("counts['calls'] += 1\nreturn x * counts['calls']", "counts = {'calls': 0}"),
        ("return x + torch.rand(16)", ""),
        ("import multiprocessing as m\np = m.Process(target=abs, args=(1,))\np.start()\np.join()\nreturn x.sin()", ""),
        ("return x.sin()", "x = torch.compile(lambda a: a)"),
    ],
)
def test_unusual_functions_are_healthy(body: str, head: str, diagnose: Diagnose) -> None:
    found = diagnose(source(body, head))
    assert found.conclusion is Conclusion.HEALTHY, found.reason


def test_rounding_where_terms_cancel_is_no_defect(diagnose: Diagnose) -> None:
    """The gradient of a bias before a batch norm is noise, in plain and in compiled code."""
    text = (
        "import torch\n\ntorch.manual_seed(1)\nn = torch.nn\n"
        "program = n.Sequential(n.Linear(8, 8), n.BatchNorm1d(8), n.ReLU(), n.Linear(8, 8), n.BatchNorm1d(8))\n\n\n"
        "def inputs():\n    return (torch.randn(16, 8, generator=torch.Generator().manual_seed(0)),)\n"
    )
    found = diagnose(text)
    assert found.conclusion is not Conclusion.DEFECT


def test_inputs_that_do_not_fit_are_a_usage_error(diagnose: Diagnose) -> None:
    with pytest.raises(UsageError, match="the inputs do not fit program"):
        diagnose("import torch\n\n\ndef program(x, y):\n    return x\n\n\ndef inputs():\n    return (torch.ones(1),)\n")


def test_missing_inputs_are_a_usage_error_with_a_hint(diagnose: Diagnose) -> None:
    with pytest.raises(UsageError, match="give --inputs"):
        diagnose("def program(x):\n    return x\n")


def test_keyword_arguments_and_trees_go_in(diagnose: Diagnose) -> None:
    text = (
        "import torch\n\n\ndef program(pair, *, scale):\n    return pair['a'][0] * scale + pair['b']\n\n\n"
        "def inputs():\n    one = torch.ones(3)\n    return ({'a': [one], 'b': one},), {'scale': torch.tensor(2.0)}\n"
    )
    assert diagnose(text).conclusion is Conclusion.HEALTHY


def test_the_budget_is_kept(diagnose: Diagnose) -> None:
    """A function that takes its time when compiled does not take more than the budget."""
    body = "if torch.compiler.is_compiling():\n    wait()\nreturn x.sin()"
    head = "import time\n\n\n@torch._dynamo.assume_constant_result\ndef wait():\n    time.sleep(60)\n    return 0\n"
    start = time.monotonic()
    found = diagnose(source(body, head), budget=6.0, timeout=60)
    assert time.monotonic() - start < 6.0 * 1.1 + 1.0
    assert found.out_of_time
