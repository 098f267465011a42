"""Realistic records from a seed: a language model fills in the PHQ-8 for interviewed participants.

Everything is made of uniform draws by sums, products, quotients, square roots and rounding, which
IEEE arithmetic defines to the last bit: the same seed gives the same table on every machine.
Nothing here is taken from real people.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from evalframe.core.errors import OutputError, ParameterError
from evalframe.core.files import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]


class Mode(NamedTuple):
    """How a way of prompting differs from the others."""

    skill: float
    """Added to the grasp of every answer."""
    caution: float
    """The model abstains where it perceives less evidence than this."""
    failure: float
    """The whole run fails where a draw exceeds this."""


MODES: Mapping[str, Mode] = {
    "zero_shot": Mode(skill=-0.2, caution=-0.2, failure=1.7),
    "few_shot": Mode(skill=0.3, caution=-0.5, failure=1.9),
    "chain_of_thought": Mode(skill=0.5, caution=-0.7, failure=1.5),
}

ITEMS: Mapping[str, float] = {
    "NoInterest": 0.0,
    "Depressed": 0.1,
    "Sleep": 0.4,
    "Tired": 0.6,
    "Appetite": 0.1,
    "Failure": 0.1,
    "Concentrating": 0.0,
    "Moving": -0.6,
}
"""The item keys of the PHQ-8 in its order, each with how common the symptom is."""

_LABEL_CUTS = (0.2, 1.0, 1.7)
_FIRST_ID = 300
_QUANTITIES = 11


def sample_items(*, participants: int = 60, items: int = 8, seed: int = 0) -> pl.DataFrame:
    """One row per participant, mode and item: a prediction, its label, three confidences.

    For participant i, item j and mode m, each z a draw `2 (U1 + U2 + U3) - 3` of its own (mean 0,
    variance 1; the indices say what shares it):

        label          y_ij  = how many of 0.2, 1.0, 1.7 lie below common_j + 0.8 z_i + 0.6 z_ij
        evidence       e_ij  = z_ij, what the interview reveals
        grasp          g_ijm = skill_m + 0.5 z_i + 0.6 e_ij + 0.6 z_ijm
        prediction           = round(y_ij + 2.2 (1 - s(g_ijm)) z_ijm), within 0..3
        abstained           if e_ij + 0.5 z_ijm < caution_m
        confidence           = s(0.3 + g_ijm + 0.5 z_ijm), to four decimals
        verbalized           = round(2.6 + 0.8 g_ijm + 0.6 z_ijm) / 4, within 0..1
        evidence_count       = round(2.2 + 1.3 e_ij + 0.6 z_ijm), within 0..5
        failed              if z_im > failure_m
        s(x)                 = (1 + x / sqrt(2 + x^2)) / 2, Student's t distribution with 2 df

    So confidence tells about the error through g, modes are paired by participant and item, and
    participants are clusters. Runs that failed have no rows here; `sample_participants` lists
    them. More participants or items only add rows to a sample of the same seed.

    Args:
        participants: How many participants were attempted.
        items: How many of the eight items to keep, in the questionnaire's order.
        seed: Non-negative integer.

    Returns:
        `participant_id, mode, item, prediction, label, confidence, verbalized, evidence_count`,
        ordered by participant, mode and item as declared; `prediction` is null where the model
        abstained.

    Raises:
        ParameterError: A size out of range or a negative seed.

    Example:
        >>> sample_items(participants=1, items=2).select("mode", "item", "prediction", "label")
        shape: (6, 4)
        ┌──────────────────┬────────────┬────────────┬───────┐
        │ mode             ┆ item       ┆ prediction ┆ label │
        │ ---              ┆ ---        ┆ ---        ┆ ---   │
        │ str              ┆ str        ┆ i64        ┆ i64   │
        ╞══════════════════╪════════════╪════════════╪═══════╡
        │ zero_shot        ┆ NoInterest ┆ 1          ┆ 0     │
        │ zero_shot        ┆ Depressed  ┆ 0          ┆ 0     │
        │ few_shot         ┆ NoInterest ┆ 0          ┆ 0     │
        │ few_shot         ┆ Depressed  ┆ 1          ┆ 0     │
        │ chain_of_thought ┆ NoInterest ┆ 0          ┆ 0     │
        │ chain_of_thought ┆ Depressed  ┆ 1          ┆ 0     │
        └──────────────────┴────────────┴────────────┴───────┘
    """
    import numpy as np

    if not 1 <= items <= len(ITEMS):
        raise ParameterError(f"items is {items}; the questionnaire has 1 to {len(ITEMS)}.")
    draws = unit_draws(participants, seed)[..., :items]
    person, able, symptom, evidence, read, slip, felt, said, found, doubt, fate = draws
    skill, caution, failure = _mode_parameters()
    common = np.array(list(ITEMS.values())[:items])

    label = np.searchsorted(_LABEL_CUTS, common + 0.8 * person[:, :1, :1] + 0.6 * symptom[:, :1])
    evidence = evidence[:, :1]
    grasp = skill + 0.5 * able[:, :1, :1] + 0.6 * evidence + 0.6 * read
    records = grid_frame(
        participants,
        item=np.array(list(ITEMS)[:items]),
        prediction=grade(label + 2.2 * (1 - squash(grasp)) * slip, 3),
        label=label,
        confidence=np.rint(1e4 * squash(0.3 + grasp + 0.5 * felt)) / 1e4,
        verbalized=grade(2.6 + 0.8 * grasp + 0.6 * said, 4) / 4,
        evidence_count=grade(2.2 + 1.3 * evidence + 0.6 * found, 5),
        abstained=evidence + 0.5 * doubt < caution,
        failed=fate[:, :, :1] > failure,
    )
    answer = pl.when(~pl.col("abstained")).then(pl.col("prediction").cast(pl.Int64))
    return (
        records.filter(~pl.col("failed"))
        .with_columns(answer.alias("prediction"))
        .drop("abstained", "failed")
    )


def sample_participants(*, participants: int = 60, seed: int = 0) -> pl.DataFrame:
    """One row per participant and mode: whether that run is `included` in the items or `failed`.

    Args:
        participants: How many participants were attempted.
        seed: The seed of the items.

    Returns:
        `participant_id, mode, status`, in the order of the items.

    Raises:
        ParameterError: No participant or a negative seed.

    Example:
        >>> sample_participants(participants=60).filter(status="failed").head(2)
        shape: (2, 3)
        ┌────────────────┬──────────────────┬────────┐
        │ participant_id ┆ mode             ┆ status │
        │ ---            ┆ ---              ┆ ---    │
        │ i64            ┆ str              ┆ str    │
        ╞════════════════╪══════════════════╪════════╡
        │ 308            ┆ few_shot         ┆ failed │
        │ 318            ┆ chain_of_thought ┆ failed │
        └────────────────┴──────────────────┴────────┘
    """
    import numpy as np

    *_, fate = unit_draws(participants, seed)[..., :1]
    *_, failure = _mode_parameters()
    return grid_frame(participants, status=np.where(fate > failure, "failed", "included"))


def content_hash(frame: pl.DataFrame) -> str:
    """The SHA-256 of a table's content, whatever file format, compression or library holds it.

    Hashed is the JSON text `[[name, dtype, [value, ...]], ...]`, a list per column, as Python
    writes it without spaces: floats in their shortest exact form, null as `null`. Row and column
    order count.

    Args:
        frame: A table of numbers, strings, booleans and nulls.

    Returns:
        64 hexadecimal digits.

    Example:
        >>> content_hash(pl.DataFrame({"a": [1, None]}))[:16]
        '2315b96b7edace9a'
    """
    columns = [[column.name, str(column.dtype), column.to_list()] for column in frame]
    return hashlib.sha256(json.dumps(columns, separators=(",", ":")).encode()).hexdigest()


def write_samples(
    folder: str | Path, *, participants: int = 60, seed: int = 0, overwrite: bool = False
) -> list[Path]:
    """Write the sample: `items.parquet`, `participants.parquet`, `run.json` and `manifest.json`.

    The run document holds the same answers with all confidence signals, an experiment for each
    mode. Each file is written whole or not at all.

    Args:
        folder: Where to; made if absent.
        participants: How many participants were attempted.
        seed: Non-negative integer.
        overwrite: Replace files of these names that hold something else.

    Returns:
        The paths written.

    Raises:
        OutputError: The folder cannot be made or written, or holds other files of these names.
        ParameterError: No participant or a negative seed.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in write_samples(folder, participants=2)]
        ['items.parquet', 'participants.parquet', 'run.json', 'manifest.json']
    """
    from evalframe.selective.sample_run import sample_document

    folder = Path(folder)
    arguments = f"participants={participants}, seed={seed}"
    tables = {
        "items": sample_items(participants=participants, seed=seed),
        "participants": sample_participants(participants=participants, seed=seed),
    }
    rows = {
        "items": "one item of one participant as answered in one mode; a null prediction abstains",
        "participants": "one run: a participant in a mode, included in the items or failed",
    }
    manifest: dict[str, dict[str, Any]] = {
        name: {
            "file": f"{name}.parquet",
            "row": rows[name],
            "rows": table.height,
            "schema": {column: str(dtype) for column, dtype in table.schema.items()},
            "seed": seed,
            "generator": f"evalframe.selective.sample.sample_{name}({arguments})",
            "content_sha256": content_hash(table),
        }
        for name, table in tables.items()
    }
    document = sample_document(participants=participants, seed=seed)
    manifest["run"] = {
        "file": "run.json",
        "row": "a run document with an experiment for each mode, as `read_run` reads it",
        "seed": seed,
        "generator": f"evalframe.selective.sample_run.sample_document({arguments})",
        "content_sha256": hashlib.sha256(document).hexdigest(),
    }
    contents = {folder / f"{name}.parquet": _parquet(table) for name, table in tables.items()}
    contents[folder / "run.json"] = document
    contents[folder / "manifest.json"] = f"{json.dumps(manifest, indent=2)}\n".encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        foreign = [path.name for path, new in contents.items() if _holds_other(path, new)]
        if foreign and not overwrite:
            raise OutputError(
                f"{folder} already has {', '.join(foreign)} with other content. "
                "Choose another folder, or say overwrite to replace them."
            )
        for path, content in contents.items():
            with replacing(path) as partial:
                partial.write_bytes(content)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(
            f"cannot write the samples to {folder}: {reason}. Choose a folder that can be written."
        ) from error
    return list(contents)


def unit_draws(participants: int, seed: int | list[int], quantities: int = _QUANTITIES) -> Array:
    """Draws of mean 0 and variance 1, shaped quantity, participant, mode, item.

    A participant's draws are adjacent in the stream, so that later participants leave them be.
    """
    import numpy as np

    if participants < 1:
        raise ParameterError(f"participants is {participants}; a sample needs at least one.")
    if np.min(seed) < 0:
        raise ParameterError(f"seed is {seed}; choose an integer from 0.")
    shape = (participants, quantities, len(MODES), len(ITEMS), 3)
    first, second, third = np.moveaxis(
        np.random.Generator(np.random.PCG64(seed)).random(shape), -1, 0
    )
    return np.moveaxis(2 * (first + second + third) - 3, 1, 0)


def squash(x: Array) -> Array:
    """The real line onto (0, 1), rising, without the exponential, whose last bit varies."""
    import numpy as np

    squashed: Array = (1 + x / np.sqrt(2 + x * x)) / 2
    return squashed


def grade(x: Array, top: int) -> Array:
    """The nearest of the grades 0 to top; adding 0.0 turns a negative zero into zero."""
    import numpy as np

    return np.clip(np.rint(x), 0, top) + 0.0


def _mode_parameters() -> Array:
    import numpy as np

    return np.array(list(MODES.values())).T[:, :, None]


def grid_frame(participants: int, **columns: Array) -> pl.DataFrame:
    """A row per participant, mode and further axis, of columns that broadcast to these axes."""
    import numpy as np

    ids = np.arange(_FIRST_ID, _FIRST_ID + participants)[:, None, None]
    keys = {"participant_id": ids, "mode": np.array(list(MODES))[:, None]}
    arrays = np.broadcast_arrays(*keys.values(), *columns.values())
    names = [*keys, *columns]
    return pl.DataFrame({name: array.ravel() for name, array in zip(names, arrays, strict=True)})


def _parquet(table: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()


def _holds_other(path: Path, content: bytes) -> bool:
    return path.exists() and path.read_bytes() != content
