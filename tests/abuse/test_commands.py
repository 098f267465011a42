"""Every command with any flags and damaged inputs: it works, or says why not, and never more.

`EVALFRAME_ABUSE_COMMANDS` is how often, `EVALFRAME_ABUSE_SEED` the first seed.
"""

import os
import random
import warnings

import click
import polars as pl
from click.testing import CliRunner

from abuse.mutations import BYTES, HARMFUL, HARMLESS, TEXT, VALUES
from evalframe.jobs.cli import cli
from evalframe.jobs.samples import write_samples

N = int(os.environ.get("EVALFRAME_ABUSE_COMMANDS", "15"))
SEED = int(os.environ.get("EVALFRAME_ABUSE_SEED", "0"))

NAMES = """a * ^.*$ , a,b -1 0 1 2 0.5 nan inf é model mode item label prediction metric literal
study segment_id aurc risk_at_0.50 aurc,aurc os:system column:label column: squared all default
token_msp few_shot none [a ../x"""
WORDS = ("", *NAMES.split(), "9" * 30, "x" * 300, "\udcff")
OUTPUTS = ("o.parquet", "o.csv", "o.json", "o.jsonl", "o.md", "dir/", "no/o.csv", "o.xlsx", "", "/")
TABLES = {
    "selective": "items",
    "calibrate": "items",
    "validate": "items",
    "rag": "rag_responses",
    "survey": "survey_responses",
    "replication": "replication_tests",
    "rag documents": "rag_instances",
    "survey prompts": "survey",
    "survey baselines": "survey",
    "survey validate": "survey",
    **dict.fromkeys(("evaluate", "compare", "rank", "partial", "items"), "answers"),
}
NEEDED = {"survey": ["--truth", "survey.parquet"], "calibrate": ["--features", "confidence"]}
FEW = {"n": "0 1 2 7 -1 x", "permutations": "0 1 2 x", "participants": "0 1 2 -1"}
"""Values of flags that would take long otherwise."""


def leaves(command, path=()):
    """All commands that do something; demo runs others of them."""
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        if isinstance(inner, click.Group):
            yield from leaves(inner, (*path, name))
        elif name not in ("demo", "run"):
            yield (*path, name), inner


def written(frame, folder, draw):
    """The name of a table, damaged as a table or as a file."""
    suffix = draw.choice((".parquet", ".parquet", ".csv", ".jsonl", ".arrow"))
    path = folder / f"in{suffix}"
    made = draw.choice((*HARMFUL, *HARMLESS))(frame, draw) if draw.random() < 0.6 else frame
    held = {".csv": (pl.List, pl.Struct, pl.Array, pl.Duration), ".jsonl": (pl.Duration,)}
    unfit = (pl.Object, *held.get(suffix, ()), *((pl.Binary,) if suffix in held else ()))
    made = made.drop(name for name, dtype in made.schema.items() if isinstance(dtype, unfit))
    made = made if made.width else frame  # of no columns nothing can be written
    write = {".parquet": "parquet", ".csv": "csv", ".jsonl": "ndjson", ".arrow": "ipc"}[suffix]
    getattr(made, f"write_{write}")(path)
    if draw.random() < 0.25:
        path.write_bytes(draw.choice(BYTES)(path.read_bytes(), draw))
    return path.name


def words_of(path, command, folder, tables, draw):
    """A command with a damaged input and any flags."""
    told = " ".join(path)
    kind = TABLES.get(told) or TABLES.get(path[0])
    words = [*path, *NEEDED.get(told if told in NEEDED else path[-1], ())]
    if path[0] == "survey" and path[-1] == "scores":
        words += NEEDED["survey"]
    if path[0] == "sample":
        words.append("new")
    elif kind == "items" and draw.random() < 0.3:
        run = draw.choice((*TEXT, *VALUES, *VALUES))((folder / "run.json").read_bytes(), draw)
        (folder / "in.json").write_bytes(run)
        words += ["--from-run", "in.json", "--mode", "few_shot"]
    elif kind:
        words.append(written(tables[kind], folder, draw))
    for option in command.params:
        if not isinstance(option, click.Option) or draw.random() > (
            0.9 if option.required or option.name == "output" else 0.08
        ):
            continue
        words.append(option.opts[-1])
        choices = option.type.choices if isinstance(option.type, click.Choice) else WORDS
        if option.name in FEW:
            choices = FEW[option.name].split()
        if option.name == "output":
            choices = OUTPUTS
        if not option.is_flag:
            words += [draw.choice([*choices]) for _ in range(option.nargs)]
    return words


def fault(words):
    """What is wrong with what the command line says, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = CliRunner().invoke(cli, words, prog_name="evalframe")
    said = result.output
    if not isinstance(result.exception, SystemExit | None):
        return repr(result.exception)
    if "internal:" in said or len(said) > 50_000 or "`$" in said:
        return said
    # A survey that is invalid is what its validation is asked for.
    expected = {0: "", 1: "invalid: " if "invalid: " in said else "error: ", 2: "Usage: "}
    return None if expected.get(result.exit_code, "\0") in said else said


def test_commands_work_or_say_why_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_samples(tmp_path, participants=2)
    tables = {kind: pl.read_parquet(f"{kind}.parquet").head(200) for kind in {*TABLES.values()}}
    samples = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    commands, faults = [*leaves(cli)], []
    for seed in range(SEED, SEED + N):
        draw = random.Random(seed)
        words = words_of(*draw.choice(commands), tmp_path, tables, draw)
        if found := fault(words):
            faults.append(f"{seed}: {words}: {found[:300]}")
    assert not faults, f"{len(faults)} of {N}:\n" + "\n".join(faults[:20])
    assert samples.items() <= {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}.items()
    assert not [*tmp_path.rglob("*.tmp")]
