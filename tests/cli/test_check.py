"""`compilefix check` end to end: reports, exit codes, bad input, interruption, hostile environments."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.conftest import CACHE, CONTRACTS, DEADLY, FIXTURES, Cli, command, environ

pytestmark = pytest.mark.slow
ONE = ("check", "--repros", str(FIXTURES), "--timeout", "240")


def report(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Parse the JSON report on stdout."""
    parsed: dict[str, Any] = json.loads(done.stdout)
    return parsed


def test_a_clear_record_exits_0_with_every_field_of_the_schema(cli: Cli) -> None:
    """The JSON of one healthy record holds what the documentation promises."""
    done = cli(*ONE, "local-healthy", "--format", "json")
    assert done.returncode == 0, done.stderr
    raw = report(done)
    assert raw["schema"] == 1
    assert raw["summary"] == {"clear": 1}
    assert {"torch", "torch_git", "python", "devices", "isa", "cxx", "triton", "threads"} <= set(raw["environment"])
    (row,) = raw["results"]
    assert (row["id"], row["record"], row["verdict"]) == ("local-healthy", "issue", "clear")
    assert list(row["outcomes"]) == [
        "reference:cpu",
        "eager:cpu",
        "aot_eager:cpu",
        "aot_eager_decomp_partition:cpu",
        "inductor:cpu",
    ]
    assert all(o["seconds"] > 0 for o in row["outcomes"].values())


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Check three issues and all contracts once each; return a JSON report for every record."""
    folder = tmp_path_factory.mktemp("checked")
    issues = [*ONE, "local-wrong-relu", "local-fixed-early", "local-random"]
    contracts = ["check", "--repros", str(CONTRACTS), "--ignore", "record:issue", "--target", "eager"]
    contracts += sorted(p.stem.replace("_", "-") for p in CONTRACTS.glob("contract_*.py"))
    files = {}
    for arguments in (issues, contracts):
        done = subprocess.run(
            command(*arguments, "--format", "json"), env=environ(folder), capture_output=True, text=True, check=False
        )
        assert done.returncode == 1, done.stderr
        raw = report(done)
        for row in raw["results"]:
            files[row["id"]] = folder / f"{row['id']}.json"
            files[row["id"]].write_text(json.dumps({**raw, "results": [row]}))
    return files


@pytest.mark.parametrize(
    ("id", "fail_on", "code"),
    [
        ("local-wrong-relu", "contradiction", 0),
        ("local-wrong-relu", "reproduces", 1),
        ("local-fixed-early", "contradiction", 1),
        ("local-fixed-early", "never", 0),
        ("local-random", "contradiction", 4),
        ("contract-doubles", "contradiction", 0),
        ("contract-new-truth", "contradiction", 1),
        ("contract-new-truth", "never", 0),
        ("contract-sees-the-compiler", "contradiction", 0),
        ("contract-sees-the-compiler", "reproduces", 1),
    ],
)
def test_the_exit_code_says_what_was_found(
    cli: Cli, checked: dict[str, Path], id: str, fail_on: str, code: int
) -> None:
    """Reproducing as recorded is expected; contradictions are findings; unresolved is inconclusive."""
    done = cli("merge", str(checked[id]), "--fail-on", fail_on)
    assert done.returncode == code, done.stderr
    assert id in done.stdout


def test_check_takes_fail_on_itself(cli: Cli) -> None:
    """The same word decides where the records have just been run, and a table is what comes out."""
    done = cli(
        "check",
        "contract-sees-the-compiler",
        "--repros",
        str(CONTRACTS),
        "--fail-on",
        "reproduces",
        "--target",
        "eager",
    )
    assert done.returncode == 1, done.stderr
    assert "contract-sees-the-compiler" in done.stdout


def test_contracts_end_to_end(checked: dict[str, Path]) -> None:
    """Each verdict of a contract, what contradicts its record, and what a machine lacks."""
    found = [json.loads(path.read_text())["results"][0] for id, path in checked.items() if id.startswith("contract-")]
    rows = {row["id"].removeprefix("contract-"): row for row in found}
    assert {id: (r["verdict"], r["truth"], r["contradicts"]) for id, r in rows.items()} == {
        "doubles": ("holds", "holds", False),
        "new-truth": ("does not hold", "holds", True),
        "sees-the-compiler": ("eager and compiled differ", "eager and compiled differ", False),
        "raises": ("holds", "holds", False),
        "needs-a-feature": ("unsupported", "holds", False),
    }
    assert rows["doubles"]["statement"] == "x + x is 2 * x."
    facts = rows["new-truth"]["outcomes"]["reference:cpu"]["facts"]
    assert (facts["claim"], facts["against"]) == (False, "values of result at [0]: told 1.0, is 2.0")
    assert rows["raises"]["outcomes"]["eager:cpu"]["outcome"] == "ok"
    assert rows["needs-a-feature"]["outcomes"]["eager:cpu"]["reason"] == "needs unobtainium"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "gh1"], "unknown id 'gh1'"),
        (["check", "gh198281"], "did you mean gh198280"),
        (["check", "--no-such-option"], "unrecognized arguments: --no-such-option"),
        (["check", "--select", "symptom:sadness"], "nothing is 'symptom:sadness'"),
        (["check", "gh198094", "--ignore", "gh198094"], "the selection is empty"),
        (["check", "--target", "inductor:tpu"], "unknown target 'inductor:tpu'"),
        (["check", "--jobs", "0"], "--jobs 0 must be at least 1"),
        (["check", "--timeout", "-1"], "--timeout -1 must be more than 0"),
        (["check", "--memory", "much"], "'much' is not a size"),
        (["check", "--shard", "3/2"], "--shard '3/2' is not I/N"),
        (["check", "--repros", "/no/such/folder"], "no such folder of repros: /no/such/folder"),
        (["check", "-o", "/no/such/folder/report"], "cannot write /no/such/folder/report"),
        (["check", "gh198094", "--record", "."], "--record writes the whole file"),
        (["merge", "/no/such/file"], "cannot read /no/such/file"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_2(cli: Cli, arguments: list[str], message: str) -> None:
    """Bad input is named in one line on stderr, without a traceback and before anything runs."""
    done = cli(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"COMPILEFIX_TIMEOUT": "soon"}, "COMPILEFIX_TIMEOUT='soon' is not a number"),
        ({"COMPILEFIX_FORMAT": "poem"}, "format 'poem' is not one of"),
        ({"COMPILEFIX_FAIL_ON": "monday"}, "fail_on 'monday' is not one of"),
    ],
)
def test_a_bad_variable_is_a_users_mistake(cli: Cli, changes: dict[str, str], message: str) -> None:
    """Variables are validated as options are."""
    done = cli("check", "gh198094", **changes)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_settings_of_pyproject_hold_and_bad_ones_are_named(cli: Cli, tmp_path: Path) -> None:
    """The folder's pyproject.toml gives defaults; an unknown key is an error with the known ones."""
    project = tmp_path / "elsewhere" / "pyproject.toml"
    project.write_text(f'[tool.compilefix]\nrepros = ["{FIXTURES}"]\nformat = "json"\nignore = ["gh198094"]\n')
    done = cli("check", "local-healthy", "--target", "eager")
    assert done.returncode == 0, done.stderr
    assert report(done)["summary"] == {"clear": 1}
    project.write_text("[tool.compilefix]\ntimeuot = 3\n")
    done = cli("check", "local-healthy")
    assert done.returncode == 2
    assert "has no setting 'timeuot'" in done.stderr


