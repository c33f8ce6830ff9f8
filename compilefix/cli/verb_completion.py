"""``compilefix completion``: what a shell needs to complete verbs, options and ids."""

from __future__ import annotations

import argparse

from compilefix.cli.manual import HARNESS, USAGE, Manual
from compilefix.errors import Exit, HarnessError

HELP = "print what bash, zsh or fish needs to complete verbs, options and ids"
SHELLS = ("bash", "zsh", "fish")
MANUAL = Manual(
    description="""
The printed code asks compilefix itself whenever the tab key is pressed, so it never goes out of date: verbs,
options, their choices, ids of records, terms of --select, rules, targets, releases and files are completed. It
needs the package argcomplete. In zsh it belongs behind compinit; the shell reads it once, at its start.""",
    examples=(
        ('eval "$(compilefix completion bash)"', "in ~/.bashrc"),
        ('eval "$(compilefix completion zsh)"', "in ~/.zshrc, behind `autoload -U compinit; compinit`"),
        ("compilefix completion fish > ~/.config/fish/completions/compilefix.fish", "once"),
    ),
    exits={0: "printed", 2: USAGE, 3: f"{HARNESS}: argcomplete is not installed"},
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``completion``."""
    parser.add_argument("shell", choices=SHELLS, help="your shell")


def run(args: argparse.Namespace) -> int:
    """Run ``completion``."""
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        raise HarnessError("completion needs argcomplete: python -m pip install 'compilefix[completion]'") from None
    print(shellcode(["compilefix"], shell=args.shell))
    return int(Exit.EXPECTED)
