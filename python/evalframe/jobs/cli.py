"""The command line. It only builds a job; Polars is loaded by the commands, not by `--help`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click
from msgspec import NODEFAULT

from evalframe.core.progress import silent
from evalframe.jobs.console import (
    INTERRUPTED,
    Program,
    end_at_once,
    prepare,
    refuse_silence,
    say,
    silence,
)
from evalframe.jobs.family import FAMILIES, READERS, Family, help_texts, reader_of
from evalframe.jobs.family import family as family_named
from evalframe.jobs.flags import (
    document_of,
    drop_unset,
    fields_of,
    load,
    options,
    parse,
    quiet_option,
)
from evalframe.jobs.logs import logs

if TYPE_CHECKING:
    from evalframe.jobs.settings import TableJob


def main() -> None:
    """The `evalframe` program."""
    prepare()
    try:
        cli(prog_name="evalframe")
    except SystemExit as ended:
        if ended.code == INTERRUPTED:  # threads of Polars may still be at work, and would abort
            end_at_once()
        raise
    except OSError as error:  # from printing help, which no command does
        silence(sys.stdout)
        sys.exit(f"error: cannot print ({error.strerror})")


class FamilyGroup(click.Group):
    """Commands of a family, built when they are used; the main one needs no name."""

    def __init__(self, family: Family) -> None:
        super().__init__(family.name, help=family.title)
        self.family = family

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Add the name of the main command if no command is named."""
        is_named = bool(args) and args[0] in self.list_commands(ctx)
        return super().parse_args(ctx, args if is_named else [self.family.main, *args])

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands."""
        family = self.family
        return sorted([family.main, "validate", *family.verbs, *family.commands])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Build a command."""
        if cmd_name in (self.family.main, "validate"):
            return job_command(self.family, cmd_name)
        if cmd_name in self.family.verbs:
            return job_command(self.family.doing(cmd_name), cmd_name)
        if cmd_name in self.family.commands:
            return further_command(self.family, cmd_name)
        return None


def job_command(family: Family, name: str) -> click.Command:
    """The command that runs the jobs of a family, or that validates their records."""
    is_main = name == family.main
    parameters: list[click.Parameter] = [
        click.Argument(["items"], nargs=-1, metavar=f"[{family.items}]...")
    ]
    if any(each.name == "reader" for each in fields_of(family.job)):
        parameters += _reader_options(family)
    parameters += options(family.job, checks_only=not is_main)
    if is_main:
        parameters += options(family.documents.flags) if family.documents else []
        parameters.append(quiet_option("Print neither result nor progress."))
    callback = partial(_run_flags if is_main else _check_flags, family)
    return _command(family, name, callback, parameters)


def further_command(family: Family, name: str) -> click.Command:
    """A further command of a family, from the fields of its struct."""
    command = family.commands[name]
    by_name = {each.name: each for each in fields_of(command.flags)}
    reads = "reader" in by_name
    argument = next(each for each in by_name.values() if each.flag is None)
    required = argument.default is NODEFAULT

    def call(quiet: bool, **flags: Any) -> None:
        entries = drop_unset(flags)
        values = command.flags(**(_read(family, entries) if reads else entries))
        _print(command.run.value, values, quiet, values.output)

    parameters = [
        click.Argument([argument.name], nargs=-1, required=required),
        *(_reader_options(family, f"Read {READERS[str(family.reader)].what}.") if reads else ()),
        *options(command.flags),
        quiet_option("Print no summary."),
    ]
    return _command(family, name, call, parameters)


def _command(
    family: Family, name: str, callback: Callable[..., None], parameters: list[click.Parameter]
) -> click.Command:
    texts = help_texts(family.name)
    examples = texts.get(f"{name}: examples")
    return click.Command(name, None, callback, parameters, texts[name], examples)


def _reader_options(family: Family, text: str | None = None) -> list[click.Parameter]:
    """The option of all readers, and that of the one that the family uses most."""
    of_all = click.Option(
        ["--from", "sources"],
        multiple=True,
        type=(click.Choice([*READERS]), str),
        metavar="KIND PATH",
        help=f"Read files of another program, of the kind {', '.join(READERS)}; further ones "
        f"follow as {family.items}.  [default: {family.items} in JSON are recognised]",
    )
    if family.reader is None:
        return [of_all]
    reader = READERS[family.reader]
    names, text = [reader.flag, reader.kind], text or reader.help
    return [click.Option(names, multiple=True, metavar=reader.metavar, help=text), of_all]


