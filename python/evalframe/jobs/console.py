"""Output of the command line: results, and errors as messages and exit codes, not tracebacks."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click

from evalframe.core.errors import Argument, EvalframeError, OutputError

_LONGEST = 5_000
"""Characters of a message."""

_GATE = "evalframe.gate"
"""What the context of a command knows if its job is a gate."""

INTERRUPTED = 130
"""The exit code after an interrupt."""


class Program(click.Group):
    """A group that turns errors into messages and exit codes."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; bad data ends with 1, of a gate with 2, an interrupt with 130."""
        fails = any(word.startswith("--fail-if") for word in ctx.args)
        try:
            with _one_line_warnings():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            say("interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except BaseException as error:
            if os.environ.get("EVALFRAME_DEBUG") or not _is_failure(error):
                raise
            of_file = ctx.invoked_subcommand in ("run", "gate")
            shown = Argument.as_entry if of_file else Argument.as_flag
            say(_shortened(f"error: {_message(error, shown)}"), err=True)
            ctx.exit(2 if fails or ctx.invoked_subcommand == "gate" or _GATE in ctx.meta else 1)


def prepare() -> None:
    """Make SIGTERM an interrupt, and standard streams that take whatever is printed."""
    signal.signal(signal.SIGTERM, _interrupt)
    # Without these, a file opened later would get the number of a closed stream.
    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 (open to the end)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def say(text: object, *, err: bool = False) -> None:
    """Print a line; a closed pipe is no error."""
    stream = sys.stderr if err else sys.stdout
    try:
        click.echo(text, err=err)
    except OSError as error:
        silence(stream)
        if not err and not isinstance(error, BrokenPipeError):
            message = f"cannot print ({error.strerror}); a file named by --output is written"
            raise OutputError(message) from None


def of_gate() -> None:
    """From now on an error of this command ends with 2, since 1 is a regression."""
    if (context := click.get_current_context(silent=True)) is not None:
        context.meta[_GATE] = True


def refuse_silence(quiet: bool, *outputs: object) -> None:
    """Raise click.UsageError if a command neither prints nor writes."""
    if quiet and not any(outputs):
        raise click.UsageError(
            "--quiet prints nothing, so name the result: -o OUT (output = in a job file)"
        )


def terminal_width() -> int | None:
    """Characters per line, if it is a terminal that is printed on."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def end_at_once() -> NoReturn:
    """End the process without waiting for threads; whatever was printed is out."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(INTERRUPTED)


def silence(stream: TextIO) -> None:
    """Send what is left in the buffer nowhere, so that the end of the program does not fail."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Print each warning of the library, every time, as one line."""
    with warnings.catch_warnings():
        # They are at the line of who calls us, which is click, or ours in a thread of Polars.
        warnings.filterwarnings("always", category=UserWarning, module=r"(evalframe|click)\.")
        others = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, UserWarning):
                say(f"warning: {message}", err=True)
            else:
                others(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


def _interrupt(signum: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _is_failure(error: BaseException) -> bool:
    """True for an error that is reported; a panic of Polars is no `Exception`."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _shortened(message: str) -> str:
    """The message without its middle if it repeats a name that is too long to read."""
    left_out = len(message) - _LONGEST
    if left_out <= 0:
        return message
    half = _LONGEST // 2
    return f"{message[:half]} ... ({left_out:,} characters more) ... {message[-half:]}"


def _message(error: BaseException, shown: Callable[[Argument], str]) -> str:
    if isinstance(error, EvalframeError):
        return "\n".join([error.message(shown), *getattr(error, "__notes__", ())])
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, UnicodeEncodeError):  # bytes on the command line that are no UTF-8
        return f"{error.object!a} is no text; write it in UTF-8"
    if isinstance(error, MemoryError):
        return "out of memory; ask for fewer resamples, or evaluate parts of the records"
    what = str(error).partition("\n")[0]
    return f"internal: {type(error).__name__}: {what}; please report it"