def test_a_broken_record_is_named_and_the_others_run(cli: Cli, tmp_path: Path) -> None:
    """A record that cannot be read is reported with file:line, exit 3; the healthy one has its row."""
    (tmp_path / "local_good.py").write_text((FIXTURES / "local_healthy.py").read_text())
    bad = tmp_path / "local_bad.py"
    bad.write_text('"""T."""\nISSUE = Issue(stage="fusion", symptom=Symptom.ERROR)\ndef program():\n    pass\n')
    done = cli("check", "local-good", "--repros", str(tmp_path), "--format", "json", "--target", "eager")
    assert done.returncode == 3, done.stderr
    raw = report(done)
    assert raw["summary"] == {"clear": 1}
    assert raw["broken"] == [
        f"{bad}:2: stage 'fusion' is not one of eager, aot_eager, aot_eager_decomp_partition, inductor"
    ]


def test_every_format_renders_and_a_file_is_written_whole(cli: Cli, tmp_path: Path, checked: dict[str, Path]) -> None:
    """The same check as table, Markdown and JUnit; `-o` leaves stdout empty and no temporary file."""
    target = tmp_path / "report.xml"
    done = cli(*ONE, "local-wrong-relu", "--format", "junit", "-o", str(target))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    suites = ElementTree.parse(target).getroot()
    assert "local-wrong-relu" in {case.get("name") for case in suites.iter("testcase")}
    assert [p.name for p in tmp_path.iterdir() if "report" in p.name] == ["report.xml"]
    table = cli("merge", str(checked["local-wrong-relu"])).stdout
    assert "local-wrong-relu" in table
    assert "reproduces" in table
    markdown = cli("merge", str(checked["local-wrong-relu"]), "--format", "markdown").stdout
    assert "| local-wrong-relu |" in markdown