def _read(family: Family, flags: dict[str, Any]) -> dict[str, Any]:
    """The flags with `reader`, and with its files before other items."""
    sources = [(family.reader, path) for path in flags.pop(str(family.reader), ())]
    sources += flags.pop("sources", ())
    kinds = {kind for kind, _ in sources}
    if len(kinds) > 1:
        raise click.UsageError(f"{' and '.join(map(str, kinds))} are read by separate commands")
    items = [*(path for _, path in sources), *flags.get("items", ())]
    kind = kinds.pop() if kinds else reader_of(items, Path())
    return {**flags, **({"items": items} if items else {}), **({"reader": kind} if kind else {})}


def _print(run: Callable[[Any], str], flags: Any, quiet: bool, *outputs: str | Path | None) -> None:
    """Run a command and print its text, unless it is quiet and writes a file."""
    refuse_silence(quiet, *outputs)
    with silent() if quiet else nullcontext():
        text = run(flags)
    if not quiet:
        say(text)


def _run_flags(family: Family, quiet: bool, **flags: Any) -> None:
    from evalframe.jobs.run import run_job

    entries = _read(family, drop_unset(flags))
    if (documents := family.documents) is not None:
        if entries.get("reader") == family.reader:
            written = (entries.get("output"), entries.get("artifact"))
            _print(documents.run.value, entries, quiet, *written)
            return
        names = [option.opts[-1] for option in options(documents.flags) if option.name in entries]
        if names:
            raise click.UsageError(f"{', '.join(names)} without {_reader_usage(family)}")
    _end(run_job(job_of(family, entries), Path(), quiet=quiet))


def _end(code: int | None) -> None:
    """End the program if a job decided against success."""
    if code:
        raise click.exceptions.Exit(code)


def _check_flags(family: Family, **flags: Any) -> None:
    entries = drop_unset(flags)
    if family.validate is not None and family.validate.value(entries):
        return
    job = job_of(family, _read(family, entries))
    from evalframe.jobs.run import check

    say(check(job))


def job_of(family: Family, flags: dict[str, Any]) -> TableJob:
    """The job of the flags that are set."""
    verb = {"verb": family.main} if "verb" in family.job.__struct_fields__ else {}
    document = {"family": family.name, **verb, **document_of(family.job, flags)}
    if "items" not in document:
        reads = any(each.name == "reader" for each in fields_of(family.job))
        others = f", or {_reader_usage(family)}" if reads else ""
        raise click.UsageError(f"name {family.items}{others}")
    return parse(document)


def _reader_usage(family: Family) -> str:
    reader = READERS.get(str(family.reader))
    return "--from KIND PATH" if reader is None else f"{reader.flag} {reader.metavar}"


class Commands(Program):
    """The commands of the program, among them the families."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands."""
        return sorted([*FAMILIES, *self._shortcuts(), *self.commands])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Build the group of a family, or a command that has a shortcut."""
        if cmd_name in FAMILIES:
            return FamilyGroup(family_named(cmd_name))
        if (owner := self._shortcuts().get(cmd_name)) is not None:
            return FamilyGroup(owner).get_command(ctx, cmd_name)
        return super().get_command(ctx, cmd_name)

    def _shortcuts(self) -> dict[str, Family]:
        families = map(family_named, FAMILIES)
        return {name: each for each in families for name in each.shortcuts}


@click.group(
    cls=Commands,
    help=help_texts()["evalframe"],
    epilog=help_texts()["evalframe: examples"],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="evalframe", message="evalframe %(version)s")
def cli() -> None:
    """Group of all commands."""


def of_job_file(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the arguments of one that runs a job file."""
    folder = click.option(
        "-o",
        "--output-folder",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="For the files that the job writes.  [default: the folder of JOB]",
    )
    quiet = click.option("--quiet", "-q", is_flag=True, help="Print neither result nor progress.")
    return click.argument("job", type=click.Path(path_type=Path))(folder(quiet(command)))


