"""What reading logs left out or guessed, a row for each log."""

from __future__ import annotations

import polars as pl

from evalframe.core.progress import counted
from evalframe.logs.reading import Paths, Tally, find, parts
from evalframe.logs.table import COUNTS, Wanted, schema_of

_ASKED = Wanted(frozenset({"sample_id", "epoch", "score", "is_error", "uuid", "started_at"}))
_SAMPLE = ("sample_id", "epoch")
_MOST = 2**63 - 1  # what a log says it has can be any number


def log_report(paths: Paths, *, kind: str | None = None) -> pl.DataFrame:
    """What is in logs, and what reading them leaves out or guesses.

    Args:
        paths: Files, folders, globs, or a list of these, as for `read_logs`.
        kind: Read logs of this format only.

    Returns:
        A row per log: log, format, samples (of which a row stands for each epoch), rows of the
        items table, scored (rows with a score), errors (samples that failed), copies (samples whose
        uuid an earlier log has), replaced (records that a later one replaces), not_numbers (scores
        that are no numbers and count 0.0), bad_times (times that cannot be read), missing (samples
        that the log promises and lacks), foreign (records of another run), changed (1 if the
        checksum is another than the published one), no_record (samples without a record of their
        own), and skipped (why the log is left out, else null).

    Raises:
        InputError: There is no log, or a named one is damaged.

    Examples:
        >>> import evalframe as ef, tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("first", "retry"):
        ...         _ = Path(folder, f"{name}.eval").write_bytes(ef.logs.sample_log())
        ...     report = ef.log_report(folder)
        >>> report.select("format", "samples", "rows", "scored", "errors", "copies").rows()
        [('inspect', 80, 160, 152, 4, 0), ('inspect', 80, 160, 152, 4, 80)]
    """
    tally = Tally()
    logs, skipped = find(paths, kind)
    empty = pl.DataFrame(schema=schema_of(_ASKED))
    seen: set[str] = set()
    rows: list[dict[str, object]] = []
    for log in counted("reading logs", logs):
        table = pl.concat([empty, *parts(log, _ASKED, tally, strict=False)])
        if log.name in tally.skipped:
            rows.append({"log": log.name, "format": log.format, "skipped": tally.skipped[log.name]})
            continue
        samples = table.unique(_SAMPLE)
        uuids = samples["uuid"].drop_nulls().to_list()
        copies = sum(uuid in seen for uuid in uuids)
        seen.update(uuids)
        rows.append(
            {
                "log": log.name,
                "format": log.format,
                "samples": len(samples),
                "rows": len(table),
                "scored": table["score"].count(),
                "errors": samples["is_error"].sum(),
                "copies": copies,
                **{name: min(tally.of(log)[name], _MOST) for name in COUNTS},
            }
        )
    rows += [{"log": name, "skipped": reason} for name, reason in skipped.items()]
    counts = ("samples", "rows", "scored", "errors", "copies", *COUNTS)
    texts = dict.fromkeys(("log", "format"), pl.String)
    schema = {**texts, **dict.fromkeys(counts, pl.Int64), "skipped": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")
