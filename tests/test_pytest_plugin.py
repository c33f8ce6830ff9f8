"""The pytest plugin, in foreign test suites; always in processes of their own, for torch does not import twice."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

BAD, HEALTHY = "gh198094", "gh152262"
"""A record that the torch of these tests has, and one that it has not."""

RELU = """
    import torch

    def total(x):
        return x.relu().sum(-1)
"""


@pytest.fixture(autouse=True)
def forced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fix what is bad, so that the tests do not depend on the release that runs them."""
    monkeypatch.setenv("COMPILEFIX_FORCE", f"{BAD}=on,{HEALTHY}=off")


def test_a_test_under_a_defect_is_a_strict_xfail(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(f"""
        import pytest

        @pytest.mark.compile_issue("{BAD}")
        def test_breaks():
            assert False

        @pytest.mark.compile_issue("{BAD}")
        def test_does_not_break():
            pass
    """)
    result = pytester.runpytest_subprocess("-rx")
    result.assert_outcomes(xfailed=1, failed=1)
    result.stdout.fnmatch_lines([f"*XPASS(strict)*{BAD} is on this torch (forced*", f"XFAIL *{BAD}*"])


def test_a_mark_that_nobody_needs_fails_as_stale(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(f"""
        import pytest

        @pytest.mark.compile_issue("{HEALTHY}")
        def test_passes():
            pass

        @pytest.mark.compile_issue("{HEALTHY}", stale=False)
        def test_older_releases_need_it():
            pass

        @pytest.mark.compile_issue("{HEALTHY}")
        def test_fails_for_another_reason():
            assert 1 == 2
    """)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines([f"*stale: torch does not have {HEALTHY} here*remove the mark*", "*assert 1 == 2*"])


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ('"gh000"', "*'gh000' is no known issue*"),
        ("", '*write @pytest.mark.compile_issue("gh198094")*'),
        (f'"{BAD}", state=1', '*write @pytest.mark.compile_issue("gh198094")*'),
    ],
)
def test_a_mark_that_is_wrong_is_said(pytester: pytest.Pytester, mark: str, message: str) -> None:
    pytester.makepyfile(f"""
        import pytest

        @pytest.mark.compile_issue({mark})
        def test_it():
            pass
    """)
    result = pytester.runpytest_subprocess()
    assert result.ret != 0
    result.stdout.fnmatch_lines([message])


def test_the_fixture_passes_healthy_code_and_reports_the_difference(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        RELU
        + """
    def test_healthy(compile_check):
        compile_check(total, torch.randn(2, 4, requires_grad=True))

    def test_wrong(compile_check):
        torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "accuracy"
        try:
            compile_check(total, torch.randn(2, 4), targets=["aot_eager", "inductor"])
        finally:
            torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = None
    """
    )
    result = pytester.runpytest_subprocess("--compilefix-report=report.json")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*compiled for inductor, it does otherwise than plain*", "*values of result, call 0*"])
    rows = json.loads((pytester.path / "report.json").read_text())["rows"]
    assert [(row["target"], bool(row["differences"])) for row in rows] == [
        ("inductor", False),
        ("aot_eager", False),
        ("inductor", True),
    ]


def test_targets_come_from_the_command_line_or_the_ini_file(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ncompilefix_targets = eager")
    pytester.makepyfile(
        RELU
        + """
    def test_it(compile_check):
        compile_check(total, torch.ones(2, 4))
    """
    )
    for arguments, targets in ([[], ["eager"]], [["--compilefix-targets=eager,aot_eager"], ["eager", "aot_eager"]]):
        pytester.runpytest_subprocess("--compilefix-report=r.json", *arguments).assert_outcomes(passed=1)
        assert [row["target"] for row in json.loads((pytester.path / "r.json").read_text())["rows"]] == targets


def test_a_target_that_cannot_be_is_said(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        RELU
        + """
    def test_it(compile_check):
        compile_check(total, torch.ones(2, 4))
    """
    )
    result = pytester.runpytest_subprocess("--compilefix-targets=inductor:cuda-interpreted")
    result.stdout.fnmatch_lines(["*needs a process of its own*"])
    assert result.ret != 0


def test_workers_of_xdist_hand_their_rows_in(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(f"""
        import pytest

        @pytest.mark.compile_issue("{BAD}")
        @pytest.mark.parametrize("n", range(4))
        def test_breaks(n):
            assert False
    """)
    result = pytester.runpytest_subprocess("-n2", "--compilefix-report=report.json")
    result.assert_outcomes(xfailed=4)
    rows = json.loads((pytester.path / "report.json").read_text())["rows"]
    assert sorted(row["test"][-2] for row in rows) == ["0", "1", "2", "3"]


def test_it_can_be_turned_off(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(compile_check):\n    pass\n")
    result = pytester.runpytest_subprocess("-p", "no:compilefix")
    result.stdout.fnmatch_lines(["*fixture 'compile_check' not found*"])


def test_a_report_that_cannot_be_written_is_a_usage_error(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--compilefix-report=no/such/folder.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_collecting_imports_no_torch(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(f"""
        import pytest

        @pytest.mark.compile_issue("{BAD}")
        def test_it(compile_check):
            pass
    """)
    code = (
        "import sys, pytest\ncode = pytest.main(['--collect-only', '-q'])\n"
        "assert code == 0 and 'torch' not in sys.modules, code\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=pytester.path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