@cli.command("run")
@of_job_file
def run_file(job: Path, output_folder: Path | None, quiet: bool) -> None:
    """Run a job from a TOML file, whose entries are those of the flags of its family's command.

    Relative paths in the file are relative to its folder. What the job writes must lie in that
    folder, or below it, or in DIR, to which the names of its outputs are relative then: whoever
    runs a job decides where it may write.
    """
    _run(load(job), job, output_folder, quiet)


@cli.command()
@of_job_file
def gate(job: Path, output_folder: Path | None, quiet: bool) -> None:
    """Decide by the comparison of a TOML file whether systems are worse than the baseline.

    JOB is one of `evalframe compare` with an entry fail_if. Exit codes: 0 no regression beyond the
    margin, 1 regression, 2 an error, 3 undecided: there are too few items, and it says how many
    would decide.
    """
    loaded = load(job)
    if getattr(loaded, "fail_if", None) is None:
        raise click.UsageError(
            f"{job} does not say what fails; add fail_if = 'regression > MARGIN' to a job of "
            "evalframe compare"
        )
    _run(loaded, job, output_folder, quiet)


def _run(job: TableJob, file: Path, folder: Path | None, quiet: bool) -> None:
    from evalframe.jobs.run import run_job

    _end(run_job(job, file.parent, into=folder or file.parent, quiet=quiet))


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--participants", type=int, default=60, show_default=True, help="Of the selective tables."
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--overwrite", is_flag=True, help="Replace other files of the same names.")
def sample(folder: Path, participants: int, seed: int, overwrite: bool) -> None:
    """Write samples of all families, the same for the same seed, into FOLDER."""
    from evalframe.jobs.samples import write_samples

    for path in write_samples(folder, participants=participants, seed=seed, overwrite=overwrite):
        say(path)


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--overwrite", is_flag=True, help="Replace other files of the same names.")
def tutorial(folder: Path, overwrite: bool) -> None:
    """Write five notebooks, and the samples that they read, into FOLDER.

    Each notebook answers questions about the samples, draws charts, and explains which conclusions
    the results support and which they do not.
    """
    from evalframe.jobs.samples import write_tutorials

    for path in write_tutorials(folder, overwrite=overwrite):
        say(path)
    opening = f"pip install 'evalframe[plot]' jupyterlab && jupyter lab {quote(str(folder))}"
    say(f"\nOpen them: {opening}")


@cli.command()
@click.argument("topic", required=False)
def explain(topic: str | None) -> None:
    """Print a reference text, or the documentation of a public name; without TOPIC list them."""
    import evalframe as ef

    say(str(ef.explain(topic)).rstrip())


@cli.command()
@click.argument("samples", type=click.Path(path_type=Path), default="data")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default="results",
    show_default=True,
    help="The folder for the tables.",
)
def demo(samples: Path, output: Path) -> None:
    """Run the main command of each family on the samples in SAMPLES, by default data.

    Shows each command, how to read what it prints, a table of it, and where the rest is written.
    """
    from evalframe.jobs.samples import show

    show(samples, output, cli)


@cli.command("report")
@click.argument("results", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="OUT.html",
    help="The file.",
)
@click.option("--title", default="Report", show_default=True, help="Its heading.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing.")
def write_reports(results: tuple[str, ...], output: Path, title: str, quiet: bool) -> None:
    """Write one HTML file of the Parquet files, or folders of them, that other commands wrote.

    It opens anywhere, without a network: for each family a verdict, tables to sort and search,
    charts, what was left out and why, methods with citations, and what was computed from what, by
    which command. What a command writes by its own --report also has curves and hashes of inputs.
    """
    from evalframe.jobs.pages import write_reports

    text = write_reports(results, output, title)
    if not quiet:
        say(text)


cli.add_command(logs)


@cli.command("metrics")
@click.option("--family", help="Only those of one family.")
def list_metrics(family: str | None) -> None:
    """List the metrics: name, family, direction, range and roles."""
    from evalframe.jobs.metrics import listed

    say(listed(family))