def test_dynamic_twins_run_beside_the_static_targets(cli: Cli) -> None:
    """`--dynamic` adds a :dynamic variant to every target."""
    done = cli(*ONE, "local-healthy", "--target", "aot_eager", "--dynamic", "--format", "json")
    assert list(report(done)["results"][0]["outcomes"]) == ["reference:cpu", "aot_eager:cpu", "aot_eager:cpu:dynamic"]


def test_a_device_that_is_not_here_is_unsupported_never_ok(cli: Cli) -> None:
    """Without CUDA a CUDA target says that nothing was measured, and the check is inconclusive."""
    done = cli("check", "gh198094", "--device", "cuda", "--format", "json")
    raw = report(done)
    if "cuda" in raw["environment"]["devices"]:
        pytest.skip("this machine has a CUDA device")
    assert done.returncode == 4
    assert raw["summary"] == {"unsupported": 1}
    reasons = {o["reason"] for t, o in raw["results"][0]["outcomes"].items() if t != "reference:cuda"}
    assert reasons == {"no CUDA device here: not measured"}


def test_shards_are_disjoint_and_merge_to_the_whole(cli: Cli, tmp_path: Path) -> None:
    """The parts of a sharded check cover the selection once, and `merge` joins them."""
    ids = ("local-healthy", "local-wrong-relu", "local-fixed-early")
    files, seen = [], []
    for part in (1, 2):
        file = tmp_path / f"{part}.json"
        cli(*ONE, *ids, "--shard", f"{part}/2", "--target", "inductor", "--format", "json", "-o", str(file))
        files.append(str(file))
        seen += [r["id"] for r in json.loads(file.read_text())["results"]]
    assert sorted(seen) == sorted(ids)
    merged = cli("merge", *files, "--format", "json")
    assert report(merged)["summary"] == {"reproduces": 1, "clear": 1, "fixed-early": 1}
    assert merged.returncode == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_partial_report_and_resume_completes_it(tmp_path: Path, number: signal.Signals) -> None:
    """Interrupted: exit 130, finished rows kept, the rest marked not run, no process left; resume runs the rest."""
    base = [*ONE, "local-healthy", "local-hangs", "--target", "eager", "--jobs", "2", "--format", "json"]
    env = environ(tmp_path)
    process = subprocess.Popen(command(*base), env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "local-healthy clear" in line:
            break
    time.sleep(1)  # the hanging program runs now
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    rows = {r["id"]: r for r in json.loads(out)["results"]}
    assert rows["local-healthy"]["verdict"] == "clear"
    assert rows["local-hangs"]["outcomes"]["eager:cpu"]["reason"] == "not run: interrupted"
    assert "--resume" in err
    left = subprocess.run(["pgrep", "-f", "runner.zygote"], capture_output=True, text=True, check=False).stdout.split()
    assert not [pid for pid in left if _has_variable(int(pid), f"XDG_STATE_HOME={tmp_path}")]
    if number is signal.SIGTERM:
        return  # the journal does not know which signal it was
    resumed = subprocess.run(
        command(*base, "--resume", "--timeout", "5"), env=env, capture_output=True, text=True, check=False
    )
    assert "local-healthy clear" not in resumed.stderr  # taken from the journal
    assert json.loads(resumed.stdout)["summary"] == {"reproduces": 1, "clear": 1}
    assert list((tmp_path / "compilefix" / "journal").iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_torch_is_loading_ends_at_once(tmp_path: Path, number: signal.Signals) -> None:
    """Nothing was measured yet: one line, exit 130, and no zygote is left."""
    process = subprocess.Popen(
        command("check", "gh198094"), env=environ(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert "loading" in process.stderr.readline()
    time.sleep(0.5)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "compilefix: interrupted\n")
    left = subprocess.run(["pgrep", "-f", "runner.zygote"], capture_output=True, text=True, check=False).stdout.split()
    assert not [pid for pid in left if _has_variable(int(pid), f"XDG_STATE_HOME={tmp_path}")]


def _has_variable(pid: int, text: str) -> bool:
    try:
        return text.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def test_a_killed_check_leaves_no_process(tmp_path: Path) -> None:
    """SIGKILL of the command line takes the zygote and its children with it."""
    base = command(*ONE, "local-hangs", "--target", "eager")
    process = subprocess.Popen(
        base, env=environ(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "runs" in line:
            break
    time.sleep(2)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        pids = [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit()]
        left = [pid for pid in pids if _has_variable(pid, f"XDG_STATE_HOME={tmp_path}")]
        if not left:
            break
        time.sleep(0.1)
    assert left == []


def test_a_dead_zygote_exits_3_with_one_line(cli: Cli) -> None:
    """When the parent of the workers dies the harness failed, and says so."""
    done = cli("check", "local-kills-its-parent", "--repros", str(DEADLY), "--target", "eager")
    assert done.returncode == 3
    assert "compilefix: the zygote died" in done.stderr
    assert "Traceback" not in done.stderr


def test_variables_and_state_that_steer_torch_do_not_reach_the_workers(cli: Cli, tmp_path: Path) -> None:
    """Disabled compilation, a foreign backend setting and a stale bisection change no verdict, and are named."""
    stale = tmp_path / "inductor-cache"
    (stale / "bisect").mkdir(parents=True)
    (stale / "bisect" / "bisect_status.txt").write_text("backend=eager\n")
    done = cli(
        *ONE,
        "local-wrong-relu",
        "--format",
        "json",
        TORCH_COMPILE_DISABLE="1",
        TORCHDYNAMO_DISABLE="1",
        TORCHINDUCTOR_CACHE_DIR=str(stale),
        TORCH_COMPILE_BACKEND="eager",
        TORCH_BISECT_BACKEND="eager",
    )
    raw = report(done)
    assert raw["summary"] == {"reproduces": 1}, done.stderr
    assert "TORCH_COMPILE_DISABLE" in raw["environment"]["scrubbed"]
    assert any("TORCH_COMPILE_DISABLE" in w for w in raw["warnings"])


def test_a_stale_bisection_in_our_own_cache_is_removed(cli: Cli) -> None:
    """A bisection that died in our cache folder does not turn later checks into eager ones."""
    state = CACHE / "inductor" / "bisect"
    state.mkdir(parents=True, exist_ok=True)
    (state / "bisect_status.txt").write_text("backend=eager\n")
    done = cli(*ONE, "local-wrong-relu", "--target", "inductor", "--format", "json")
    assert report(done)["summary"] == {"reproduces": 1}, done.stderr


def test_without_a_compiler_inductor_is_unsupported_and_the_rest_runs(cli: Cli, tmp_path: Path) -> None:
    """No g++ or clang++ on PATH: Inductor's target gives the reason, the other stages are measured."""
    empty = tmp_path / "bin"
    empty.mkdir()
    done = cli(*ONE, "local-wrong-relu", "--format", "json", PATH=str(empty), CXX="")
    outcomes = report(done)["results"][0]["outcomes"]
    assert outcomes["inductor:cpu"]["outcome"] == "unsupported"
    assert "no working C++ compiler" in outcomes["inductor:cpu"]["reason"]
    assert outcomes["aot_eager:cpu"]["outcome"] == "ok"
    assert report(done)["summary"] == {"unsupported": 1}
    assert done.returncode == 4


def test_a_cache_folder_that_cannot_be_written_is_replaced_and_named(cli: Cli, tmp_path: Path) -> None:
    """The check runs cold in a temporary folder and warns."""
    (tmp_path / "file").write_text("")
    cache = tmp_path / "file" / "cache"
    done = cli(*ONE, "local-healthy", "--target", "aot_eager", "--format", "json", "--cache-dir", str(cache))
    assert done.returncode == 0, done.stderr
    assert [str(cache) in w for w in report(done)["warnings"]] == [True]


def test_a_full_cache_folder_is_replaced_and_named(cli: Cli, tmp_path: Path) -> None:
    """A cache on a full disk does not end the check: it runs in a temporary folder and warns."""
    mount = tmp_path / "small"
    mount.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(mount)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    try:
        (mount / "filler").write_bytes(b"\0" * 60_000)
        done = cli(*ONE, "local-healthy", "--target", "aot_eager", "--format", "json", "--cache-dir", str(mount / "c"))
        assert done.returncode == 0, done.stderr
        assert ["No space left on device" in w for w in report(done)["warnings"]] == [True]
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_two_checks_at_once_share_one_cache(tmp_path: Path) -> None:
    """Two checks on one cache folder at the same time both come to the same right verdicts."""
    base = command(*ONE, "local-healthy", "local-wrong-relu", "--format", "json", "--jobs", "1")
    both = [
        subprocess.Popen(base, env=environ(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in both:
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        assert json.loads(out)["summary"] == {"reproduces": 1, "clear": 1}


def test_without_torch_the_line_says_what_to_install(tmp_path: Path) -> None:
    """A Python without torch gets the harness's exit code and one line."""
    hide = tmp_path / "sitecustomize.py"
    hide.write_text(
        "from importlib import metadata\nreal = metadata.version\n"
        "def version(name):\n"
        "    if name == 'torch':\n        raise metadata.PackageNotFoundError(name)\n    return real(name)\n"
        "metadata.version = version\n"
    )
    env = environ(tmp_path, PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path]))
    done = subprocess.run(command("check", "gh198094"), env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.strip().splitlines()[-1].startswith("compilefix: torch is not installed")


def test_a_torch_that_does_not_import_is_a_failure_of_the_environment(tmp_path: Path) -> None:
    """The last line of torch's own error is passed on, exit 3, no traceback."""
    broken = tmp_path / "torch"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise ImportError('libtorch_cpu.so: cannot open shared object file')\n")
    env = environ(tmp_path, PYTHONPATH=str(tmp_path))
    done = subprocess.run(command("check", "gh198094"), env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "cannot open shared object file" in done.stderr
    assert "Traceback" not in done.stderr
