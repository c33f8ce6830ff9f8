"""`compilefix check` for CUDA without a GPU, end to end."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from compilefix.cuda_interpreted import requirement
from tests.conftest import FIXTURES, Cli

pytestmark = pytest.mark.slow
TARGET = "inductor:cuda-interpreted"
needs_triton = pytest.mark.skipif(requirement.trouble() is not None, reason=str(requirement.trouble()))


def rows(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the results of a JSON report by id."""
    assert done.stdout, done.stderr
    return {row["id"]: row for row in json.loads(done.stdout)["results"]}


@needs_triton
def test_a_defect_of_cuda_only_reproduces_without_a_gpu(cli: Cli) -> None:
    """pytorch#198280: a wrong value and the race behind it, with kernel and line; its cure cures it."""
    done = cli("check", "gh198280", "--format", "json", "--gpu", "a100", "--timeout", "240")
    raw = json.loads(done.stdout)
    assert raw["environment"]["gpu"] == "a100"
    (row,) = raw["results"]
    assert list(row["outcomes"]) == ["reference:cpu", TARGET]
    outcome = row["outcomes"][TARGET]
    assert outcome["facts"]["gpu"] == "a100"
    if row["expected"] == "affected":
        assert row["verdict"] == "reproduces"
        races = [d["got"] for d in outcome["differences"] if d["what"] == "race" and "in no order" in d["got"]]
        assert len(races) == 1
        assert "which program" in races[0]
        assert "tl.load(in_ptr0" in races[0]
        assert "forward and reverse order leave different results" in races[0]
        assert row["workarounds"][TARGET]["outcome"] == "ok"


@needs_triton
def test_interpreting_leaves_the_other_targets_alone(cli: Cli) -> None:
    """In one check, the CPU's Inductor sees neither the variable nor the interpreter."""
    done = cli("check", "--repros", str(FIXTURES), "local-says-what-is-set", "--format", "json", "--timeout", "240")
    outcomes = rows(done)["local-says-what-is-set"]["outcomes"]
    assert [name for name, o in outcomes.items() if o["outcome"] != "ok"] == []
    names = ("device", "TRITON_INTERPRET", "interpreter", "cuda")
    seen = {target: [outcomes[target]["facts"].get(n) for n in names] for target in ("inductor:cpu", TARGET)}
    assert seen == {"inductor:cpu": ["cpu", None, False, False], TARGET: ["cpu", "1", True, False]}


@needs_triton
@pytest.mark.parametrize("isolation", ["fork", "spawn"])
def test_an_index_out_of_range_is_an_assertion_and_no_crash(cli: Cli, isolation: str) -> None:
    """The plain program raises IndexError, the kernel a device-side assertion: as it should be."""
    arguments = ("--isolation", isolation, "--format", "json", "--timeout", "240")
    done = cli("check", "--repros", str(FIXTURES), "local-index-out-of-range", *arguments)
    row = rows(done)["local-index-out-of-range"]
    outcome = row["outcomes"][TARGET]
    assert (row["verdict"], outcome["outcome"]) == ("clear", "ok")
    assert outcome["error"]["message"].startswith("device-side assert triggered: index out of bounds")


@needs_triton
def test_a_limit_of_the_interpreter_is_unsupported_with_its_name(cli: Cli) -> None:
    """Never an error of the program."""
    done = cli("check", "--repros", str(FIXTURES), "local-wrapper-in-cpp", "--format", "json", "--timeout", "240")
    row = rows(done)["local-wrapper-in-cpp"]
    assert row["verdict"] == "unsupported"
    assert row["outcomes"][TARGET]["reason"] == "beyond the interpreter: the setting cpp_wrapper"
    assert done.returncode == 4


def test_without_triton_the_row_says_how_to_install_it(cli: Cli, tmp_path: Path) -> None:
    """Not measured, never ok; the command names the release that fits."""
    hiding = tmp_path / "hiding"
    hiding.mkdir()
    (hiding / "sitecustomize.py").write_text(
        "from importlib import util\n"
        "found = util.find_spec\n"
        "util.find_spec = lambda name, package=None: None if name == 'triton' else found(name, package)\n"
    )
    done = cli("check", "gh198280", "--format", "json", PYTHONPATH=f"{hiding}:{FIXTURES.parents[1]}")
    row = rows(done)["gh198280"]
    assert row["verdict"] == "unsupported"
    assert "needs Triton's interpreter; install it: " in row["outcomes"][TARGET]["reason"]
    assert str(requirement.pinned_triton()) in row["outcomes"][TARGET]["reason"]
    assert json.loads(done.stdout)["environment"]["gpu"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--gpu", "b300"), "unknown GPU 'b300'; write one of h100, h200, a100, l4, rtx4090, t4"),
        (("--target", "eager:cuda-interpreted"), "on cuda-interpreted only inductor runs"),
        (("--target", "inductor:cuda-emulated"), "DEVICE one of cpu, cuda, cuda-interpreted"),
    ],
)
def test_a_mistake_gives_one_line(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    """Exit code 2, no traceback."""
    done = cli("check", "gh198280", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@needs_triton
def test_kernels_shows_the_in_place_write_of_a_cache(cli: Cli, tmp_path: Path) -> None:
    """gh145189: the slice is stored into the cache itself; the sources lie in the folder that was asked for."""
    done = cli("kernels", "gh145189", "--gpu", "a100", "--format", "json", "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["gpu"], found["broken"]) == ("a100", [])
    (kernel,) = [k for k in found["kernels"] if k["in_place"]]
    (store,) = [a for a in kernel["accesses"] if a["does"] == "store"]
    assert store["argument"] in kernel["in_place"]
    assert kernel["bytes_read"] == kernel["bytes_written"] > 0
    assert "@triton.jit" in (tmp_path / "out" / f"{kernel['name']}.py").read_text()


@pytest.mark.parametrize(
    ("program", "message", "code"),
    [
        ("/no/such/file.py:f", "no such file: /no/such/file.py", 2),
        ("gh1", "unknown id 'gh1'", 2),
        (f"{FIXTURES / 'local_healthy.py'}:nothing", "has no function 'nothing'", 3),
    ],
)
@needs_triton
def test_kernels_of_nothing_is_one_line(cli: Cli, program: str, message: str, code: int) -> None:
    """No traceback."""
    done = cli("kernels", program)
    assert done.returncode == code
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
