"""``compilefix diagnose`` and ``minimize`` as a user runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Cli, command, environ

pytestmark = pytest.mark.slow
PLANTED = Path(__file__).parents[1] / "diagnosis" / "planted"
INJECTED = "torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY=accuracy"
SOURCE = """import torch


def inputs():
    return (torch.linspace(-2, 2, 64),)


def forward(x):
    y = torch.sin(x)
    y = torch.relu(y)
    return torch.cos(y)


def healthy(x):
    return torch.sin(x).sum()
"""
TRAIN = """import sys
import torch
import torch._inductor.config

torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "accuracy" if "bad" in sys.argv else None
step = torch.compile(lambda x, w: torch.relu(x @ w).sum())
for i in range(4):
    print("loss", step(torch.randn(4, 8), torch.randn(8, 8)).item())
"""


GRADIENT = """import torch

step = torch.compile(lambda x, y: torch.atan2(torch.nn.functional.dropout(x, 0.1), y).amin(1))
for i in range(4):
    x = torch.tensor([[1.0, 9.0, 8.0], [2.0, 7.0, 6.0]], requires_grad=True)
    y = torch.tensor([[1.0, 1.0, 1.0], [2.0, 1.0, 1.0]], requires_grad=True)
    step(x, y).sum().backward()
"""
DEADLY = """import torch

step = torch.compile(lambda table, rows: table[rows] + 1.0)
print(step(torch.ones(900, 64), torch.arange(800)).sum())
print(step(torch.ones(900, 64), torch.arange(200, 1000)).sum())
"""
CUSTOM = """import torch
import torch._inductor.config

torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "accuracy"


class Clipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return torch.relu(gradient)


