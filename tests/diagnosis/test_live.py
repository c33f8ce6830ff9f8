"""``compilefix.diagnose``: functions of the calling process, with what only that process has."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from compilefix.cli import main
from tests.conftest import CACHE, environ

pytestmark = pytest.mark.slow

HEAD = """
import sys, threading
import torch
import compilefix
from compilefix.diagnosis.live import diagnose_call
from compilefix.diagnosis.session import Options
quick = Options(cure=False, minimise=False, cache=__import__("pathlib").Path({cache!r}))
INJECTED = {{"torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}}
"""


def run(code: str, tmp_path: Path) -> str:
    """Run `code` in a Python of its own: a process that forks should not be the one of the tests."""
    import subprocess
    import sys

    path = tmp_path / "theirs.py"
    path.write_text(HEAD.format(cache=str(CACHE)) + textwrap.dedent(code), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(path)],
        cwd=tmp_path,
        env=environ(tmp_path / "state", PYTHONPATH=str(Path(main.__code__.co_filename).parents[2])),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_closures_unpicklable_inputs_and_state_come_along(tmp_path: Path) -> None:
    """A lambda over a lock and a counter, after torch's threads have been used; the caller's state stays as it was."""
    out = run(
        """
        torch.set_num_threads(2)
        torch.randn(300, 300) @ torch.randn(300, 300)
        lock, calls = threading.Lock(), []
        x = torch.linspace(-2, 2, 16)

        def make(scale):
            def inner(a, lock, *, shift):
                calls.append(1)
                return torch.relu(a * scale) + shift
            return inner

        found = diagnose_call(make(3.0), (x, lock), {"shift": 1.0}, options=quick, config=INJECTED)
        print(found.conclusion.value, found.culprits[0].op, len(calls), x[0].item())
        assert any("one thread" in note for note in found.warnings), found.warnings
        """,
        tmp_path,
    )
    assert out.split() == ["defect", "relu", "0", "-2.0"]


def test_modules_compiled_already_and_the_typed_answer(tmp_path: Path) -> None:
    """A compiled module is taken out of its wrapper; its statistics in the caller do not move."""
    out = run(
        """
        net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8))
        found = diagnose_call(torch.compile(net), (torch.randn(4, 8),), options=quick)
        assert isinstance(found, compilefix.Diagnosis)
        print(found.conclusion.value, net[1].num_batches_tracked.item())
        """,
        tmp_path,
    )
    assert out.split() == ["healthy", "0"]


def test_globals_that_the_function_changes_are_put_back_between_runs(tmp_path: Path) -> None:
    out = run(
        """
        counts = {"calls": 0}

        def count(x):
            counts["calls"] += 1
            return x * counts["calls"]

        print(diagnose_call(count, (torch.ones(3),), options=quick).conclusion.value, counts["calls"])
        """,
        tmp_path,
    )
    assert out.split() == ["healthy", "0"]


def test_what_cannot_be_called_is_said(tmp_path: Path) -> None:
    out = run(
        """
        from compilefix.errors import UsageError
        for function, args in ((3, ()), (lambda a, b: a, (1,))):
            try:
                diagnose_call(function, args, options=quick)
            except UsageError as error:
                print(error)
        """,
        tmp_path,
    )
    first, second = out.splitlines()
    assert first == "a int cannot be called"
    assert "the inputs do not fit" in second


CARRIED = """
torch.cuda.is_initialized = lambda: True  # what makes a fork of this process useless
"""


def test_a_call_is_carried_over_where_this_process_cannot_be_forked(tmp_path: Path) -> None:
    """A closure with globals of its file; inputs that share memory still do; every run starts from the same state."""
    out = run(
        CARRIED
        + """
calls, counts = [], {"calls": 0}

def make(scale):
    def inner(a, b, *, shift):
        calls.append(1)
        counts["calls"] += 1
        b.add_(counts["calls"])
        return torch.relu(a * scale) + shift
    return inner

x = torch.linspace(-2, 2, 16)
for config in (INJECTED, None):
    found = diagnose_call(make(3.0), (x, x[4:]), {"shift": 1.0}, options=quick, config=config)
    print(found.conclusion.value, found.culprits[0].op if found.culprits else None, len(calls), x[0].item())
    assert any("pickle" in note for note in found.warnings), found.warnings
""",
        tmp_path,
    )
    assert out.split() == ["defect", "relu", "0", "-2.0", "healthy", "None", "0", "-2.0"]


def test_modules_of_the_users_file_are_carried_over(tmp_path: Path) -> None:
    out = run(
        CARRIED
        + """
FACTOR = 2.0

class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.linear(x)) * FACTOR

print(diagnose_call(torch.compile(Scaled()), (torch.randn(3, 4),), options=quick).conclusion.value)
""",
        tmp_path,
    )
    assert out.split() == ["healthy"]


def test_what_can_neither_be_forked_nor_pickled_is_said(tmp_path: Path) -> None:
    out = run(
        CARRIED
        + """
from compilefix.errors import HarnessError
try:
    diagnose_call(lambda x, lock: x, (torch.ones(2), threading.Lock()), options=quick)
except HarnessError as error:
    print(error)
""",
        tmp_path,
    )
    assert "cannot pickle '_thread.lock' object" in out
    assert out.rstrip().endswith("diagnose FILE:FUNC instead")
