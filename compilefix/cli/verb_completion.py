"""``compilefix completion``: what a shell needs to complete verbs, options and ids."""

from __future__ import annotations

import argparse

from compilefix.errors import Exit, HarnessError

HELP = "print what bash, zsh or fish needs to complete verbs, options and ids"
SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``completion``."""
    parser.epilog = (
        "examples:\n"
        '  eval "$(compilefix completion bash)"                        in ~/.bashrc\n'
        '  eval "$(compilefix completion zsh)"                         in ~/.zshrc, behind compinit\n'
        "  compilefix completion fish > ~/.config/fish/completions/compilefix.fish"
    )
    parser.add_argument("shell", choices=SHELLS)


def run(args: argparse.Namespace) -> int:
    """Run ``completion``."""
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        raise HarnessError("completion needs argcomplete: python -m pip install 'compilefix[completion]'") from None
    print(shellcode(["compilefix"], shell=args.shell))
    return int(Exit.EXPECTED)
