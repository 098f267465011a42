"""Logs of Inspect, as a zip and as one document."""

import io
import json
import math
import re
import warnings
import zipfile
from contextlib import suppress

import evalframe as ef
from abuse.mutations import BYTES, TEXT, VALUES
from abuse.readers import Reader
from evalframe.core.errors import EvalframeError


def archive():
    """A small `.eval`."""
    return ef.logs.sample_log(samples=3, epochs=2)


def document():
    """The same as `.json`, with values of all kinds that scorers record."""
    with zipfile.ZipFile(io.BytesIO(archive())) as file:
        header = json.loads(file.read("header.json"))
        names = [name for name in file.namelist() if name.startswith("samples/")]
        samples = [json.loads(file.read(name)) for name in names]
    kinds = (True, "yes", 0.5, math.nan, "1e-1", -2)
    for sample, kind in zip(samples, kinds, strict=True):
        sample["messages"] = sample["messages"][:1]
        sample["scores"]["parts"] = {"value": {"a": kind, "b": None}, "answer": "x"}
        sample["scores"]["steps"] = {"value": [kind, "C"]}
    return json.dumps({**header, "samples": samples}).encode()


def read(path):
    """Rows as the package reads them."""
    columns = ("sample_id", "epoch", "scorer", "score_name", "score", "answer", "target")
    with warnings.catch_warnings(action="ignore"):
        with suppress(EvalframeError):
            ef.check_logs(path)
        table = ef.read_inspect(path, extra=["confidence"], metadata=["subject"]).collect()
    return table.select(*columns, "is_error").rows()


def of_document(data):
    """Rows of a `.json`; bytes and numbers of parts that are skipped are not checked."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    log = json.loads(re.sub(r"(?<=[:,\[] )(01|1{5000})\b", "1", text))
    return _rows(log.get("samples") or [], log["eval"])


def of_archive(data):
    """Rows of an `.eval`."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        names = file.namelist()
        header = "header.json" if "header.json" in names else "_journal/start.json"
        told = json.loads(file.read(header))["eval"]
        samples = json.loads(file.read("summaries.json")) if "summaries.json" in names else []
        known = {f"samples/{each['id']}_epoch_{each['epoch']}.json" for each in samples}
        for name in dict.fromkeys(names):
            if re.fullmatch(r"samples/(.+)_epoch_(\d+)\.json", name) and name not in known:
                samples.append(json.loads(file.read(name)))
    return _rows(samples, told)


def _rows(samples, told):
    latest = {(str(sample["id"]), sample.get("epoch", 1)): sample for sample in samples}
    recorded = [sample.get("scores") or {} for sample in latest.values()]
    pairs = dict.fromkeys(pair for scores in recorded for pair in _pairs(scores))
    pairs = _settled(pairs)
    if not pairs:
        pairs = dict.fromkeys((each["name"], each["name"]) for each in told.get("scorers") or [])
    pairs = pairs or {(None, None): None}
    rows = [
        (*key, *pair, *_scored(scores, pair), _target(sample), sample.get("error") is not None)
        for (key, sample), scores in zip(latest.items(), recorded, strict=True)
        for pair in pairs
    ]
    return [tuple(map(_whole, row)) for row in rows]


def _whole(value):
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def _pairs(scores):
    for scorer, score in scores.items():
        value = score.get("value")
        if isinstance(value, dict):
            yield from ((scorer, key, dict) for key in value)
        elif isinstance(value, list):
            yield from ((scorer, str(k), list) for k in range(len(value)))
        else:
            is_unscored = value is None or value != value
            yield scorer, scorer, float if is_unscored else str


def _settled(found):
    """Pairs by scorer: scalars, keys, places; an unscored value is none if there are others."""
    scorers = dict.fromkeys(scorer for scorer, _, _ in found)
    pairs = []
    for scorer in scorers:
        own = [(name, kind) for other, name, kind in found if other == scorer]
        kinds = {kind for _, kind in own}
        wanted = (str, dict, list) if kinds & {dict, list} else (float, str)
        pairs += [(scorer, name) for kind in wanted for name, k in own if k is kind]
    return dict.fromkeys(pairs)


def _scored(scores, pair):
    score = scores.get(pair[0])
    if score is None:
        return None, None
    value = score.get("value")
    if isinstance(value, dict):
        number = _number(value[pair[1]]) if pair[1] in value else None
    elif isinstance(value, list):
        inside = pair[1].isdigit() and int(pair[1]) < len(value)
        number = _number(value[int(pair[1])]) if inside else None
    else:
        number = None if value is None or pair[0] != pair[1] else _number(value)
    return number, score.get("answer")


def _number(value):
    """As Inspect's `value_to_float`; None for NaN."""
    if value in ("C", "P", "I", "N") and isinstance(value, str):
        return {"C": 1.0, "P": 0.5}.get(value, 0.0)
    if isinstance(value, str):
        if value.lower() in ("yes", "true"):
            return 1.0
        try:
            return float(value) if math.isfinite(float(value)) else 0.0
        except ValueError:
            return 0.0
    if not isinstance(value, int | float):
        return 0.0
    try:
        return None if value != value else float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _target(sample):
    target = sample.get("target")
    return ",".join(target) if isinstance(target, list) else target


READERS = {
    "read_inspect.eval": Reader("quiz.eval", archive, read, of_archive, BYTES, 0.5),
    "read_inspect.json": Reader(
        "quiz.json", document, read, of_document, (*TEXT, *VALUES * 3), 0.4
    ),
}
