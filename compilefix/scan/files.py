"""Find Python files, read them whatever they hold, and share them out to processes."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import tokenize
import traceback
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from compilefix.errors import UsageError
from compilefix.scan.finding import Finding
from compilefix.scan.knowledge import Knowledge
from compilefix.scan.source import scan_text

LARGEST = 3 * 2**20
"""Bytes above which a file is data rather than source."""

SKIPPED = frozenset(
    "__pycache__ __pypackages__ node_modules site-packages venv env build dist buck-out _build".split()  # noqa: SIM905
)
"""Folders that are left out below a folder that is scanned; so are hidden ones. Named themselves, they are scanned."""

_CHUNK = 24
Result = tuple[list[Finding], list[str]]


def discover(paths: Sequence[Path]) -> list[Path]:
    """Return the Python files under `paths`, each once, in order; raise `UsageError` for a path that does not exist."""
    found: dict[str, Path] = {}
    for path in paths:
        if not path.exists():
            raise UsageError(f"no such file or folder: {path}")
        for file in _walk(path) if path.is_dir() else [path]:
            found.setdefault(os.path.realpath(file), file)
    return list(found.values())


def _walk(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):  # links to folders are not followed: they may lead in circles
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.startswith("."))
        for name in sorted(files):
            if name.endswith(".py") and (path := Path(where, name)).is_file():
                yield path


def read(path: Path) -> str:
    """Return the text of a source file; raise `ValueError` that says in a few words why it cannot be had."""
    try:
        if not path.is_file():
            raise ValueError("not a regular file")
        if (size := path.stat().st_size) > LARGEST:
            raise ValueError(f"{size / 2**20:.1f} MiB, more than a source file has; not scanned")
        raw = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        return raw.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except (SyntaxError, LookupError):
        raise ValueError("its encoding is unknown or not the one it declares") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"not {error.encoding} at byte {error.start}") from None
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None


def scan_file(path: Path, known: Knowledge) -> Result:
    """Return the findings of one file, and a line where it cannot be read or parsed."""
    try:
        text = read(path)
        if "torch" not in text:
            return [], []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the scanned file's own escapes and comparisons
            return scan_text(str(path), text, known), []
    except SyntaxError as error:
        return [], [f"{path}:{error.lineno or 1}: not valid Python: {error.msg}"]
    except ValueError as error:
        return [], [f"{path}: {error}"]
    except (RecursionError, MemoryError):
        return [], [f"{path}: nested too deeply to be parsed"]
    except Exception as error:  # one file must not end the scan of the others, and the mistake must be seen
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        return [], [f"{path}: not scanned, a mistake of compilefix itself at {place}: {type(error).__name__}: {error}"]


def scan_files(files: Sequence[Path], known: Knowledge, jobs: int) -> Result:
    """Scan `files` in `jobs` processes; findings are in the order of the files."""
    chunks = [files[i : i + _CHUNK] for i in range(0, len(files), _CHUNK)]
    if jobs <= 1 or len(chunks) <= 1:
        return _join(_uncollected(chunk, known) for chunk in chunks)
    with ProcessPoolExecutor(jobs, initializer=_begin, initargs=(known,)) as pool:
        try:
            return _join(pool.map(_chunk, chunks))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


_known: Knowledge | None = None


def _begin(known: Knowledge) -> None:
    global _known
    _known = known
    import signal

    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the scan


def _chunk(files: Sequence[Path]) -> Result:
    assert _known is not None
    return _uncollected(files, _known)


def _uncollected(files: Sequence[Path], known: Knowledge) -> Result:
    """
    Scan `files` with the collector of cycles off, which takes as long as the parser else.

    What is left of a chunk is collected at its end.
    """
    on = gc.isenabled()
    gc.disable()
    try:
        return _join(scan_file(file, known) for file in files)
    finally:
        if on:
            gc.enable()
        gc.collect(0)


def _join(results: Iterator[Result]) -> Result:
    findings: list[Finding] = []
    broken: list[str] = []
    for found, failed in results:
        findings += found
        broken += failed
    return findings, broken
