"""Read logs of Inspect: the header and the samples of one log, as a frame of the items table.

Of an `.eval` the summaries of samples are read, and their own members only for columns that the
summaries lack. A `.json` is streamed, and has all columns in its samples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
import polars as pl

from evalframe.core.choices import check_choice
from evalframe.core.errors import InputError
from evalframe.logs.inspect.archive import Archive
from evalframe.logs.inspect.checking import checks
from evalframe.logs.inspect.columns import digested, fields_of, sample_columns
from evalframe.logs.inspect.records import Header, Sample, header_of, samples_of
from evalframe.logs.inspect.scores import scores_of
from evalframe.logs.reading import Format, Log, Paths, find, scan
from evalframe.logs.streams import CHUNK, Stream, chunks_of, top_level
from evalframe.logs.table import CONSTANT, EXTRA, Wanted, completed, rectangular, schema_of, wanted

if TYPE_CHECKING:
    from evalframe.logs.checking import Check

Retries: TypeAlias = Literal["all", "last"]
Samples: TypeAlias = dict[tuple[str, int], Sample]
"""Samples by id and epoch."""

_ZIP = b"PK\x03\x04"
_KEEP = ("eval", "results", "samples")
_SAMPLE = re.compile(r"samples/(.+)_epoch_(\d{1,18})(\.json|/sample\.json)", re.DOTALL)
_JOURNAL = re.compile(r"_journal/summaries/(\d{1,18})\.json")
_REMOVED = '"Key removed from summary (> 1k)"'
_LONG = 1 << 25
"""Bytes of a list of summaries that is read in parts."""
_CUT = 1_000
"""Texts of summaries that are longer may be cut."""


def read_inspect(
    paths: Paths,
    *,
    extra: Sequence[str] = (),
    metadata: Sequence[str] = (),
    retries: Retries = "all",
    strict: bool = False,
) -> pl.LazyFrame:
    """Read logs of Inspect lazily as one items table.

    A row is a sample, an epoch and a pair of scorer and score name. Scores are numbers as Inspect's
    metrics take them: C is 1, P 0.5, I and N 0; any other value counts 0.0, is counted and warned
    of. A score that is missing or NaN is null. An object or a list gives a score for each key or
    place. Samples that failed are rows without scores, unless they were scored.

    Args:
        paths: `.eval` and `.json` files, folders (read with all folders below), globs, or a list.
        extra: Columns to read from the full records of samples, not from their summaries:
            explanation, confidence, logprob, logprob_tokens, invalidated; and any other column,
            such as answer, whose texts summaries cut after 1,024 characters.
        metadata: Names of metadata of the samples; each becomes a column `metadata_NAME`, typed if
            all its values agree in type, else JSON text; all logs are read for their types by this
            call. Summaries cut long values and join the lines of texts; a value that is cut or
            missing there is read from the full record.
        retries: "last" leaves out logs of the same task_id and model but the newest, which has
            copies of the samples that succeeded before.
        strict: A log in a folder that cannot be read is an error, not left out with a warning.

    Returns:
        A frame whose queries read only what their columns need, log by log. Queries of constant
        columns of a log (model, task, ...) leave out whole logs. `log_report` tells what was left
        out.

    Raises:
        InputError: There is no log, or one is damaged and named or strict.

    Examples:
        >>> import evalframe as ef, tempfile
        >>> from pathlib import Path
        >>> folder = tempfile.TemporaryDirectory()
        >>> _ = Path(folder.name, "quiz.eval").write_bytes(ef.logs.sample_log())
        >>> items = ef.read_inspect(folder.name, extra="confidence").filter(scorer="choice")
        >>> items.select("sample_id", "epoch", "answer", "score").head(2).collect().rows()
        [('q000', 1, 'C', 1.0), ('q001', 1, 'B', 1.0)]
        >>> folder.cleanup()
    """
    check_choice("retries", retries, Retries)
    asked = wanted(extra, metadata)
    logs, skipped = find(paths, "inspect", strict=strict)
    chosen = logs if retries == "all" else _newest(logs)
    return scan(chosen, skipped, asked, strict=strict)


def _newest(logs: Sequence[Log]) -> list[Log]:
    """Of the logs of a task_id and model the newest; a log that cannot be read stays."""
    best: dict[tuple[str | None, ...], tuple[datetime, Log]] = {}
    for log in logs:
        try:
            told = _header(log).eval
        except InputError:
            best[log.name,] = _moment(None), log
            continue
        key = (log.name,) if told.task_id is None else (told.task_id, told.model)
        when = _moment(told.created)
        if key not in best or when >= best[key][0]:
            best[key] = when, log
    return [log for _, log in best.values()]


def _moment(created: str | None) -> datetime:
    """The time at which a log was created; one without an offset is in UTC, one unknown is old."""
    try:
        moment = datetime.fromisoformat(created or "")
    except ValueError:
        moment = datetime.min
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _recognised(path: Path, head: bytes) -> bool:
    if head.startswith(_ZIP):
        return path.suffix == ".eval" or head[30:].startswith((b"_journal/", b"header.json"))
    keys = top_level(head)
    return "eval" in keys and b'"task"' in head[keys["eval"] :]


def _constants(log: Log) -> dict[str, str | None]:
    return _told(log, _header(log))


def _told(log: Log, header: Header) -> dict[str, str | None]:
    e = header.eval
    args = None if e.model_args is None else msgspec.json.encode(e.model_args).decode()
    version = None if e.task_version is None else str(e.task_version)
    dataset = None if e.dataset is None else e.dataset.name
    log_id = e.eval_id or log.path.stem
    values = (log.name, log.format, e.run_id, log_id, e.task, version, e.model, args, dataset)
    return dict(zip(CONSTANT, values, strict=True))


def _header(log: Log) -> Header:
    if _is_zip(log.path):
        with Archive(log.path) as archive:
            return _archived_header(archive)
    stream = Stream(log.name, "samples", _KEEP)
    for _ in stream.batches(chunks_of(log.path)):
        try:  # it stands before the samples, as a rule
            return header_of(bytes(stream.around) + b"]}", log.name)
        except InputError:
            continue
    return header_of(bytes(stream.around), log.name)


def _read(log: Log, asked: Wanted, counts: Counter[str]) -> list[pl.DataFrame]:
    """All rows of a log; no frame if it has no samples."""
    fields = fields_of([*asked.columns], asked) | {"epoch", "scores", "score"}
    header, latest = (_archived if _is_zip(log.path) else _streamed)(log, asked, fields, counts)
    planned = header.results.get("total_samples") if isinstance(header.results, dict) else None
    counts["missing"] += max(planned - len(latest), 0) if isinstance(planned, int) else 0
    samples = [*latest.values()]
    if not samples:
        return []
    only = _only_scorer(header)
    for sample in samples:
        if sample.scores is None and sample.score is not None:
            sample.scores = {only: sample.score}
    scorers = [scorer.name for scorer in header.eval.scorers or ()]
    frame = rectangular(
        pl.DataFrame(sample_columns(samples, asked, counts) or {"": [None] * len(samples)}),
        scores_of(samples, scorers, asked, counts),
    )
    told = _told(log, header).items()
    named = (pl.lit(value, pl.String).alias(name) for name, value in told if asked.any(name))
    return [frame.with_columns(named)]


def _check(log: Log) -> Iterator[Check]:
    def rows(asked: Wanted) -> pl.DataFrame:
        found = [completed(part, asked) for part in _read(log, asked, Counter())]
        return pl.concat(found) if found else pl.DataFrame(schema=schema_of(asked))

    return checks(_header(log), rows, log.name)


FORMAT = Format(_recognised, _constants, _read, _check, ending=".eval")


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_ZIP)) == _ZIP


def _only_scorer(header: Header) -> str:
    """The scorer of a log whose samples have one score without a name."""
    results = header.results if isinstance(header.results, dict) else {}
    scores = results.get("scores")
    first = scores[0] if isinstance(scores, list) and scores else results.get("scorer")
    name = first.get("name") if isinstance(first, dict) else None
    return name if isinstance(name, str) else "score"


def _streamed(
    log: Log, asked: Wanted, fields: frozenset[str], counts: Counter[str]
) -> tuple[Header, Samples]:
    stream = Stream(log.name, "samples", {*_KEEP, *fields})
    samples: Samples = {}
    for batch in stream.batches(chunks_of(log.path)):
        found = samples_of(batch, fields, log.name)
        digested(found, fields, asked)
        _add(samples, found, counts)
    header = header_of(bytes(stream.around), log.name)
    if samples and header.samples is None:
        raise InputError(f"{log.name}: it has samples twice, as a list and as null; keep one")
    return header, samples


def _add(samples: Samples, found: Sequence[Sample], counts: Counter[str]) -> None:
    """Add samples, which replace earlier ones of the same key."""
    before = len(samples)
    samples.update({(str(sample.id), sample.epoch): sample for sample in found})
    counts["replaced"] += before + len(found) - len(samples)


# An `.eval`.


def _archived(
    log: Log, asked: Wanted, fields: frozenset[str], counts: Counter[str]
) -> tuple[Header, Samples]:
    with Archive(log.path) as archive:
        header = _archived_header(archive)
        samples: Samples = {}
        for member in _summaries(archive):
            for batch in _batches(archive, member, fields):
                found = samples_of(batch, fields, log.name)
                digested(found, fields - {"output"}, asked)
                _add(samples, found, counts)
        _complete(archive, samples, asked, fields, counts)
    return header, samples


def _batches(archive: Archive, member: str, fields: frozenset[str]) -> Iterator[bytes]:
    """A list that is a member, as several lists if it is long."""
    if archive.member(member).size <= _LONG:
        return iter([archive.read(member)])
    stream = Stream(f"{archive.name}, {member}", None, fields)
    return stream.batches(archive.chunks(member))


def _archived_header(archive: Archive) -> Header:
    for member in ("header.json", "_journal/start.json"):
        if member in archive.members:
            return header_of(_object(archive, member, _KEEP), f"{archive.name}, {member}")
    raise InputError(f"{archive.name}: it has neither header.json nor a journal; is it a log?")


def _object(archive: Archive, member: str, keep: Collection[str]) -> bytes:
    """An object that is a member; of a long one only what is kept."""
    if archive.member(member).size <= CHUNK:
        return archive.read(member)
    stream = Stream(f"{archive.name}, {member!r:.200}", "", keep)
    for _ in stream.batches(archive.chunks(member)):
        pass
    return bytes(stream.around)


def _summaries(archive: Archive) -> list[str]:
    """The members with summaries: of a finished log one, else those of the journal in order."""
    if "summaries.json" in archive.members:
        return ["summaries.json"]
    matches = filter(None, map(_JOURNAL.fullmatch, archive.members))
    return [match[0] for match in sorted(matches, key=lambda match: int(match[1]))]


def _complete(
    archive: Archive,
    samples: Samples,
    asked: Wanted,
    fields: frozenset[str],
    counts: Counter[str],
) -> None:
    """Add to samples what only their own members have, and samples that have no summary."""
    full = [name for name in asked.columns if name in asked.full or name in EXTRA]
    more = fields_of(full, asked)
    lacking = set(samples) if full else set()
    if asked.metadata:
        lacking |= {key for key, sample in samples.items() if _lacks(sample, asked)}
    names = {f"samples/{name}_epoch_{epoch}.json": (name, epoch) for name, epoch in samples}
    rest = archive.members.keys() - names.keys()
    absent = (name.removesuffix(".json") for name in names.keys() - archive.members.keys())
    counts["no_record"] += sum(f"{name}/sample.json" not in rest for name in absent)
    if lacking:
        rest |= {name for name in names.keys() & archive.members.keys() if names[name] in lacking}
    for member in sorted(rest, key=archive.members.__getitem__):
        match = _SAMPLE.fullmatch(member)
        if match is None or ((key := (match[1], int(match[2]))) in samples and key not in lacking):
            continue
        record = _record(archive, member, asked, fields)
        key = (str(record.id), record.epoch)
        sample: Sample = samples.setdefault(key, record)
        if sample is not record and key in lacking:
            if asked.metadata:
                record.metadata = {**sample.metadata, **record.metadata}
            for field in more:
                setattr(sample, field, getattr(record, field))
    if asked.metadata:
        for each in map(samples.__getitem__, lacking):
            each.metadata = {k: text for k, text in each.metadata.items() if text != _REMOVED}


def _lacks(sample: Sample, asked: Wanted) -> bool:
    """True if the summary has not all metadata that are asked for, or not whole."""
    return any(
        (text := sample.metadata.get(name)) is None
        or text == _REMOVED
        or (len(text) > _CUT and text.endswith('..."'))
        for name in asked.metadata
    )


def _record(archive: Archive, member: str, asked: Wanted, fields: frozenset[str]) -> Sample:
    """A sample from its own member; a chunked one has its metadata in another."""
    name = f"{archive.name}, {member!r:.200}"
    (record,) = samples_of(b"[%b]" % _object(archive, member, fields), fields, name)
    apart = member.removesuffix("sample.json") + "metadata.json"
    if asked.metadata and apart != member + "metadata.json" and apart in archive.members:
        data = b'[{"id":"","metadata":%b}]' % archive.read(apart)
        (record.metadata,) = (each.metadata for each in samples_of(data, {"metadata"}, name))
    digested([record], fields, asked)
    return record
