"""Logs of lm-evaluation-harness, HELM and Every Eval Ever."""

import json
import math
import warnings

import evalframe as ef
from abuse.mutations import TEXT, VALUES
from abuse.readers import Reader


def _integer(digits):
    return int(digits) if len(digits) < 4_000 else float(digits)


def loads(text):
    return json.loads(text, parse_int=_integer)


def _lines(data):
    lines = (line.strip(" \t\r") for line in data.decode().removeprefix("\ufeff").split("\n"))
    found = [loads(line.removeprefix("\ufeff")) for line in lines if line]
    return [{_whole(key): value for key, value in line.items()} for line in found]


def _whole(text):
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def text_of(value):
    if value is None or isinstance(value, str):
        return value and _whole(value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return _whole(",".join(value))
    return json_of(value)


def json_of(value):
    return _whole(json.dumps(value, ensure_ascii=False))


def number_of(value):
    if not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def rows_of(reader, path, columns, **options):
    with warnings.catch_warnings(action="ignore"):
        return reader(path, **options).select(columns).collect().rows()


# lm-evaluation-harness.


def _choice(text):
    return {"arg_0": "Which?", "arg_1": f" {text}"}


def samples():
    """Multiple choices and free answers under two filters, and a line of an older version."""
    likelihoods = [["-1.5", "False"], ["-0.25", "True"], ["-inf", "False"]]
    asked = {f"gen_args_{n}": _choice(text) for n, text in enumerate("ABC")}
    free = {"gen_args_0": {"arg_0": "2 + 2?", "arg_1": {"until": ["."], "do_sample": False}}}
    lines = [
        {"doc_id": 0, "target": "1", "arguments": asked, "filtered_resps": likelihoods}
        | {"filter": "none", "metrics": ["acc", "mcc"], "acc": 1.0, "mcc": [1, 1]},
        {"doc_id": 1, "target": "4", "arguments": free, "filtered_resps": ["4"]}
        | {"filter": "none", "metrics": ["acc"], "acc": 0.5},
        {"doc_id": 1, "target": ["4", "5"], "arguments": free, "filtered_resps": ["5"]}
        | {"filter": "strict", "metrics": ["acc"], "acc": False},
        {"doc_id": "old", "doc": {"a": 1}, "target": 3, "filtered_resps": [[1, 2]], "em": 2},
    ]
    return "\n".join(json.dumps(line) for line in lines).encode()


_SAMPLE = (
    "sample_id",
    "scorer",
    "score_name",
    "score",
    "answer",
    "target",
    "n_choices",
    "confidence",
)
_FIELDS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
_FIELDS |= {"doc_hash", "prompt_hash", "target_hash"}


def read_samples(path):
    return sorted(rows_of(ef.read_lm_eval, path, _SAMPLE, extra=["confidence"]), key=repr)


def true_samples(data):
    lines = _lines(data)
    metrics = {}
    for line in lines:
        metrics |= dict.fromkeys(map(_whole, line.get("metrics") or ()))
    numbers = {}
    for line in lines:
        if line.get("metrics") is None:
            known = (key for key in line if isinstance(line[key], int | float))
            numbers |= dict.fromkeys(key for key in known if key not in _FIELDS)
    order = dict.fromkeys(key for line in lines for key in line)
    metrics |= dict.fromkeys(key for key in order if key in numbers)
    latest = {}
    for line in lines:
        key = (text_of(line["doc_id"]), _whole(line.get("filter") or "none"))
        assert key[0] is not None
        latest.pop(key, None)
        latest[key] = line
    if len({name for _, name in latest}) * len({each for each, _ in latest}) > len(latest):
        filters = dict.fromkeys(name for _, name in latest)
        ids = dict.fromkeys(each for each, _ in latest)
        latest = {(each, name): latest.get((each, name)) for each in ids for name in filters}
    rows = (
        (sample, metric, name, _scored(line, metric), *_answered(line))
        for (sample, name), line in latest.items()
        for metric in metrics or [None]
    )
    return sorted(rows, key=repr)  # metrics of later blocks of lines come later


def _scored(line, metric):
    said = None if line is None else line.get("metrics")
    has = line is not None and (metric in said if said is not None else metric not in _FIELDS)
    return number_of(line.get(metric)) if has else None


def _answered(line):
    if line is None:
        return None, None, None, None
    arguments, responses = line.get("arguments") or {}, line.get("filtered_resps")
    each = (
        arguments.values()
        if isinstance(arguments, dict)
        else [{"arg_1": (a[1:] or [None])[0]} for a in arguments]
    )
    asked = [request.get("arg_1") for request in each]
    if len(asked) < 2 or not all(isinstance(text, str) for text in asked):
        one = responses[0] if isinstance(responses, list) and len(responses) == 1 else responses
        answer = one if isinstance(one, str) or one is None else json.dumps(one, ensure_ascii=False)
        return answer and _whole(answer), text_of(line.get("target")), None, None
    n = len(asked) // (1 + ("acc_mutual_info" in (line.get("metrics") or ())))
    likelihoods = [float(response[0]) for response in responses[:n]]
    best = max(range(n), key=likelihoods.__getitem__)
    share = 1 / sum(math.exp(each - likelihoods[best]) for each in likelihoods)
    share = None if math.isnan(share) else share
    return _whole(asked[best].removeprefix(" ")), text_of(line.get("target")), n, share


# HELM.


def stats():
    """Two instances, one of them perturbed, with the records of two classes of metrics."""
    typos = {"name": "typos", "robustness": True}
    value = {"count": 1, "sum": 0.5, "min": 0.5, "mean": 0.5}
    plain = [{"name": {"name": name, "split": "test"}, **value} for name in ("f1_score", "logprob")]
    perturbed = [{"name": {"name": "rouge_l", "split": "test", "perturbation": typos}, **value}]
    records = [
        {"instance_id": "id1", "train_trial_index": 0, "stats": plain},
        {"instance_id": "id1", "train_trial_index": 1, "stats": plain[1:]},
        {"instance_id": "id1", "perturbation": typos, "train_trial_index": 0, "stats": perturbed},
        {"instance_id": 7, "stats": [{"name": {"name": "em"}, "count": 0}, *plain]},
    ]
    return json.dumps(records, indent=1).encode()


def read_stats(path):
    if not path.is_file():
        return ef.read_helm(path).collect().rows()
    path.with_name("run_spec.json").write_text('{"name": "sums"}')
    columns = ("sample_id", "epoch", "scorer", "score_name", "score")
    return rows_of(ef.read_helm, path.parent, columns, bookkeeping=True) or None


def true_stats(data):
    records = loads(data.decode(errors="replace").lstrip("\ufeff"))  # texts that nobody reads
    assert isinstance(records, list)
    return [
        (
            text_of(record["instance_id"]),
            (record.get("train_trial_index", 0)) + 1,
            _whole(stat["name"]["name"]),
            _score_name(stat["name"], record.get("perturbation")),
            number_of(stat.get("sum", 0)) / stat["count"],
        )
        for record in records
        for stat in record.get("stats", ())
        if stat.get("count", 0)
    ]


def _score_name(name, perturbation):
    parts = [_joined("/", [name.get(key) for key in ("split", "sub_split")])]
    if perturbation is not None:
        computed_on = perturbation.get("computed_on", "perturbed")
        parts += [perturbation["name"], None if computed_on == "perturbed" else computed_on]
    return _joined(":", parts)


def _joined(separator, parts):
    known = [part for part in parts if part is not None]
    return _whole(separator.join(known)) if known else None


# Every Eval Ever.


def published():
    """Lines with all fields, and with those that there must be."""
    named = {"evaluation_id": "run", "evaluation_name": "sums", "model_id": "org/m"}
    full = {
        "sample_id": "1",
        "evaluation_result_id": None,
        "input": {"raw": "?", "reference": ["a", "b"], "choices": ["a", "b"]},
        "output": {"raw": ["a"]},
        "evaluation": {"score": 0.5, "is_correct": False},
        "token_usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        "error": "late",
        "metadata": {"epoch": "2"},
    }
    lines = [{**named, **full}, {**named, "sample_id": 2, "evaluation": {"score": 1}}]
    return "\n".join(json.dumps(line) for line in lines).encode()


_LINE = ("run_id", "task", "model", "sample_id", "epoch", "score", "answer", "target", "n_choices")
_LINE += ("total_tokens", "error")


def read_published(path):
    return rows_of(ef.read_every_eval_ever, path, _LINE)


def true_published(data):
    return [
        (
            *(text_of(line.get(key)) for key in ("evaluation_id", "evaluation_name", "model_id")),
            text_of(line["sample_id"]),
            _epoch((line.get("metadata") or {}).get("epoch")),
            number_of((line.get("evaluation") or {}).get("score")),
            text_of(((line.get("output") or {}).get("raw") or [None])[0]),
            text_of((line.get("input") or {}).get("reference") or None),
            len((line.get("input") or {}).get("choices") or ()) or None,
            (line.get("token_usage") or {}).get("total_tokens"),
            text_of(line.get("error")),
        )
        for line in _lines(data)
    ]


def _epoch(value):
    text = value if isinstance(value, str) else json.dumps(value)
    is_number = text.isascii() and text.isdigit() and len(text) < 18
    return int(text) if is_number else 1


READERS = {
    "read_lm_eval": Reader(
        "samples_t_2026-01-21T03-44-18.jsonl",
        samples,
        read_samples,
        true_samples,
        (*TEXT, *VALUES * 3),
    ),
    "read_helm": Reader(
        "per_instance_stats.json", stats, read_stats, true_stats, (*TEXT, *VALUES * 3)
    ),
    "read_every_eval_ever": Reader(
        "0b4c6b1e-1111-4111-8111-111111111111_samples.jsonl",
        published,
        read_published,
        true_published,
        (*TEXT, *VALUES * 3),
    ),
}