x = torch.randn(4, 8, requires_grad=True)
torch.compile(lambda x: Clipped.apply(x) * 3)(x).sum().backward()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def test_from_wrong_to_a_workaround(cli: Cli, file: Path, tmp_path: Path) -> None:
    """One call: culprit, line, cure, minimal program, artifacts; the minimal program runs with torch alone."""
    small, kept = tmp_path / "small.py", tmp_path / "kept"
    done = cli(
        *("diagnose", f"{file}:forward", "--config", INJECTED, "--format", "json"),
        *("--minimal", str(small), "--artifacts", str(kept)),
    )
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["conclusion"] == "defect"
    assert [c["op"] for c in found["culprits"]] == ["relu"]
    assert f"{file}:10" in found["culprits"][0]["place"]
    assert found["recommended"] is not None
    assert found["minimal"]["nodes"] == 1
    assert (kept / "log.txt").exists()
    assert list((kept / "kernels").iterdir())
    alone = subprocess.run([sys.executable, small], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert alone.returncode == 0, alone.stderr
    plain, compiled = (line.split(maxsplit=1)[1] for line in alone.stdout.splitlines())
    assert plain != compiled


def test_the_minimal_program_is_a_subject_again(cli: Cli, file: Path, tmp_path: Path) -> None:
    """What minimize writes can be diagnosed, and a known issue is named."""
    small = tmp_path / "small.py"
    done = cli("minimize", f"{file}:forward", "--config", INJECTED, "-o", str(small))
    assert done.returncode == 1, done.stderr
    assert "1 of 3 operations" in done.stderr
    again = cli("diagnose", str(small), "--config", INJECTED, "--no-cure", "--no-minimize")
    assert again.returncode == 1, again.stderr
    assert "relu" in again.stdout


def test_the_page_shows_what_the_guilty_pass_changes(cli: Cli, tmp_path: Path) -> None:
    """The pass is planted: a sine becomes a cosine. The page needs nothing else, and the table does not run more."""
    program, page = f"{PLANTED / 'post_grad_pass.py'}:program", tmp_path / "page.html"
    done = cli("diagnose", program, "--no-cure", "--no-minimize", "--format", "html", "-o", str(page))
    assert done.returncode == 1, done.stderr
    text = page.read_text(encoding="utf-8")
    assert "inductor/post_grad_passes/remove_assert_ops" in text
    diff = text[text.index('<pre class="diff"') :]
    assert 'class="del">-    %sin' in diff
    assert "torch.ops.aten.cos.default" in diff[: diff.index("</pre>")]
    assert "suspects left" in text


def test_healthy_is_0_and_says_little(cli: Cli, file: Path) -> None:
    done = cli("diagnose", f"{file}:healthy")
    assert done.returncode == 0, done.stderr
    assert "healthy" in done.stdout
    assert len(done.stdout.splitlines()) <= 6


def test_a_known_issue_is_named(cli: Cli) -> None:
    done = cli("diagnose", "gh198094", "--no-minimize")
    assert done.returncode in (0, 1), done.stderr
    if done.returncode == 1:
        assert "this is gh198094" in done.stdout
        assert "drop-in select_scatter" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.py:f"], "no such file"),
        ([], "name a program"),
        (["a.py:f", "--", "python", "b.py"], "one program at a time"),
        (["--"], "no command stands behind --"),
        (["{file}:forward", "--inputs", "{file}:nothing"], "defines no 'nothing'"),
        (["{file}:forward", "--compile", "dynamic"], "write NAME=VALUE"),
        (["{file}:forward", "--budget", "0"], "must be more than 0"),
        (["{file}:forward", "--target", "nonsense"], "unknown target"),
        (["--", "no-such-command-here"], "cannot run no-such-command-here"),
    ],
)
def test_usage_errors_are_one_line(arguments: list[str], words: str, cli: Cli, file: Path) -> None:
    done = cli("diagnose", *(a.format(file=file) for a in arguments))
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(("argument", "code", "word"), [("bad", 1, "relu"), ("good", 0, "agree with plain code")])
def test_a_program_is_watched(argument: str, code: int, word: str, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(TRAIN, encoding="utf-8")
    done = cli("diagnose", "--no-cure", "--no-minimize", "--", "python", str(path), argument)
    assert done.returncode == code, done.stderr
    assert word in done.stdout


def watched(cli: Cli, tmp_path: Path, source: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "train.py"
    path.write_text(source, encoding="utf-8")
    return cli("diagnose", "--no-cure", "--no-minimize", "--format", "json", "--", "python", str(path))


def test_a_wrong_gradient_of_a_program_is_caught(cli: Cli, tmp_path: Path) -> None:
    """Forward results are right, and random numbers are drawn: both are part of a loss that is off."""
    done = watched(cli, tmp_path, GRADIENT)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["symptom"] == "wrong-gradient"
    assert found["culprits"][0]["op"] == "atan2"
    assert "train.py:3" in found["culprits"][0]["place"]


def test_a_program_that_dies_is_run_again_with_its_graphs_kept(cli: Cli, tmp_path: Path) -> None:
    """Compiled, it is aborted without a word of Python; plainly, the graph that did it says what is wrong."""
    done = watched(cli, tmp_path, DEADLY)
    assert done.returncode == 3, done.stderr
    assert "IndexError: index 900 is out of bounds" in json.loads(done.stdout)["reason"]


def test_what_is_wrong_only_in_the_program_is_not_called_healthy(cli: Cli, tmp_path: Path) -> None:
    done = watched(cli, tmp_path, CUSTOM)
    assert done.returncode == 4, done.stderr
    assert "the graph alone is right" in json.loads(done.stdout)["reason"]


def test_compile_turned_off_outside_is_turned_on(cli: Cli, file: Path) -> None:
    done = cli(
        *("diagnose", f"{file}:forward", "--config", INJECTED, "--no-cure", "--no-minimize"), TORCHDYNAMO_DISABLE="1"
    )
    assert done.returncode == 1, done.stderr
    assert "not passed on to probes: TORCHDYNAMO_DISABLE" in " ".join(done.stdout.split())


def test_an_fx_repro_is_a_subject(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "repro.py"
    path.write_text(
        "import torch\n\n\nclass Repro(torch.nn.Module):\n    def forward(self, arg0_1):\n"
        "        relu = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n        return (relu,)\n\n\n"
        "def load_args(reader):\n    buf0 = reader.storage(None, 256)\n"
        "    reader.tensor(buf0, (64,), is_leaf=True)\n\n\n"
        "load_args._version = 0\nmod = Repro()\n",
        encoding="utf-8",
    )
    done = cli("diagnose", str(path), "--config", INJECTED, "--no-cure", "--no-minimize")
    assert done.returncode == 1, done.stderr
    assert "relu" in done.stdout


def test_ctrl_c_reports_the_best_so_far(file: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        command("diagnose", f"{file}:forward", "--config", INJECTED, "--format", "json"),
        env=environ(tmp_path / "state", COMPILEFIX_PROGRESS="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "localise" in line:
            break
    os.kill(process.pid, signal.SIGINT)
    start = time.monotonic()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - start < 30
    found = json.loads(out)
    assert found["interrupted"]
    assert found["target"] == "inductor:cpu"
